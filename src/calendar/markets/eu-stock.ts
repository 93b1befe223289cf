// Stocks of the euro area as one market: the closing days of TARGET2 with the hours of Euronext Amsterdam.
import { type HolidayRule, type Market, rulesFrom } from '../market.ts';

const target = 'European Central Bank, TARGET closing days: decisions of 1999-07-15 and 2000-12-14';

const closed = rulesFrom(target);

const earlyClose = (code: string, name: string, when: HolidayRule['when']): HolidayRule => ({
  ...closed(code, name, { when }, 'Euronext, yearly calendar of business days'),
  close: '14:05',
});

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
    {
      from: '1900-01-01',
      weekdays: [1, 2, 3, 4, 5],
      segments: [['regular', '09:00', '17:30']],
      source: 'Euronext, trading hours of the Amsterdam cash market',
    },
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
    closed('NEW_YEAR', "New Year's Day", { when: { month: 1, day: 1 } }),
    closed('GOOD_FRIDAY', 'Good Friday', { when: { easter: -2 } }),
    closed('EASTER_MONDAY', 'Easter Monday', { when: { easter: 1 } }),
    closed('LABOUR_DAY', 'Labour Day', { when: { month: 5, day: 1 } }),
    closed('CHRISTMAS', 'Christmas Day', { when: { month: 12, day: 25 } }),
    closed('BOXING_DAY', 'Day after Christmas Day', { when: { month: 12, day: 26 } }),
    closed(
      'NEW_YEAR_EVE',
      'The last day before euro cash',
      { when: { dates: ['2001-12-31'] } },
      'European Central Bank, TARGET closing days of 2001',
    ),
    earlyClose('CHRISTMAS_EVE', 'Christmas Eve', { month: 12, day: 24 }),
    earlyClose('NEW_YEAR_EVE', "New Year's Eve", { month: 12, day: 31 }),
  ],
};
