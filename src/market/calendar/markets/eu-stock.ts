// Stocks of the euro area as one market: the closing days of TARGET2 with the hours of Euronext Amsterdam.
import { type HolidayRule, rulesFrom, stockMarket, weekdayHours } from '../market.ts';

/** The shared closing days as rules of one market; countries differ in the name of 26 December. */
export const europeanDays = (closed: ReturnType<typeof rulesFrom>, december26: string): HolidayRule[] => [
  closed('NEW_YEAR', "New Year's Day", { month: 1, day: 1 }),
  closed('GOOD_FRIDAY', 'Good Friday', { easter: -2 }),
  closed('EASTER_MONDAY', 'Easter Monday', { easter: 1 }),
  closed('LABOUR_DAY', 'Labour Day', { month: 5, day: 1 }),
  closed('CHRISTMAS', 'Christmas Day', { month: 12, day: 25 }),
  closed('BOXING_DAY', december26, { month: 12, day: 26 }),
];

const closed = rulesFrom(
  'European Central Bank, TARGET closing days: decisions of 1999-07-15 and 2000-12-14',
);
const target2001 = rulesFrom('European Central Bank, TARGET closing days of 2001');
const halfDay = rulesFrom('Euronext, yearly calendar of business days; half days', {
  close: '14:05',
  auction: '14:10',
});

export const euStock = stockMarket('EU', {
  zone: 'Europe/Amsterdam',
  currency: 'EUR',
  exchange: 'XAMS',
  years: [2000, 2030],
  hours: [
    // The close prints at 17:35, or within 30 seconds after it, and is traded at until 17:40.
    weekdayHours(
      '1900-01-01',
      'Euronext, trading hours of the Amsterdam cash market, Appendix to Trading Manual 4-01: closing auction and Trading-At-Last',
      [
        ['regular', '09:00', '17:30'],
        ['auction', '17:30', '17:40'],
      ],
    ),
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
    target2001('NEW_YEAR_EVE', 'The last day before euro cash', { dates: '2001-12-31' }),
    halfDay('CHRISTMAS_EVE', 'Christmas Eve', { month: 12, day: 24 }),
    halfDay('NEW_YEAR_EVE', "New Year's Eve", { month: 12, day: 31 }),
  ],
});
