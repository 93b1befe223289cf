// Foreign exchange: round the clock from Sunday to Friday evening in New York, labelled by the date of the
// close (contract 3.7).
import { type Market, weekdayHours } from '../market.ts';

export const forex: Market = {
  key: 'FOREX_GLOBAL',
  assetSchema: 'forex',
  country: 'GLOBAL',
  zone: 'America/New_York',
  dateZone: 'UTC',
  sessionTemplate: 'FOREX_GLOBAL_24H',
  currency: null,
  exchange: 'GLOBAL',
  years: [1900, 2200],
  hours: [
    weekdayHours('1900-01-01', 'contract 3.7: Sunday 17:00 to Friday 17:00 New York, days end at 17:00', [
      ['regular', '-07:00', '17:00'],
    ]),
  ],
  codes: {},
  holidays: [],
};
