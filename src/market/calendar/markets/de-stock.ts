// German stocks: Xetra, the electronic market of the Frankfurt Stock Exchange.
import { rulesFrom, type SegmentHours, stockMarket, weekdayHours } from '../market.ts';
import { europeanDays } from './eu-stock.ts';

const closed = rulesFrom('Frankfurt Stock Exchange, yearly trading calendar');
const council2007 = rulesFrom('Frankfurt Stock Exchange, decision of the exchange council for 2007');
const lastDay = rulesFrom('Frankfurt Stock Exchange, yearly notice of the last trading day');
// The press has the notice from a Thursday after June, without its date: it counts as announced on the last
// one before the day.
const notice2000 = rulesFrom('Deutsche Börse and Eurex, joint notice of 2000: no trading on 2000-10-03', {
  announced: '2000-09-28',
});
const notice2018 = rulesFrom('Eurex, circular 055/2018 of 2018-07-17 (decision of the exchange council)', {
  announced: '2018-07-17',
});

const auction = 'Deutsche Börse, Xetra auction schedule and market model: closing auction';

const until = (close: string, auctionEnd: string): readonly SegmentHours[] => [
  ['regular', '09:00', close],
  ['auction', close, auctionEnd],
];

export const deStock = stockMarket('DE', {
  zone: 'Europe/Berlin',
  currency: 'EUR',
  exchange: 'XETR',
  years: [2000, 2030],
  hours: [
    // The call lasts 5 minutes and ends within 30 seconds at random. Interruptions extend it by minutes; only
    // one that is ended by hand lasts longer than the 15 minutes here. Trading at the close, from 2020-11-24
    // to 17:45, is within them.
    weekdayHours(
      '1999-09-20',
      `Deutsche Börse, trading hours of Xetra from 1999-09-20; ${auction}`,
      until('17:30', '17:45'),
    ),
    weekdayHours(
      '2000-06-02',
      `Deutsche Börse, trading hours of Xetra from June 2000; ${auction}`,
      until('20:00', '20:15'),
    ),
    weekdayHours(
      '2003-11-03',
      `Deutsche Börse, notices of 2003: shorter trading hours of Xetra from 2003-11-03; ${auction}; press release of 2020-11-23 (Trade-at-Close)`,
      until('17:30', '17:45'),
    ),
    // Since then the late trading of private investors follows, at prices that are no closing prices.
    weekdayHours(
      '2025-12-01',
      'Deutsche Börse, circular 052/25: Trade-at-Close to 17:40, then late retail trading',
      until('17:30', '17:40'),
    ),
  ],
  codes: {
    HOLIDAY_NEW_YEAR: "New Year's Day",
    HOLIDAY_GOOD_FRIDAY: 'Good Friday',
    HOLIDAY_EASTER_MONDAY: 'Easter Monday',
    HOLIDAY_LABOUR_DAY: 'Labour Day',
    HOLIDAY_WHIT_MONDAY: 'Whit Monday',
    HOLIDAY_GERMAN_UNITY: 'Day of German Unity',
    HOLIDAY_REFORMATION_DAY: 'Reformation Day',
    HOLIDAY_CHRISTMAS_EVE: 'Christmas Eve',
    HOLIDAY_CHRISTMAS: 'Christmas Day',
    HOLIDAY_BOXING_DAY: 'The day after Christmas Day',
    HOLIDAY_NEW_YEAR_EVE: "New Year's Eve, and the shortened last trading day of the year",
  },
  holidays: [
    ...europeanDays(closed, 'Second day of Christmas'),
    council2007('WHIT_MONDAY', 'Whit Monday', { dates: '2007-05-28' }),
    closed('WHIT_MONDAY', 'Whit Monday', { easter: 50, from: '2015-01-01', to: '2021-12-31' }),
    notice2000('GERMAN_UNITY', 'Ten years of German Unity', { dates: '2000-10-03' }),
    notice2018('GERMAN_UNITY', 'Day of German Unity', { dates: '2018-10-03' }),
    closed('GERMAN_UNITY', 'Day of German Unity', {
      dates: '2014-10-03 2016-10-03 2017-10-03 2019-10-03 2020-10-03 2021-10-03',
    }),
    closed('REFORMATION_DAY', '500 years of the Reformation', { dates: '2017-10-31' }),
    closed('CHRISTMAS_EVE', 'Christmas Eve', { month: 12, day: 24 }),
    closed('NEW_YEAR_EVE', "New Year's Eve", { month: 12, day: 31 }),
    lastDay('NEW_YEAR_EVE', 'Last trading day of the year', {
      month: 12,
      day: 30,
      observed: 'weekend-to-friday',
      close: '14:00',
    }),
  ],
});
