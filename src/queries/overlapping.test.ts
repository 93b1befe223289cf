// Requests whose reads overlap, as on an engine with several connections, are answered as one after the
// other.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Filling, fillStore } from '../../test/importing.ts';
import { TestFolder } from '../../test/stores.ts';
import { historicalBars, latestBars } from '../contract/bars.ts';
import { parseParameters } from '../contract/endpoint.ts';
import { openStore } from '../store/engines.ts';
import type { Reader, Store } from '../store/store.ts';
import { QueryRunner } from './index.ts';
import type { QueryRequest } from './query.ts';

const CONNECTIONS = 8;
const nowMs = Date.parse('2025-06-02T12:00:00Z');
const symbols = ['AAPL', 'MSFT', 'SPY'];

const temporary = new TestFolder();
const storeUrl = temporary.storeUrl();

const minutes = symbols.flatMap((symbol, at) =>
  Array.from({ length: 5 * 390 }, (_, index) => {
    const ms =
      Date.parse('2025-03-03T14:30:00Z') + Math.floor(index / 390) * 86_400_000 + (index % 390) * 60_000;
    const open = 100 * (at + 1) + index / 100;
    const named = { asset_schema: 'stock', country_iso_code: 'US', symbol, interval: '1M' };
    return {
      ...named,
      datetime: new Date(ms).toISOString(),
      open,
      high: open + 1,
      low: open - 1,
      close: open,
    };
  }),
);
const actions = symbols.map((symbol) => ({
  ...{ asset_schema: 'stock', country_iso_code: 'US', symbol, action_type: 'dividend' },
  ...{ ex_date: '2025-03-05', cash_amount: 1 },
}));
const fillings: readonly Filling[] = [
  ['bars', minutes],
  ['corporate-actions', actions],
];
await fillStore(storeUrl, temporary.folder, nowMs, fillings);

const stores = await Promise.all(Array.from({ length: CONNECTIONS }, () => openStore(storeUrl, 'read')));
after(async () => {
  for (const store of stores) await store.close();
  temporary.close();
});

/** Each read of it comes later, as over a network: others go on meanwhile. */
const slowly = (reader: Reader): Reader =>
  new Proxy(reader, {
    get(target, name) {
      const read = target[name as keyof Reader] as (...given: unknown[]) => Promise<unknown>;
      return async (...given: unknown[]) => {
        await setImmediate();
        return read.apply(target, given);
      };
    },
  });

let [running, most] = [0, 0];

/** One store with several connections to the same file. */
const pool: Store = {
  ...stores[0]!,
  concurrency: CONNECTIONS,
  async snapshot(work) {
    most = Math.max(most, ++running);
    const store = stores.shift()!;
    try {
      return await store.snapshot((reader) => work(slowly(reader)));
    } finally {
      stores.push(store);
      running--;
    }
  },
};

const requests: QueryRequest[] = symbols.flatMap((symbol) =>
  ['1M', '5M', '60M', 'DAY', 'WEEK'].flatMap((interval) =>
    ['asc', 'desc'].flatMap((sort) =>
      ['raw', 'dividend'].flatMap((adjust) => {
        const named = { schema_asset: 'stock', country_symbol: `US:${symbol}`, interval, limit: '70' };
        const range = {
          from_date: '2025-03-03',
          to_date: '2025-03-08',
          sort,
          ...(adjust === 'raw' ? {} : { adjust }),
        };
        const parsed = (endpoint: typeof historicalBars | typeof latestBars, given: object) =>
          parseParameters(endpoint, new Map(Object.entries(given))) as QueryRequest['parameters'];
        const about = { nowMs, wrapCsv: false };
        return [
          {
            endpoint: 'historicalBars',
            parameters: parsed(historicalBars, { ...named, ...range }),
            ...about,
          },
          { endpoint: 'latestBars', parameters: parsed(latestBars, named), ...about },
        ] as QueryRequest[];
      }),
    ),
  ),
);

const secret = new Uint8Array(32).fill(7);

async function textOf(runner: QueryRunner, request: QueryRequest): Promise<string> {
  const answer = await runner.run(request);
  return answer.kind === 'answer' ? Buffer.from(answer.body).toString() : JSON.stringify(answer);
}

test('overlapping requests of one query runner have the answers that they have one after the other', async () => {
  const alone = new QueryRunner(stores[0]!, secret);
  const expected: string[] = [];
  for (const request of requests) expected.push(await textOf(alone, request));
  assert.ok(expected.filter((text) => text.includes('"count":70')).length > 20);
  const together = new QueryRunner(pool, secret);
  // Also with caches that are empty at first.
  const found: string[] = [];
  for (let at = 0; at < requests.length; at += CONNECTIONS)
    found.push(
      ...(await Promise.all(
        requests.slice(at, at + CONNECTIONS).map((request) => textOf(together, request)),
      )),
    );
  assert.equal(most, CONNECTIONS);
  assert.deepEqual(found, expected);
});
