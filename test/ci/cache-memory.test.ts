// The caches of a serving process count what they hold: memory grows by what they say. Measured after
// collections, of the heap and outside it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { symbolOf, writeMinutes } from '../../bench/minutes.ts';
import { SizedCache } from '../../src/base/sized-cache.ts';
import { importFile } from '../../src/imports/load/importers.ts';
import { markets } from '../../src/market/calendar/markets/index.ts';
import { buildYear, type SessionYear, yearBytes } from '../../src/market/calendar/session.ts';
import { zoneOf } from '../../src/market/calendar/zone.ts';
import { Lookup } from '../../src/queries/lookup.ts';
import { ResponseCache } from '../../src/serve/cache/response-cache.ts';
import { openStore } from '../../src/store/engines.ts';
import { TrackedReader } from '../../src/store/known-changes.ts';
import { stored } from '../importing.ts';
import { key, openHandler, runner, store } from '../request-handler.ts';
import { TestFolder } from '../stores.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const MEGABYTE = 1024 * 1024;
/** A collection that frees less has left nothing to be freed. */
const STILL_BYTES = 16_384;

/** Memory may be more than what is counted by this factor; far less would waste what the bound allows. */
const MORE_MAX = 1.2;
const LESS_MAX = 0.5;

/** Bytes of the heap and outside of it, once no further collection makes them less. */
async function memory(): Promise<number> {
  for (let last = Number.POSITIVE_INFINITY; ; ) {
    // What a finalizer frees is gone after the next turn of the event loop.
    for (let times = 0; times < 2; times++) {
      collectGarbage();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { heapUsed, external } = process.memoryUsage();
    if (heapUsed + external > last - STILL_BYTES) return heapUsed + external;
    last = heapUsed + external;
  }
}

/** Checks that memory grows by what is counted while `fill` runs. */
async function assertCounted(counted: () => number, fill: () => Promise<void>): Promise<void> {
  const [before, countedBefore] = [await memory(), counted()];
  await fill();
  const bytes = counted() - countedBefore;
  const share = ((await memory()) - before) / bytes;
  const words = `${(bytes / MEGABYTE).toFixed(1)} MB are counted, and memory grew by ${share.toFixed(2)} of it`;
  assert.ok(bytes > 0.7 * MEGABYTE, words);
  assert.ok(share <= MORE_MAX && share >= LESS_MAX, words);
}

for (const { what, coding, limit, answers } of [
  { what: 'small answers', coding: 'identity', limit: 1, answers: 1_000 },
  { what: 'small answers and their encoded forms', coding: 'gzip', limit: 10, answers: 600 },
  { what: 'large answers', coding: 'identity', limit: 200, answers: 200 },
  { what: 'large answers and their encoded forms', coding: 'zstd', limit: 200, answers: 200 },
])
  test(`the response cache counts ${what}`, async () => {
    const cache = new ResponseCache(store);
    const at = openHandler({
      cache,
      observe: () => undefined,
      // As from the query thread: no text is shared between answers.
      submit: async (request) => structuredClone(await runner.run(request)),
    });
    const get = async (index: number): Promise<void> => {
      const date = new Date(Date.UTC(2000, 0, 1 + index)).toISOString().slice(0, 10);
      const target = `/api/v2/holiday/list?full_symbol=stock:US:*&from_date=${date}&limit=${limit}&secret_key=${key}`;
      const headers = { host: 'localhost', 'accept-encoding': coding };
      const response = await at.handle({ method: 'GET', target, headers, isGone: () => false });
      response.release?.();
      assert.equal(response.status, 200);
    };
    // The years of the calendar and the compiled functions are no part of the cache.
    for (let index = 0; index < 500; index++) await get(index % 7);
    await assertCounted(
      () => cache.bytes,
      async () => {
        // From the second asking on large ones are cached.
        for (let index = 10; index < 10 + answers; index++)
          for (let times = 0; times < 2; times++) await get(index);
      },
    );
  });

test('a cache bounded in bytes counts rows, lists, maps and texts', async () => {
  for (const make of [
    (index: number) => ({
      id: index,
      name: `name ${index}`,
      ratio: index / 3,
      tags: [`a${index}`, `b${index}`],
    }),
    (index: number) =>
      Array.from({ length: 40 }, (_, at) => ({ day: index + at, factor: 1 / (at + 3), kind: 'dividend' })),
    (index: number) => new Map(Array.from({ length: 20 }, (_, at) => [`${index} ${at}`, at + 0.5])),
    (index: number) => ({ opens: new Float64Array(100).fill(index), kinds: new Uint8Array(100) }),
    (index: number) =>
      Object.assign(Object.create(null), {
        symbol: `B${index}`,
        first: index,
        last: 1.5 * index,
        id: -index,
      }),
    (index: number) => `${index} ${'x'.repeat(500)}`,
    (index: number) => `${index} ${'é–'.repeat(250)}`,
  ]) {
    const cache = new SizedCache<unknown>(Number.POSITIVE_INFINITY);
    await assertCounted(
      () => cache.bytes,
      async () => {
        for (let index = 0; cache.bytes < 1.5 * MEGABYTE; index++) cache.set(`name ${index}`, make(index));
      },
    );
  }
});

test('calendars count the years that they have built, of several markets', async () => {
  for (const market of markets.filter((_, index) => index % 8 === 0)) {
    const zone = zoneOf(market.zone);
    const years = new SizedCache<SessionYear, number>(Number.POSITIVE_INFINITY);
    buildYear(market, zone, 1999);
    await assertCounted(
      () => years.bytes,
      async () => {
        for (let year = 2000; year < 2045; year++) {
          const built = buildYear(market, zone, year);
          years.set(year, built, yearBytes(built));
        }
      },
    );
  }
});

test('look-ups count the instruments and the records that they keep', async () => {
  const folder = new TestFolder();
  const symbols = 1_000;
  const path = folder.path('bars.csv');
  writeMinutes({ path, rows: symbols, order: 'symbol', symbols });
  const flags = new Map([
    ['asset_schema', 'stock'],
    ['country_iso_code', 'US'],
    ['interval', '1M'],
  ]);
  const at = { store: folder.storeUrl() };
  await stored(at, path, (writing, request) =>
    importFile(writing, 'bars', { ...request, flags, zone: null, basis: 'raw' }),
  );
  const reading = await openStore(at.store, 'read');
  const lookup = new Lookup();
  const find = (index: number) =>
    reading.snapshot((reader) =>
      lookup.instrument(new TrackedReader(reader), 'stock', { country: 'US', symbol: symbolOf(index) }),
    );
  // What V8 makes of code that has run often is none of it.
  for (let index = 0; index < 300; index++) await find(index);
  await assertCounted(
    () => lookup.bytes,
    async () => {
      for (let index = 300; index < symbols; index++) await find(index);
    },
  );
  await reading.close();
  folder.close();
});
