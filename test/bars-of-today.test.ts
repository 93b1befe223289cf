// A derived bar of today is served as soon as its own time is covered, on every market (contract 3.9): at
// 10:06 the 5M bar of 10:00, from minutes through 10:05.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { MINUTE_MS } from '../src/base/instant.ts';
import { markets } from '../src/market/calendar/markets/index.ts';
import { AskedBars, type Named } from './asked-bars.ts';

/**
 * The open of Wednesday, 12 March 2025, in UTC. New York and Chicago have their summer time, Europe does not.
 */
const opens: Readonly<Record<string, string>> = {
  US_STOCK: '2025-03-12T13:30Z',
  UK_STOCK: '2025-03-12T08:00Z',
  CA_STOCK: '2025-03-12T13:30Z',
  AU_STOCK: '2025-03-11T23:00Z',
  CH_STOCK: '2025-03-12T08:00Z',
  DE_STOCK: '2025-03-12T08:00Z',
  FR_STOCK: '2025-03-12T08:00Z',
  EU_STOCK: '2025-03-12T08:00Z',
  JP_STOCK: '2025-03-12T00:00Z',
  HK_STOCK: '2025-03-12T01:30Z',
  CN_STOCK: '2025-03-12T01:30Z',
  US_FUTURE: '2025-03-11T22:00Z',
  US_FUTURE_CBOT_GRAIN: '2025-03-12T00:00Z',
  CRYPTO_GLOBAL: '2025-03-12T00:00Z',
  FOREX_GLOBAL: '2025-03-11T21:00Z',
};

const opened: AskedBars[] = [];
after(async () => {
  for (const bars of opened) await bars.close();
});

/** Minutes after the open at which a file comes: it has each minute up to then. */
const moments = [34, 35, 36, 60];
const lengths = [5, 10, 15, 30, 60];

test('every market is asked', () => {
  assert.deepEqual(Object.keys(opens).sort(), markets.map(({ key }) => key).sort());
});

for (const { key, assetSchema, country, onlyByKey } of markets)
  test(`bars of today are served once their minutes are there: ${key}`, async () => {
    const named: Named = { asset_schema: assetSchema, country_iso_code: country, symbol: 'NOW' };
    const bars = new AskedBars(named);
    opened.push(bars);
    const openMs = Date.parse(opens[key]!);
    bars.nowMs = openMs;
    await bars.import([onlyByKey ? { calendar_key: key } : { name: 'Now' }], 'instruments');
    for (const minutes of moments) {
      const rows = Array.from({ length: minutes }, (_, at) => ({
        interval: '1M',
        datetime: new Date(openMs + at * MINUTE_MS).toISOString(),
        ...{ open: 10, high: 11, low: 9, close: 10 + at / 100, volume: 1 },
      }));
      bars.nowMs = openMs + minutes * MINUTE_MS;
      await bars.import(rows, 'bars', false);
      for (const length of lengths) {
        const whole = Math.floor(minutes / length);
        const served = await bars.latest(`${length}M`, { limit: '1' });
        const words = `${length}M at ${new Date(bars.nowMs).toISOString()}`;
        const last = whole === 0 ? [] : [{ closeMs: openMs + whole * length * MINUTE_MS, volume: length }];
        assert.deepEqual(
          served.map(({ close_datetime, volume }) => ({ closeMs: Date.parse(close_datetime), volume })),
          last,
          words,
        );
      }
    }
  });
