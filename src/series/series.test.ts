// From when on the series of an instrument are complete because it does not trade any more (contract 3.9).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { AskedBars } from '../../test/asked-bars.ts';

const stores: AskedBars[] = [];
after(async () => {
  for (const one of stores) await one.close();
});

/** A future with two minutes of a morning in Chicago, imported after them. */
async function futureWithMorning(symbol: string, day: string): Promise<AskedBars> {
  const asked = new AskedBars({ asset_schema: 'future', country_iso_code: 'US', symbol });
  stores.push(asked);
  const bar = { interval: '1M', open: 95, high: 96, low: 94, close: 95, volume: 1 };
  const rows = ['15:58', '15:59'].map((clock) => ({ ...bar, datetime: `${day}T${clock}:00Z` }));
  asked.nowMs = Date.parse(`${day}T16:00:00Z`);
  await asked.import(rows, 'bars', false);
  return asked;
}

test('the morning of a future that trades after the month in its symbol is no day (contract 3.9)', async () => {
  // A three-month SOFR future is named by the first month of its quarter: the one of March 2024 traded until
  // June 18. Class III milk trades until the price of its month is announced, early in the next one (contract
  // specifications of the CME).
  for (const [symbol, day, later] of [
    ['SR3H24', '2024-06-05', '2024-06-12T16:00:00Z'],
    ['DCZ23', '2024-01-02', '2024-01-10T16:00:00Z'],
  ] as const) {
    const asked = await futureWithMorning(symbol, day);
    asked.nowMs = Date.parse(later);
    for (const interval of ['DAY', 'WEEK', 'MON']) assert.deepEqual(await asked.latest(interval), [], symbol);
    assert.equal((await asked.latest('1M')).length, 2);
  }
});
