// Crypto: always open; its days are UTC days (contract 3.7). Markets without a calendar have these hours in
// their own zone.
import type { Market } from '../market.ts';

export const crypto: Market = {
  key: 'CRYPTO_GLOBAL',
  assetSchema: 'crypto',
  country: 'GLOBAL',
  zone: 'UTC',
  sessionTemplate: 'CRYPTO_GLOBAL_24H',
  currency: null,
  exchange: 'GLOBAL',
  years: [1900, 2200],
  hours: [
    {
      from: '1900-01-01',
      weekdays: [1, 2, 3, 4, 5, 6, 7],
      segments: [['regular', '00:00', '24:00']],
      source: 'contract 3.7: crypto, and a market without a calendar, trades all day',
    },
  ],
  codes: {},
  holidays: [],
};
