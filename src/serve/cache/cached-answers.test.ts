// Cached answers against uncached ones, however a request is written and whatever is committed in between
// (contract 4.1, 4.4, 9.7).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Random } from '../../../test/fuzz/random.ts';
import { type Filling, fillStore } from '../../../test/importing.ts';
import { seed, times } from '../../../test/seed.ts';
import { TestFolder } from '../../../test/stores.ts';
import { startParquet } from '../../queries/export/parquet-process.ts';
import { QueryRunner } from '../../queries/index.ts';
import { readKeys } from '../../store/control.ts';
import { openControl, openStore } from '../../store/engines.ts';
import { RequestHandler } from '../handler.ts';
import { issueKey, KeyRing, noTerms } from '../keys/api-keys.ts';
import { Quotas } from '../keys/quotas.ts';
import type { HttpResponse } from '../message.ts';
import { UnsentBytes } from '../outgoing/unsent-bytes.ts';
import { ParquetSpool } from '../spool/parquet-spool.ts';
import { ResponseCache } from './response-cache.ts';

const DAY_MS = 86_400_000;
/** Seeds the requests that are frequent. */
const FREQUENT = 5;
const temporary = new TestFolder();
const storeUrl = temporary.storeUrl();
const clock = { nowMs: Date.parse('2025-06-02T12:00:00Z') };

/**
 * Minutes of the sessions around the clock, up to it: those of the last hours are not complete, and the next
 * round has more.
 */
function minutesOf(round: number): readonly Readonly<Record<string, unknown>>[] {
  const named = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'AAPL', interval: '1M' };
  const rows: Record<string, unknown>[] = [];
  for (let day = -4; day <= 1; day++)
    for (let minute = 0; minute < 390; minute += 3) {
      const ms = Math.floor(clock.nowMs / DAY_MS + day) * DAY_MS + (13.5 * 60 + minute) * 60_000;
      if (ms >= clock.nowMs - 60_000) return rows;
      const open = 100 + round + minute / 100;
      rows.push({ ...named, datetime: new Date(ms).toISOString(), open, high: open, low: open, close: open });
    }
  return rows;
}

/** Everything that the cacheable endpoints tell, as the file of a round has it. */
const fillingsOf = (round: number): readonly Filling[] => [
  [
    'instruments',
    [{ asset_schema: 'stock', country_iso_code: 'US', symbol: 'AAPL', name: `Apple ${round}` }],
  ],
  [
    'option-contracts',
    [10, 20, 30].map((strike) => ({
      ...{ symbol: `AAPL${strike}${round}`, country_iso_code: 'US', parent_asset_schema: 'stock' },
      ...{ underlying_name: 'AAPL', strike_price: strike, option_type: 'call' },
      expiration_date: `2025-06-${strike === 10 ? '03' : 10 + (round % 18)}`,
    })),
  ],
  [
    'holidays',
    [
      {
        ...{ name: `Holiday ${round}`, holiday_code: 'HOLIDAY_OWN', calendar_date: '2025-07-15' },
        ...{ asset_name: 'stock', country_iso_code: 'US', symbol: '*', session_template: 'CLOSED' },
      },
    ],
  ],
  ['economic-event-codes', [{ country_iso_code: 'US', event_code: 'OWN', description: `Event ${round}` }]],
  [
    'corporate-actions',
    [
      {
        ...{ country_iso_code: 'US', symbol: 'AAPL', action_type: 'split', ex_date: '2025-05-30' },
        ...{ split_from: 1, split_to: 2 + round },
      },
    ],
  ],
  ['bars', minutesOf(round)],
];

await (await openStore(storeUrl, 'write')).close();
await fillStore(storeUrl, temporary.folder, clock.nowMs, fillingsOf(0));
const control = await openControl(storeUrl, 'write');
const store = await openStore(storeUrl, 'read');
const keys = [
  (await issueKey(control, 'one', noTerms, clock.nowMs)).secret,
  (await issueKey(control, 'two', noTerms, clock.nowMs)).secret,
];
after(async () => {
  await store.close();
  await control.close();
  temporary.close();
});

/** A service with a cache of so many bytes, and how many queries it has run. */
function serviceWith(bytesMax: number) {
  const runner = new QueryRunner(store, new Uint8Array(32).fill(7));
  const cache = new ResponseCache(store, bytesMax);
  const ran = { queries: 0 };
  const handler = new RequestHandler({
    pages: new Map(),
    keys: new KeyRing(() => readKeys(control)),
    cache,
    quotas: new Quotas({ addUses: async () => [], observe: () => undefined, nowMs: () => clock.nowMs }),
    unsent: new UnsentBytes(),
    admits: () => true,
    spool: new ParquetSpool(),
    startParquet,
    submit: (request) => {
      ran.queries++;
      return runner.run(request);
    },
    address: { publicUrl: null, allowedHosts: ['bars.example.com'], trustProxy: false, scheme: 'http' },
    version: '0.0.0',
    observe: () => undefined,
    nowMs: () => clock.nowMs,
  });
  return { handler, cache, ran };
}

type Asked = { readonly method: string; readonly target: string; readonly headers: Record<string, string> };

async function ask(handler: RequestHandler, asked: Asked): Promise<HttpResponse & { whole: Buffer }> {
  const response = await handler.handle({ ...asked, isGone: () => false });
  const whole = Buffer.concat(response.body);
  response.release?.();
  return { ...response, whole };
}

const lists = ['full_symbol=stock:US:*', 'full_symbol=STOCK:us:*', 'full_symbol=stock%3AUS%3A*'];

/** Paths and their query parameters, each in several spellings; the empty one leaves it out. */
const endpoints: readonly (readonly [path: string, parameters: readonly (readonly string[])[]])[] = [
  ['/api/v2/stock/reference/US:AAPL', []],
  ['/api/v2/stock/reference/US:NONE', []],
  ['/api/v2/economic_calendar/event_codes/US', []],
  ['/api/v2/holiday/holiday_codes/us', []],
  [
    '/api/v2/option/expiration_date_list/stock/US:AAPL',
    [
      ['', 'sort=asc', 'sort=DESC'],
      ['', 'format=csv', 'format=json'],
      ['', 'csv_safe=1'],
    ],
  ],
  ...['1M', '60M', 'DAY', 'WEEK'].flatMap((interval) => [
    [
      `/api/v2/stock/bars/US:AAPL/${interval}/latest`,
      [
        ['', 'limit=2', 'limit=1000'],
        ['', 'is_eth=true', 'adjust=all'],
      ],
    ] as const,
    ...['from/2025-05-01/to/2025-05-30', 'from/2025-05-29/to/2025-06-30'].map(
      (range) =>
        [
          `/api/v2/stock/bars/US:AAPL/${interval}/${range}`,
          [
            ['', 'limit=2', 'limit=1000'],
            ['', 'sort=desc', 'sort=asc'],
            ['', 'adjust=all', 'adjust=split&adjust_as_of=2025-05-29'],
            ['', 'format=csv', 'format=json'],
            ['', 'next_page_key=', 'next_page_key=KEY'],
          ],
        ] as const,
    ),
  ]),
  [
    '/api/v2/holiday/list',
    [
      lists,
      ['', 'format=json', 'format=csv', 'format=CSV', 'format=json&format=csv'],
      ['', 'limit=3', 'limit=20', 'limit=03', 'limit=0'],
      ['', 'sort=desc', 'sort=asc'],
      ['', 'from_date=2025-01-01', 'from_date=2025-01-01T00:00:00Z', 'from_date=2025'],
      ['', 'next_page_key=', 'next_page_key=KEY'],
    ],
  ],
];

/** A request; most are one of a few, written and asked for in another way. */
function requestOf(random: Random, pageKey: string): Asked {
  const choice = random.chance(0.9) ? new Random(FREQUENT, random.below(20)) : random;
  const [path, parameters] = choice.pick(endpoints);
  const [key, inQuery] = [random.pick(keys), random.chance(0.7)];
  const written = parameters.map((spellings) => choice.pick(spellings).replace('KEY', pageKey));
  const extra = [random.chance(0.3) ? `cb=${random.below(1_000)}` : '', inQuery ? `secret_key=${key}` : ''];
  const query = random.shuffle([...written, ...extra].filter((part) => part !== '')).join('&');
  const optional = (name: string, ...values: readonly string[]) =>
    random.chance(0.5) ? { [name]: random.pick(values) } : {};
  return {
    method: random.chance(0.1) ? 'HEAD' : 'GET',
    target: query === '' ? path : `${path}?${query}`,
    headers: {
      host: random.pick(['localhost', '127.0.0.1:8080', 'bars.example.com', 'elsewhere.example']),
      'x-request-id': 'same',
      ...optional('accept', '*/*', 'application/json', 'text/csv'),
      ...optional('accept-encoding', 'gzip', 'zstd', 'gzip, zstd;q=0.5', 'identity', 'identity;q=0, gzip'),
      ...optional('if-none-match', '*', 'W/"no"'),
      ...(inQuery ? {} : { authorization: `Bearer ${key}` }),
    },
  };
}

test('no answer from the cache differs from an uncached one, through commits and the passing of days', async (t) => {
  const [cached, uncached] = [serviceWith(100_000), serviceWith(0)];
  let pageKey = 'none';
  let imports = 0;
  for (let index = 0; index < times(1_600); index++) {
    const random = new Random(seed, index);
    if (index % 320 === 319) await fillStore(storeUrl, temporary.folder, clock.nowMs, fillingsOf(++imports));
    if (index % 200 === 199) clock.nowMs += DAY_MS / 2;
    if (index % 4 === 3) clock.nowMs += 7_000;
    const asked = requestOf(random, pageKey);
    const [one, other] = [await ask(cached.handler, asked), await ask(uncached.handler, asked)];
    const what = `seed ${seed}, ${index}: ${JSON.stringify(asked)}`;
    assert.deepEqual([one.status, one.headers], [other.status, other.headers], what);
    assert.ok(one.whole.equals(other.whole), what);
    pageKey = one.headers['X-Next-Page-Key'] ?? pageKey;
  }
  t.diagnostic(`${cached.ran.queries} of ${uncached.ran.queries} queries`);
  assert.ok(cached.ran.queries < 0.7 * uncached.ran.queries, 'many came from the cache');
});

test('bars of a closed range stay cached for days, others until the next whole minute; all of them until a commit', async () => {
  const { handler, ran } = serviceWith(1_000_000);
  const queriesOf = async (path: string): Promise<number> => {
    const before = ran.queries;
    const target = `/api/v2/stock/bars/US:AAPL/${path}&secret_key=${keys[0]}`;
    const { status } = await ask(handler, { method: 'GET', target, headers: { host: 'localhost' } });
    assert.equal(status, 200);
    return ran.queries - before;
  };
  const past = '1M/from/2025-05-29/to/2025-05-30?limit=20';
  const present = '1M/latest?limit=20';
  const adjusted = `${past}&adjust=all`;
  const all = [past, present, adjusted];
  clock.nowMs = Date.parse('2025-06-20T12:00:10Z');
  for (const path of [...all, ...all]) await queriesOf(path);
  const asked = async (): Promise<number[]> => [
    await queriesOf(past),
    await queriesOf(present),
    await queriesOf(adjusted),
  ];
  assert.deepEqual(await asked(), [0, 0, 0]);
  clock.nowMs += 49_000;
  assert.deepEqual(await asked(), [0, 0, 0], 'the same minute');
  clock.nowMs += 1_000;
  assert.deepEqual(await asked(), [0, 1, 1], 'the next minute');
  clock.nowMs += 30 * DAY_MS;
  assert.deepEqual(await asked(), [0, 1, 1]);
  await fillStore(storeUrl, temporary.folder, clock.nowMs, fillingsOf(99).slice(0, 1));
  assert.deepEqual(await asked(), [1, 1, 1]);
});

test('one answer is cached once, however its request is written and whoever asks (contract 4.4)', async () => {
  const { handler, cache, ran } = serviceWith(1_000_000);
  const path = '/api/v2/holiday/list?';
  const headers = { host: 'localhost' };
  const get = (query: string, more: Record<string, string> = {}) =>
    ask(handler, { method: 'GET', target: `${path}${query}`, headers: { ...headers, ...more } });
  const [key, other] = keys;
  const asked = `full_symbol=stock:US:*&limit=3&format=json&from_date=2025-01-01`;
  await get(`${asked}&secret_key=${key}`);
  await get(`${asked}&secret_key=${key}`);
  const [bytes, queries] = [cache.bytes, ran.queries];
  for (let count = 0; count < 20; count++) await get(`cb=${count}&${asked}&secret_key=${key}`);
  await get(`secret_key=${other}&format=JSON&sort=asc&from_date=2025-01-01&limit=3&full_symbol=Stock:us:*`);
  await get(asked, { authorization: `Bearer ${key}` });
  await get(`${asked}&secret_key=${key}`, { accept: 'application/json', host: '10.0.0.1:80' });
  assert.deepEqual([cache.bytes, ran.queries], [bytes, queries]);
  // Encoded bodies hold the addresses of their callers: a few of them are kept.
  for (let count = 0; count < 50; count++)
    await get(`${asked}&secret_key=${key}`, { host: `10.0.0.1:${count + 1}`, 'accept-encoding': 'gzip' });
  assert.ok(cache.bytes < bytes + 20_000, `${cache.bytes}`);
  assert.equal(ran.queries, queries);
});
