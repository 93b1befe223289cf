// French stocks: Euronext Paris.
import { type Market, rulesFrom } from '../market.ts';

const calendar = 'Euronext, yearly calendar of business days';

const closed = rulesFrom(calendar);

export const frStock: Market = {
  key: 'FR_STOCK',
  assetSchema: 'stock',
  country: 'FR',
  zone: 'Europe/Paris',
  sessionTemplate: 'FR_STOCK_RTH',
  currency: 'EUR',
  exchange: 'XPAR',
  years: [2000, 2030],
  hours: [
    {
      from: '1999-09-20',
      weekdays: [1, 2, 3, 4, 5],
      segments: [['regular', '09:00', '17:00']],
      source: 'Paris Bourse, trading hours from 1999-09-20',
    },
    {
      from: '2000-04-03',
      weekdays: [1, 2, 3, 4, 5],
      segments: [['regular', '09:00', '17:30']],
      source: 'Paris Bourse, trading hours from 2000-04-03 (common hours of eight European exchanges)',
    },
  ],
  codes: {
    HOLIDAY_NEW_YEAR: "New Year's Day",
    HOLIDAY_GOOD_FRIDAY: 'Good Friday',
    HOLIDAY_EASTER_MONDAY: 'Easter Monday',
    HOLIDAY_LABOUR_DAY: 'Labour Day',
    HOLIDAY_WHIT_MONDAY: 'Whit Monday',
    HOLIDAY_BASTILLE_DAY: 'Bastille Day',
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
    closed('WHIT_MONDAY', 'Whit Monday', { when: { easter: 50 }, to: '2001-12-31' }),
    closed('BASTILLE_DAY', 'Bastille Day', { when: { month: 7, day: 14 }, to: '2001-12-31' }),
    closed('CHRISTMAS', 'Christmas Day', { when: { month: 12, day: 25 } }),
    closed('BOXING_DAY', 'Day after Christmas Day', { when: { month: 12, day: 26 } }),
    closed('NEW_YEAR_EVE', "New Year's Eve", { when: { month: 12, day: 31 }, to: '2001-12-31' }),
    { ...closed('CHRISTMAS_EVE', 'Christmas Eve', { when: { month: 12, day: 24 } }), close: '14:05' },
    { ...closed('NEW_YEAR_EVE', "New Year's Eve", { when: { month: 12, day: 31 } }), close: '14:05' },
  ],
};
