// Stocks of the euro area as one market: the closing days of TARGET2 with the hours of Euronext Amsterdam.
import { europeanDays } from '../european-days.ts';
import { type Market, rulesFrom, weekdayHours } from '../market.ts';

const target = 'European Central Bank, TARGET closing days: decisions of 1999-07-15 and 2000-12-14';

const closed = rulesFrom(target);

const euronext = 'Euronext, yearly calendar of business days';

export const euStock: Market = {
  key: 'EU_STOCK',
  assetSchema: 'stock',
  country: 'EU',
  zone: 'Europe/Amsterdam',
  sessionTemplate: 'EU_STOCK_RTH',
  currency: 'EUR',
  exchange: 'XAMS',
  years: [2000, 2030],
  hours: [
    weekdayHours('1900-01-01', 'Euronext, trading hours of the Amsterdam cash market', [
      ['regular', '09:00', '17:30'],
    ]),
  ],
  codes: {
    HOLIDAY_NEW_YEAR: "New Year's Day",
    HOLIDAY_GOOD_FRIDAY: 'Good Friday',
    HOLIDAY_EASTER_MONDAY: 'Easter Monday',
    HOLIDAY_LABOUR_DAY: 'Labour Day',
    HOLIDAY_CHRISTMAS_EVE: 'Christmas Eve',
    HOLIDAY_CHRISTMAS: 'Christmas Day',
    HOLIDAY_BOXING_DAY: 'The day after Christmas Day',
    HOLIDAY_NEW_YEAR_EVE: "New Year's Eve",
  },
  holidays: [
    ...europeanDays(closed, 'Day after Christmas Day'),
    closed(
      'NEW_YEAR_EVE',
      'The last day before euro cash',
      { when: { dates: ['2001-12-31'] } },
      'European Central Bank, TARGET closing days of 2001',
    ),
    closed('CHRISTMAS_EVE', 'Christmas Eve', { when: { month: 12, day: 24 }, close: '14:05' }, euronext),
    closed('NEW_YEAR_EVE', "New Year's Eve", { when: { month: 12, day: 31 }, close: '14:05' }, euronext),
  ],
};
