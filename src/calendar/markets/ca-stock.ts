// Canadian stocks: the Toronto Stock Exchange.
import { type Market, rulesFrom, weekdayHours } from '../market.ts';

const tsxDays =
  'Toronto Stock Exchange, Calendar of market holidays, tsx.com/trading/calendars-and-trading-hours';

const closed = rulesFrom(tsxDays);

export const caStock: Market = {
  key: 'CA_STOCK',
  assetSchema: 'stock',
  country: 'CA',
  zone: 'America/Toronto',
  sessionTemplate: 'CA_STOCK_RTH',
  currency: 'CAD',
  exchange: 'XTSE',
  years: [2000, 2030],
  hours: [
    weekdayHours('1900-01-01', 'Toronto Stock Exchange, Trading Hours: the continuous market', [
      ['regular', '09:30', '16:00'],
    ]),
  ],
  codes: {
    HOLIDAY_NEW_YEAR: "New Year's Day",
    HOLIDAY_FAMILY_DAY: 'Family Day',
    HOLIDAY_GOOD_FRIDAY: 'Good Friday',
    HOLIDAY_VICTORIA_DAY: 'Victoria Day',
    HOLIDAY_CANADA_DAY: 'Canada Day',
    HOLIDAY_CIVIC_HOLIDAY: 'Civic Holiday',
    HOLIDAY_LABOR_DAY: 'Labour Day',
    HOLIDAY_THANKSGIVING: 'Thanksgiving Day',
    HOLIDAY_CHRISTMAS_EVE: 'Christmas Eve, shortened',
    HOLIDAY_CHRISTMAS: 'Christmas Day',
    HOLIDAY_BOXING_DAY: 'Boxing Day',
    HOLIDAY_SEPTEMBER_11: 'The attacks of September 11, 2001',
  },
  holidays: [
    closed('FAMILY_DAY', 'Family Day', { when: { month: 2, weekday: 1, nth: 3 }, from: '2008-01-01' }),
    closed('GOOD_FRIDAY', 'Good Friday', { when: { easter: -2 } }),
    closed('VICTORIA_DAY', 'Victoria Day', { when: { month: 5, weekday: 1, nth: -1, plus: -7 } }),
    closed('CIVIC_HOLIDAY', 'Civic Holiday', { when: { month: 8, weekday: 1, nth: 1 } }),
    closed('LABOR_DAY', 'Labour Day', { when: { month: 9, weekday: 1, nth: 1 } }),
    closed('THANKSGIVING', 'Thanksgiving Day', { when: { month: 10, weekday: 1, nth: 2 } }),
    closed(
      'SEPTEMBER_11',
      'September 11 attacks',
      { when: { dates: ['2001-09-11', '2001-09-12'] } },
      'Toronto Stock Exchange, notices of 2001-09-11 and 12',
    ),
    closed('CHRISTMAS_EVE', 'Christmas Eve', {
      when: { month: 12, day: 24 },
      from: '2010-01-01',
      close: '13:00',
    }),
    closed('NEW_YEAR', "New Year's Day", { when: { month: 1, day: 1 }, observed: 'weekend-to-weekday' }),
    closed('CANADA_DAY', 'Canada Day', { when: { month: 7, day: 1 }, observed: 'weekend-to-weekday' }),
    closed('CHRISTMAS', 'Christmas Day', { when: { month: 12, day: 25 }, observed: 'weekend-to-weekday' }),
    closed('BOXING_DAY', 'Boxing Day', { when: { month: 12, day: 26 }, observed: 'weekend-to-weekday' }),
  ],
};
