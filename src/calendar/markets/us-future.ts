// US futures: one continuous session a weekday with a daily pause, labelled by the date of its close (contract 3.7).
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
    weekdayHours(
      '1900-01-01',
      'contract 3.7: Sunday 17:00 to Friday 16:00 Chicago with a daily pause 16:00-17:00',
      [['regular', '-07:00', '16:00']],
    ),
  ],
  codes: {},
  holidays: [],
};
