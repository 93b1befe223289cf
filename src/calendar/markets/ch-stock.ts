// Swiss stocks: SIX Swiss Exchange. A holiday on a weekend is not made up for, and no day is shortened.
import { type Market, rulesFrom } from '../market.ts';

const closed = rulesFrom('SIX Swiss Exchange, Trading and Settlement Calendar');

export const chStock: Market = {
  key: 'CH_STOCK',
  assetSchema: 'stock',
  country: 'CH',
  zone: 'Europe/Zurich',
  sessionTemplate: 'CH_STOCK_RTH',
  currency: 'CHF',
  exchange: 'XSWX',
  years: [2000, 2030],
  hours: [
    {
      from: '1900-01-01',
      weekdays: [1, 2, 3, 4, 5],
      segments: [['regular', '09:00', '17:30']],
      source: 'SIX Swiss Exchange, Directive 3 (Trading): shares, closing auction included',
    },
  ],
  codes: {
    HOLIDAY_NEW_YEAR: "New Year's Day",
    HOLIDAY_BERCHTOLDS_DAY: "Berchtold's Day",
    HOLIDAY_GOOD_FRIDAY: 'Good Friday',
    HOLIDAY_EASTER_MONDAY: 'Easter Monday',
    HOLIDAY_LABOUR_DAY: 'Labour Day, 1 May',
    HOLIDAY_ASCENSION_DAY: 'Ascension Day',
    HOLIDAY_WHIT_MONDAY: 'Whit Monday',
    HOLIDAY_NATIONAL_DAY: 'Swiss National Day',
    HOLIDAY_CHRISTMAS_EVE: 'Christmas Eve',
    HOLIDAY_CHRISTMAS: 'Christmas Day',
    HOLIDAY_BOXING_DAY: "St Stephen's Day",
    HOLIDAY_NEW_YEAR_EVE: "New Year's Eve",
  },
  holidays: [
    closed('NEW_YEAR', "New Year's Day", { when: { month: 1, day: 1 } }),
    closed('BERCHTOLDS_DAY', "Berchtold's Day", { when: { month: 1, day: 2 } }),
    closed('GOOD_FRIDAY', 'Good Friday', { when: { easter: -2 } }),
    closed('EASTER_MONDAY', 'Easter Monday', { when: { easter: 1 } }),
    closed('LABOUR_DAY', 'Labour Day', { when: { month: 5, day: 1 } }),
    closed('ASCENSION_DAY', 'Ascension Day', { when: { easter: 39 } }),
    closed('WHIT_MONDAY', 'Whit Monday', { when: { easter: 50 } }),
    closed('NATIONAL_DAY', 'Swiss National Day', { when: { month: 8, day: 1 } }),
    closed('CHRISTMAS_EVE', 'Christmas Eve', { when: { month: 12, day: 24 } }),
    closed('CHRISTMAS', 'Christmas Day', { when: { month: 12, day: 25 } }),
    closed('BOXING_DAY', "St Stephen's Day", { when: { month: 12, day: 26 } }),
    closed('NEW_YEAR_EVE', "New Year's Eve", { when: { month: 12, day: 31 } }),
  ],
};
