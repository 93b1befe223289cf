// French stocks: Euronext Paris.
import { europeanDays } from '../european-days.ts';
import { rulesFrom, stockMarket, weekdayHours } from '../market.ts';

const closed = rulesFrom('Euronext, yearly calendar of business days');

export const frStock = stockMarket('FR', {
  zone: 'Europe/Paris',
  currency: 'EUR',
  exchange: 'XPAR',
  years: [2000, 2030],
  hours: [
    weekdayHours('1999-09-20', 'Paris Bourse, trading hours from 1999-09-20', [
      ['regular', '09:00', '17:00'],
    ]),
    weekdayHours(
      '2000-04-03',
      'Paris Bourse, trading hours from 2000-04-03 (common hours of eight European exchanges)',
      [['regular', '09:00', '17:30']],
    ),
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
    ...europeanDays(closed, 'Day after Christmas Day'),
    closed('WHIT_MONDAY', 'Whit Monday', { easter: 50, to: '2001-12-31' }),
    closed('BASTILLE_DAY', 'Bastille Day', { month: 7, day: 14, to: '2001-12-31' }),
    closed('NEW_YEAR_EVE', "New Year's Eve", { month: 12, day: 31, to: '2001-12-31' }),
    closed('CHRISTMAS_EVE', 'Christmas Eve', { month: 12, day: 24, close: '14:05' }),
    closed('NEW_YEAR_EVE', "New Year's Eve", { month: 12, day: 31, close: '14:05' }),
  ],
});
