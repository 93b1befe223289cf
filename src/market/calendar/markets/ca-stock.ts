// Canadian stocks: the Toronto Stock Exchange.
import { rulesFrom, stockMarket, weekdayHours } from '../market.ts';

const closed = rulesFrom(
  'Toronto Stock Exchange, Calendar of market holidays, tsx.com/trading/calendars-and-trading-hours',
);
const notices2001 = rulesFrom('Toronto Stock Exchange, notices of 2001-09-11 and 12: each for its own day');

export const caStock = stockMarket('CA', {
  zone: 'America/Toronto',
  currency: 'CAD',
  exchange: 'XTSE',
  years: [2000, 2030],
  hours: [
    weekdayHours('1900-01-01', 'Toronto Stock Exchange, Trading Hours: the continuous market', [
      ['regular', '09:30', '16:00'],
    ]),
    // The closing call prints at 16:00, or at 16:10 after a price movement extension. It began on some day of
    // 2004.
    weekdayHours(
      '2004-01-01',
      'Toronto Stock Exchange, Trading Hours; TMX Order Types Guide: Market on Close, introduced in 2004',
      [
        ['regular', '09:30', '16:00'],
        ['auction', '16:00', '16:11'],
      ],
    ),
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
    closed('FAMILY_DAY', 'Family Day', { month: 2, weekday: 1, nth: 3, from: '2008-01-01' }),
    closed('GOOD_FRIDAY', 'Good Friday', { easter: -2 }),
    closed('VICTORIA_DAY', 'Victoria Day', { month: 5, weekday: 1, nth: -1, plus: -7 }),
    closed('CIVIC_HOLIDAY', 'Civic Holiday', { month: 8, weekday: 1, nth: 1 }),
    closed('LABOR_DAY', 'Labour Day', { month: 9, weekday: 1, nth: 1 }),
    closed('THANKSGIVING', 'Thanksgiving Day', { month: 10, weekday: 1, nth: 2 }),
    notices2001('SEPTEMBER_11', 'September 11 attacks', { dates: '2001-09-11', announced: '2001-09-11' }),
    notices2001('SEPTEMBER_11', 'September 11 attacks', { dates: '2001-09-12', announced: '2001-09-12' }),
    // The closing call ends by 13:05 (TMX Operational Notice 2021-050).
    closed('CHRISTMAS_EVE', 'Christmas Eve', {
      month: 12,
      day: 24,
      from: '2010-01-01',
      close: '13:00',
      auction: '13:06',
    }),
    closed('NEW_YEAR', "New Year's Day", { month: 1, day: 1, observed: 'weekend-to-weekday' }),
    closed('CANADA_DAY', 'Canada Day', { month: 7, day: 1, observed: 'weekend-to-weekday' }),
    closed('CHRISTMAS', 'Christmas Day', { month: 12, day: 25, observed: 'weekend-to-weekday' }),
    closed('BOXING_DAY', 'Boxing Day', { month: 12, day: 26, observed: 'weekend-to-weekday' }),
  ],
});
