// US futures: one continuous session a weekday with a daily pause, labelled by the date of its close
// (contract 3.7).
import { type Market, weekdayHours } from '../market.ts';

export const usFuture: Market = {
  key: 'US_FUTURE',
  assetSchema: 'future',
  country: 'US',
  zone: 'America/Chicago',
  sessionTemplate: 'US_FUTURE_ETH',
  currency: 'USD',
  exchange: null,
  years: [1900, 2200],
  hours: [
    // Hours of equity index futures from trade date 2012-11-19; contract 3.7 asks for them before that date
    // too, when their trading day ended at 15:15. Products that closed at 16:00 have no bars in the last
    // quarter of an hour.
    weekdayHours(
      '1900-01-01',
      'CME Group: the trading day of equity index futures ends at 16:15 Chicago, before trade date 2015-09-21',
      [['regular', '-07:00', '16:15']],
    ),
    weekdayHours(
      '2015-09-21',
      'CME Group, changes to CME Globex closing times effective 2015-09-21: Sunday 17:00 to Friday 16:00 Chicago, pause 16:00-17:00',
      [['regular', '-07:00', '16:00']],
    ),
  ],
  codes: {},
  holidays: [],
};
