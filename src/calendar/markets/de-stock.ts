// German stocks: Xetra, the electronic market of the Frankfurt Stock Exchange.
import { europeanDays } from '../european-days.ts';
import { type Market, rulesFrom, type SegmentHours, weekdayHours } from '../market.ts';

const calendar = 'Frankfurt Stock Exchange, yearly trading calendar';

const closed = rulesFrom(calendar);

const until = (close: string): readonly SegmentHours[] => [['regular', '09:00', close]];

export const deStock: Market = {
  key: 'DE_STOCK',
  assetSchema: 'stock',
  country: 'DE',
  zone: 'Europe/Berlin',
  sessionTemplate: 'DE_STOCK_RTH',
  currency: 'EUR',
  exchange: 'XETR',
  years: [2000, 2030],
  hours: [
    weekdayHours('1999-09-20', 'Deutsche Börse, trading hours of Xetra from 1999-09-20', until('17:30')),
    weekdayHours('2000-06-02', 'Deutsche Börse, trading hours of Xetra from June 2000', until('20:00')),
    weekdayHours(
      '2003-11-03',
      'Deutsche Börse, notices of 2003: shorter trading hours of Xetra from 2003-11-03',
      until('17:30'),
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
    closed(
      'WHIT_MONDAY',
      'Whit Monday',
      { when: { dates: ['2007-05-28'] } },
      'Frankfurt Stock Exchange, decision of the exchange council for 2007',
    ),
    closed('WHIT_MONDAY', 'Whit Monday', {
      when: { easter: 50 },
      from: '2015-01-01',
      to: '2021-12-31',
    }),
    closed(
      'GERMAN_UNITY',
      'Ten years of German Unity',
      { when: { dates: ['2000-10-03'] } },
      'Deutsche Börse and Eurex, joint notice of 2000: no trading on 2000-10-03',
    ),
    closed('GERMAN_UNITY', 'Day of German Unity', {
      when: { month: 10, day: 3 },
      from: '2014-01-01',
      to: '2021-12-31',
    }),
    closed('REFORMATION_DAY', '500 years of the Reformation', { when: { dates: ['2017-10-31'] } }),
    closed('CHRISTMAS_EVE', 'Christmas Eve', { when: { month: 12, day: 24 } }),
    closed('NEW_YEAR_EVE', "New Year's Eve", { when: { month: 12, day: 31 } }),
    closed(
      'NEW_YEAR_EVE',
      'Last trading day of the year',
      { when: { month: 12, day: 30 }, observed: 'weekend-to-friday', close: '14:00' },
      'Frankfurt Stock Exchange, yearly notice of the last trading day',
    ),
  ],
};
