// Swiss stocks: SIX Swiss Exchange. Holidays on a weekend do not move, and no day is shortened.
import { rulesFrom, stockMarket, weekdayHours } from '../market.ts';
import { europeanDays } from './eu-stock.ts';

const closed = rulesFrom('SIX Swiss Exchange, Trading and Settlement Calendar');

export const chStock = stockMarket('CH', {
  zone: 'Europe/Zurich',
  currency: 'CHF',
  exchange: 'XSWX',
  years: [2000, 2030],
  hours: [
    // Regular hours include the call of the auction, from 17:20, in which nothing trades. It ends at random
    // from 17:30 to 17:32.
    weekdayHours(
      '1900-01-01',
      'SIX Swiss Exchange, Directive 3 (Trading), Product Guide Equity Market of 2017: randomised closing',
      [
        ['regular', '09:00', '17:30'],
        ['auction', '17:30', '17:33'],
      ],
    ),
    weekdayHours(
      '2020-06-22',
      'SIX Swiss Exchange, Directive 3 (Trading) in force from 2020-06-22: Trading-At-Last until 17:40',
      [
        ['regular', '09:00', '17:30'],
        ['auction', '17:30', '17:40'],
      ],
    ),
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
    ...europeanDays(closed, "St Stephen's Day"),
    closed('BERCHTOLDS_DAY', "Berchtold's Day", { month: 1, day: 2 }),
    closed('ASCENSION_DAY', 'Ascension Day', { easter: 39 }),
    closed('WHIT_MONDAY', 'Whit Monday', { easter: 50 }),
    closed('NATIONAL_DAY', 'Swiss National Day', { month: 8, day: 1 }),
    closed('CHRISTMAS_EVE', 'Christmas Eve', { month: 12, day: 24 }),
    closed('NEW_YEAR_EVE', "New Year's Eve", { month: 12, day: 31 }),
  ],
});
