// Answers of one service, whose caches go on through commits of every kind, against those of a service that caches nothing (contract 4.1).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Random } from '../../../test/fuzz/random.ts';
import { type FileRow, type Filling, fillStore } from '../../../test/importing.ts';
import { TestFolder } from '../../../test/stores.ts';
import { parseInstant } from '../../base/instant.ts';
import type { AssetSchema } from '../../contract/identifiers.ts';
import { fileDatasetNamed } from '../../datasets/index.ts';
import { deleteBars, deleteInstrument } from '../../history/delete-bars.ts';
import { deleteRows } from '../../history/delete-rows.ts';
import { RequestProblem } from '../../history/request-problem.ts';
import { newestRuns, undoRun } from '../../history/undo-run.ts';
import { issueKey, KeyRing, noTerms } from '../../keys/api-keys.ts';
import { Quotas } from '../../keys/quotas.ts';
import { QueryRunner } from '../../queries/index.ts';
import { readKeys } from '../../store/control.ts';
import { openControl, openStore } from '../../store/engines.ts';
import type { Store } from '../../store/store.ts';
import { RequestHandler } from '../handler.ts';
import { UnsentBytes } from '../sending/unsent-bytes.ts';
import { ResponseCache } from './response-cache.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const ROUNDS = Number(process.env.CACHE_ROUNDS ?? 34);

/** A Friday, after the post-market of New York. */
const friday = Date.parse('2025-05-31T01:00:00Z');
const secret = new Uint8Array(32).fill(7);
const temporary = new TestFolder();
after(() => temporary.close());

/** A service over a store, with one cache, or without any. */
function serviceOf(store: Store, keys: KeyRing, nowMs: () => number, caches: boolean) {
  const runner = new QueryRunner(store, secret);
  const ran = { queries: 0 };
  const handler = new RequestHandler({
    pages: new Map(),
    keys,
    cache: new ResponseCache(store, caches ? 20_000_000 : 0),
    quotas: new Quotas({ addUses: async () => [], observe: () => undefined, nowMs }),
    unsent: new UnsentBytes(),
    submit: (request) => {
      ran.queries++;
      return (caches ? runner : new QueryRunner(store, secret)).run(request);
    },
    address: { publicUrl: null, allowedHosts: [], trustProxy: false, scheme: 'http' },
    observe: () => undefined,
    nowMs,
  });
  return { handler, ran };
}

type Answered = {
  readonly status: number;
  readonly tag: string;
  readonly history: string;
  readonly text: string;
};

const stock = { asset_schema: 'stock', country_iso_code: 'US' };

/** A store with a service that caches and one that does not. */
class World {
  nowMs = friday;
  readonly #url: string;
  readonly #key: string;
  readonly #cached: ReturnType<typeof serviceOf>;
  readonly #uncached: ReturnType<typeof serviceOf>;

  private constructor(url: string, store: Store, keys: KeyRing, key: string) {
    this.#url = url;
    this.#key = key;
    const now = () => this.nowMs;
    this.#cached = serviceOf(store, keys, now, true);
    this.#uncached = serviceOf(store, keys, now, false);
  }

  static async open(name: string): Promise<World> {
    const url = temporary.storeUrl(name);
    await (await openStore(url, 'write')).close();
    const control = await openControl(url, 'write');
    const { secret: key } = await issueKey(control, 'one', noTerms, friday);
    const store = await openStore(url, 'read');
    after(async () => {
      await store.close();
      await control.close();
    });
    return new World(url, store, new KeyRing(() => readKeys(control)), key);
  }

  /** Queries that the caching service has run. */
  get queries(): number {
    return this.#cached.ran.queries;
  }

  async import(...fillings: readonly Filling[]): Promise<void> {
    await fillStore(this.#url, temporary.folder, this.nowMs, fillings);
  }

  async write(work: (store: Store) => Promise<unknown>): Promise<void> {
    const store = await openStore(this.#url, 'write');
    try {
      await work(store);
    } catch (error) {
      // There is nothing to delete.
      if (!(error instanceof RequestProblem)) throw error;
    } finally {
      await store.close();
    }
  }

  /** Imports the minutes of a session for some stocks: each `every` minutes, for so many hours. */
  minutes(symbols: readonly string[], day: string, price: number, hours = 6.5, every = 30): Promise<void> {
    const rows: FileRow[] = [];
    for (const symbol of symbols)
      for (let minute = 0; minute < hours * 60; minute += every) {
        const datetime = new Date(Date.parse(`${day}T13:30:00Z`) + minute * MINUTE_MS).toISOString();
        const close = price + minute / 100;
        const prices = { open: close, high: close, low: close, close, volume: 1 };
        rows.push({ ...stock, symbol, interval: '1M', datetime, ...prices });
      }
    return this.import(['bars', rows]);
  }

  days(symbols: readonly string[], day: string, close: number): Promise<void> {
    const prices = { open: close, high: close, low: close, close, volume: 1 };
    const rows = symbols.map((symbol) => ({ ...stock, symbol, interval: 'DAY', datetime: day, ...prices }));
    return this.import(['bars', rows]);
  }

  undo(place: number): Promise<void> {
    return this.write(async (store) => {
      const runs = await store.snapshot((reader) => newestRuns(reader, 6));
      const live = runs.filter(({ undone_ms }) => undone_ms === null);
      const run = live[place % live.length];
      if (run !== undefined) await undoRun(store, { runId: run.run_id, ...this.#request });
    });
  }

  get #request() {
    return { dryRun: false, nowMs: () => this.nowMs, words: 'a test' };
  }

  deleteBars(symbol: string, from: string): Promise<void> {
    const named = { assetSchema: 'stock' as AssetSchema, country: 'US', symbol };
    const bounds = { interval: null, from: parseInstant(from)!, to: null };
    return this.write((store) => deleteBars(store, { ...named, ...bounds, ...this.#request }));
  }

  deleteInstrument(symbol: string): Promise<void> {
    const named = { assetSchema: 'stock' as AssetSchema, country: 'US', symbol };
    return this.write((store) => deleteInstrument(store, { ...named, ...this.#request }));
  }

  deleteRows(name: string, flags: Readonly<Record<string, string>>): Promise<void> {
    const dataset = fileDatasetNamed(name)!;
    return this.write((store) => deleteRows(store, { dataset, flags, all: true, ...this.#request }));
  }

  /** The answer to a request from both services. What differs is told with `what`. */
  async ask(path: string, what: string): Promise<Answered> {
    const target = `/api/v2${path}${path.includes('?') ? '&' : '?'}secret_key=${this.#key}`;
    const [cached, uncached] = [
      await this.#get(this.#cached, target),
      await this.#get(this.#uncached, target),
    ];
    assert.deepEqual(cached, uncached, `${what}: ${path}`);
    return cached;
  }

  async #get({ handler }: ReturnType<typeof serviceOf>, target: string): Promise<Answered> {
    const request = { method: 'GET', target, headers: { host: 'localhost', 'x-request-id': 'same' } };
    const { status, headers, body, release } = await handler.handle({ ...request, isGone: () => false });
    // Only the caching service says that a record was cached.
    const text = Buffer.concat(body).toString().replace('"reference":"cached"', '"reference":null');
    release?.();
    return { status, tag: headers.ETag ?? '', history: headers['X-Symbol-History'] ?? '', text };
  }
}

const symbols = ['AAPL', 'MSFT', 'IBM', 'FB', 'META', 'TWX'] as const;
const OPTION = 'AAPL250606C00100000';
const range = 'from/2025-05-12/to/2025-05-31';

const requests: readonly string[] = [
  ...symbols.flatMap((symbol) => [
    `/stock/reference/US:${symbol}`,
    ...['1M', '60M', 'DAY', 'WEEK'].flatMap((interval) => [
      `/stock/bars/US:${symbol}/${interval}/latest?limit=5`,
      `/stock/bars/US:${symbol}/${interval}/${range}?limit=20`,
    ]),
    `/stock/bars/US:${symbol}/DAY/${range}?adjust=all`,
    `/stock/bars/US:${symbol}/60M/${range}?adjust=split&is_eth=true&limit=30`,
    `/stock/bars/US:${symbol}/WEEK/${range}?is_eth=true`,
    `/option/expiration_date_list/stock/US:${symbol}`,
    `/stock/stock_corporate_action/list/US:${symbol}?from_date=2025-01-01`,
    `/holiday/list?full_symbol=stock:US:${symbol}&from_date=2025-05-01&to_date=2025-07-31`,
  ]),
  `/option/bars/US:${OPTION}/DAY/latest?limit=3`,
  `/option/bars/US:${OPTION}/60M/${range}`,
  `/option/reference/US:${OPTION}`,
  '/option/search/stock/US:AAPL/option_type/call/moneyness/in_the_money?ref_asset_price=500',
  '/stock/reference/search?query=a',
  '/crypto/bars/GLOBAL:BTCUSD/DAY/latest?limit=3',
  '/holiday/list?full_symbol=stock:US:*&from_date=2025-05-01&to_date=2025-07-31',
  '/holiday/list?full_symbol=stock:UK:*&from_date=2025-05-01&to_date=2025-07-31',
  '/holiday/holiday_codes/US',
  '/news/list?full_symbol=stock:US:FB&from_date=2025-05-01&to_date=2025-05-31',
  '/news/latest?full_symbol=stock:US:AAPL',
  '/option/search/stock/US:AAPL/option_type/call/moneyness/out_of_the_money',
  '/economic_calendar/event_list?from_date=2025-05-01&to_date=2025-05-31',
  '/economic_calendar/event?country_iso_code=US',
  '/economic_calendar/event_codes/US',
];

const holiday = (day: string, symbol: string, template = 'CLOSED'): Filling => {
  const hours = { open_timestamp: `${day}T13:30:00Z`, close_timestamp: `${day}T17:00:00Z` };
  return [
    'holidays',
    [
      {
        ...{ name: `Day ${symbol}`, holiday_code: 'HOLIDAY_OWN', calendar_date: day, asset_name: 'stock' },
        ...{ country_iso_code: 'US', symbol, session_template: template },
        ...(template === 'EARLY_CLOSE' && hours),
      },
    ],
  ];
};

const contractOf = (underlying: string, day: string, type = 'C'): Filling => {
  const digits = day.replaceAll('-', '').slice(2);
  return [
    'option-contracts',
    [
      {
        ...{ symbol: `${underlying}${digits}${type}00100000`, country_iso_code: 'US', strike_price: 100 },
        ...{ parent_asset_schema: 'stock', underlying_name: underlying, expiration_date: day },
        option_type: type === 'C' ? 'call' : 'put',
      },
    ],
  ];
};

const action = (symbol: string, day: string, fields: FileRow): Filling => [
  'corporate-actions',
  [{ country_iso_code: 'US', symbol, ex_date: day, ...fields }],
];

const split = (symbol: string, day: string, to: number): Filling =>
  action(symbol, day, { action_type: 'split', split_from: 1, split_to: to });

const instrument = (symbol: string, fields: FileRow): Filling => [
  'instruments',
  [{ ...stock, symbol, ...fields }],
];

const event = (code: string): Filling => [
  'economic-events',
  [
    {
      ...{ country_iso_code: 'US', event_code: code, event_name: `Event ${code}` },
      event_timestamp: '2025-05-20T12:00:00Z',
    },
  ],
];

type Change = (world: World, random: Random) => Promise<void>;

const someDay = (random: Random): string => `2025-05-${random.between(19, 30)}`;
const some = (random: Random): string => random.pick(symbols);
const price = (random: Random): number => 50 + random.below(100);

/** What is committed between the requests, each of one kind. */
const changes: Readonly<Record<string, Change>> = {
  'minutes of one stock': (world, random) =>
    world.minutes([some(random)], someDay(random), price(random), random.pick([1, 3, 6.5])),
  'minutes of all but one': (world, random) =>
    world.minutes(random.shuffle(symbols).slice(1), random.pick(['2025-05-29', '2025-05-30']), price(random)),
  'minutes of two, through today': (world, random) =>
    world.minutes(random.shuffle(symbols).slice(4), '2025-05-30', price(random), 6.5, 60),
  'days of one stock': (world, random) => world.days([some(random)], someDay(random), price(random)),
  'days of the option': async (world, random) => {
    const close = price(random);
    const named = { asset_schema: 'option', country_iso_code: 'US', symbol: OPTION, interval: 'DAY' };
    const prices = { open: close, high: close, low: close, close };
    await world.import(['bars', [{ ...named, datetime: someDay(random), ...prices }]]);
  },
  'days of a coin': async (world, random) => {
    const close = price(random);
    const named = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'BTCUSD', interval: 'DAY' };
    const prices = { open: close, high: close, low: close, close };
    await world.import(['bars', [{ ...named, datetime: someDay(random), ...prices }]]);
  },
  'a name': (world, random) => world.import(instrument(some(random), { name: `Name ${random.below(9)}` })),
  'a former symbol': (world, random) =>
    world.import(
      instrument('META', {
        former_symbols: `FB:2012-05-18..${random.pick(['2025-05-15', '2025-05-20', '2022-06-08'])}`,
      }),
    ),
  'no former symbol of another': (world, random) =>
    world.import(instrument('TWX', { former_symbols: `FB:2011-01-01..${someDay(random)}` })),
  'a status': (world, random) =>
    world.import(instrument(some(random), { status: random.pick(['active', 'inactive']) })),
  'a delisting': (world, random) =>
    world.import(instrument(some(random), { delisting_date: random.pick(['2025-05-29', '2025-06-03']) })),
  'a calendar': (world, random) =>
    world.import(instrument(some(random), { calendar_key: random.pick(['US_STOCK', 'UK_STOCK']) })),
  'a holiday': (world, random) =>
    world.import(
      holiday(random.pick(['2025-05-28', '2025-06-05']), '*', random.pick(['CLOSED', 'EARLY_CLOSE'])),
    ),
  'a holiday of one': (world, random) => world.import(holiday('2025-05-27', some(random))),
  'no holidays': (world, random) =>
    world.deleteRows('holidays', {
      '--country': 'US',
      '--schema': 'stock',
      '--symbol': random.pick(['*', ...symbols]),
    }),
  'a split': (world, random) => world.import(split(some(random), someDay(random), random.between(2, 5))),
  'a dividend': (world, random) =>
    world.import(
      action(some(random), someDay(random), { action_type: 'dividend', cash_amount: random.between(1, 3) }),
    ),
  'no actions': (world, random) =>
    world.deleteRows('corporate-actions', { '--country': 'US', '--symbol': some(random) }),
  'a contract': (world, random) =>
    world.import(
      contractOf(some(random), random.pick(['2025-06-05', '2025-06-20']), random.pick(['C', 'P'])),
    ),
  'a contract of another underlying': async (world, random) => {
    const [, [row]] = contractOf('AAPL', '2025-06-06');
    await world.import(['option-contracts', [{ ...row, underlying_name: some(random) }]]);
  },
  'an instant of an expiration': async (world, random) => {
    const [, [row]] = contractOf('AAPL', '2025-06-06');
    const hour = random.between(14, 20);
    await world.import(['option-contracts', [{ ...row, expiration_datetime: `2025-06-06T${hour}:00:00Z` }]]);
  },
  'no contracts': (world, random) =>
    world.deleteRows('option-contracts', { '--country': 'US', '--symbol': some(random) }),
  'an item of news': (world, random) =>
    world.import([
      'news',
      [
        {
          ...{ published_date: `${someDay(random)}T12:00:00Z`, title: `Title ${random.below(9)}` },
          ...{ publisher_url: 'https://news.example', asset_name: 'stock', country_iso_code: 'US' },
          symbol: some(random),
        },
      ],
    ]),
  'an event': (world, random) => world.import(event(`CODE_${random.below(4)}`)),
  'a code': (world, random) =>
    world.import([
      'economic-event-codes',
      [{ country_iso_code: 'US', event_code: `CODE_${random.below(4)}`, description: `D${random.below(9)}` }],
    ]),
  'an undo': (world, random) => world.undo(random.below(6)),
  'no bars': (world, random) => world.deleteBars(some(random), someDay(random)),
  'no instrument': (world, random) => world.deleteInstrument(some(random)),
};

async function fill(world: World): Promise<void> {
  await world.import(
    ...symbols.map((symbol) => instrument(symbol, { name: `Company ${symbol}` })),
    contractOf('AAPL', '2025-06-06'),
    contractOf('MSFT', '2025-06-20', 'P'),
    split('AAPL', '2025-05-28', 2),
    action('MSFT', '2025-05-28', { action_type: 'dividend', cash_amount: 2 }),
  );
  for (const day of ['2025-05-23', '2025-05-27', '2025-05-28', '2025-05-29'])
    await world.minutes([...symbols], day, 100);
  await world.days(['IBM', 'AAPL'], '2025-05-20', 90);
}

test('no answer differs from an uncached one after commits of every kind', async (t) => {
  const seed = Number(process.env.CACHE_SEED ?? Date.now() % 1_000_000);
  t.diagnostic(`seed ${seed}`);
  const world = await World.open('random');
  await fill(world);
  const names = Object.keys(changes);
  for (let round = 0; round < ROUNDS; round++) {
    const random = new Random(seed, round);
    // Every kind once, then any.
    const name = names[round] ?? random.pick(names);
    await changes[name]!(world, random);
    if (random.chance(0.2)) world.nowMs += random.pick([MINUTE_MS, HOUR_MS, DAY_MS]);
    for (const path of requests) await world.ask(path, `seed ${seed}, round ${round}, ${name}`);
  }
  const asked = ROUNDS * requests.length;
  t.diagnostic(`${world.queries} queries for ${asked} requests`);
  assert.ok(world.queries < 0.8 * asked, 'many came from the cache');
});

/** What of the cached answers stays after a change: those for which no query is run. */
async function staysAfter(world: World, paths: readonly string[], change: () => Promise<void>) {
  for (const path of [...paths, ...paths, ...paths]) await world.ask(path, 'before');
  await change();
  const stayed: string[] = [];
  for (const path of paths) {
    const before = world.queries;
    await world.ask(path, 'after');
    if (world.queries === before) stayed.push(path);
  }
  return stayed;
}

test('a commit forgets the cached answers that it touched, and no others', async () => {
  const world = await World.open('touched');
  await fill(world);
  // After the end of every range: nothing but a commit changes the answers.
  world.nowMs += 30 * DAY_MS;
  const bars = (symbol: string): string =>
    `/stock/bars/US:${symbol}/60M/from/2025-05-23/to/2025-05-30?limit=9`;
  const [apple, microsoft] = [bars('AAPL'), bars('MSFT')];
  const [reference, other] = ['/stock/reference/US:AAPL', '/stock/reference/US:MSFT'];
  const [list, codes] = ['/holiday/list?full_symbol=stock:US:*&limit=3', '/economic_calendar/event_codes/US'];
  const british = '/holiday/list?full_symbol=stock:UK:*&limit=3';
  const all = [apple, microsoft, reference, other, list, codes, british];
  const without = (...gone: readonly string[]) => all.filter((path) => !gone.includes(path));
  const cases: readonly (readonly [string, () => Promise<void>, readonly string[]])[] = [
    ['bars of one', () => world.minutes(['MSFT'], '2025-05-29', 70), without(microsoft)],
    ['bars of a new one', () => world.minutes(['NEW'], '2025-05-29', 70), all],
    ['actions', () => world.import(split('AAPL', '2025-05-02', 2)), without(apple, reference)],
    ['an event', () => world.import(event('OWN')), without(codes)],
    ['a holiday', () => world.import(holiday('2025-07-15', '*')), [reference, other, codes, british]],
    ['an undo', () => world.undo(0), [reference, other, codes, british]],
    ['a failed file', () => world.write(async (store) => store.write(async () => undefined)), all],
  ];
  for (const [what, change, stays] of cases)
    assert.deepEqual((await staysAfter(world, all, change)).sort(), [...stays].sort(), what);
});

test('a run of other symbols that finishes a bar of an untouched one drops the answer without it (contract 3.9)', async () => {
  const world = await World.open('finished');
  await fill(world);
  const week = '/stock/bars/US:AAPL/WEEK/from/2025-05-26/to/2025-05-31';
  // Long after the week, so that the answer is good until a commit.
  world.nowMs += 60 * DAY_MS;
  const before = [await world.ask(week, 'before'), await world.ask(week, 'before')];
  assert.match(before[0]!.text, /"count":0|\r\n$/);
  await world.minutes(['MSFT', 'IBM', 'FB'], '2025-05-30', 70);
  const finished = await world.ask(week, 'after');
  assert.notEqual(finished.text, before[0]!.text);
  assert.match(finished.text, /2025-05-27/);
  await world.undo(0);
  assert.equal((await world.ask(week, 'undone')).text, before[0]!.text);
});

test('a corrected bar changes the derived bars that were kept, though the record of its series is as before (contract 3.8)', async () => {
  const world = await World.open('corrected');
  await fill(world);
  const day = '/stock/bars/US:AAPL/DAY/from/2025-05-28/to/2025-05-28';
  const wide = '/stock/bars/US:AAPL/DAY/from/2025-05-19/to/2025-05-28';
  for (const path of [day, wide, day, wide]) await world.ask(path, 'before');
  const before = await world.ask(day, 'before');
  await world.minutes(['AAPL'], '2025-05-28', 170, 0.5);
  const after = await world.ask(day, 'after');
  assert.notEqual(after.text, before.text);
  assert.match(after.text, /170/);
  // Another range of the same days: from what is kept of them.
  await world.ask(wide, 'after');
  await world.ask(`${day}?sort=desc`, 'after');
});

test('an instrument that ends completes its last bar without a commit: the closes of its dividends are read anew (contract 3.9, 8.2)', async () => {
  const world = await World.open('ended');
  const path = '/stock/bars/US:IBM/1M/from/2025-05-28/to/2025-05-29?adjust=dividend&limit=3';
  world.nowMs = Date.parse('2025-05-29T14:45:00Z');
  await world.import(
    instrument('IBM', { delisting_date: '2025-05-29' }),
    action('IBM', '2025-05-30', { action_type: 'dividend', cash_amount: 10 }),
  );
  await world.minutes(['IBM'], '2025-05-28', 100);
  await world.minutes(['IBM'], '2025-05-29', 100, 1);
  // The adjustment of a day ahead is asked for, because the dividend is of that day.
  world.nowMs = Date.parse('2025-05-30T02:00:00Z');
  const before = await world.ask(`${path}&adjust_as_of=2025-05-30`, 'after the session');
  world.nowMs = Date.parse('2025-05-30T05:00:00Z');
  const ended = await world.ask(`${path}&adjust_as_of=2025-05-30`, 'after its end');
  assert.notEqual(ended.text, before.text);
});
