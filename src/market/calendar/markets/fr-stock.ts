// French stocks: Euronext Paris.
import { rulesFrom, type SegmentHours, stockMarket, weekdayHours } from '../market.ts';
import { europeanDays } from './eu-stock.ts';

const closed = rulesFrom('Euronext, yearly calendar of business days');
const halfDay = rulesFrom('Euronext, yearly calendar of business days; half days', {
  close: '14:05',
  auction: '14:10',
});

const auctionSince1998 =
  "Pagano and Schwartz, A closing call's impact on market quality at Euronext Paris (closing calls since 1996 and 1998)";
const tradingManual = 'Euronext, Appendix to Trading Manual 4-01: closing auction and Trading-At-Last';

const untilAuction = (close: string, auction: string): readonly SegmentHours[] => [
  ['regular', '09:00', close],
  ['auction', close, auction],
];

export const frStock = stockMarket('FR', {
  zone: 'Europe/Paris',
  currency: 'EUR',
  exchange: 'XPAR',
  years: [2000, 2030],
  hours: [
    // We found no hours of the auction of 1999: it is taken to be as long as later.
    weekdayHours(
      '1999-09-20',
      `Paris Bourse, trading hours from 1999-09-20; ${auctionSince1998}`,
      untilAuction('17:00', '17:10'),
    ),
    // The close prints at 17:35, or within 30 seconds after it, and is traded at until 17:40.
    weekdayHours(
      '2000-04-03',
      `Paris Bourse, trading hours from 2000-04-03 (common hours of eight European exchanges); ${tradingManual}`,
      untilAuction('17:30', '17:40'),
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
    halfDay('CHRISTMAS_EVE', 'Christmas Eve', { month: 12, day: 24 }),
    halfDay('NEW_YEAR_EVE', "New Year's Eve", { month: 12, day: 31 }),
  ],
});
