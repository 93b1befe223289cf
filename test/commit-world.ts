// A store that is changed by commits of every kind, and two services over it: one whose caches go on through
// them, and one that caches nothing.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { parseInstant } from '../src/base/instant.ts';
import type { AssetSchema } from '../src/contract/identifiers.ts';
import { startParquet } from '../src/queries/export/parquet-process.ts';
import { QueryRunner } from '../src/queries/index.ts';
import { deleteBars, deleteInstrument } from '../src/runs/delete-bars.ts';
import { deleteRows } from '../src/runs/delete-rows.ts';
import { RequestProblem } from '../src/runs/recorded-write.ts';
import { newestRuns, undoRun } from '../src/runs/undo-run.ts';
import { ResponseCache } from '../src/serve/cache/response-cache.ts';
import { RequestHandler } from '../src/serve/handler.ts';
import { issueKey, KeyRing, noTerms } from '../src/serve/keys/api-keys.ts';
import { Quotas } from '../src/serve/keys/quotas.ts';
import { isWholeRequest } from '../src/serve/known-requests.ts';
import type { HttpResponse, WrittenResponse } from '../src/serve/message.ts';
import { UnsentBytes } from '../src/serve/outgoing/unsent-bytes.ts';
import { ParquetSpool } from '../src/serve/spool/parquet-spool.ts';
import { readKeys } from '../src/store/control.ts';
import { openControl, openStore } from '../src/store/engines.ts';
import { fileDatasetNamed } from '../src/store/schema/index.ts';
import type { Store } from '../src/store/store.ts';
import type { Random } from './fuzz/random.ts';
import { type FileRow, type Filling, fillStore } from './importing.ts';
import { TestFolder } from './stores.ts';

export const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

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
    admits: () => true,
    spool: new ParquetSpool(),
    startParquet,
    submit: (request) => {
      ran.queries++;
      return (caches ? runner : new QueryRunner(store, secret)).run(request);
    },
    address: { publicUrl: null, allowedHosts: [], trustProxy: false, scheme: 'http' },
    version: '0.0.0',
    observe: () => undefined,
    nowMs,
  });
  return { handler, ran, runner };
}

/** A response whose head is written, as any other. */
function readWritten({ head, body, release }: WrittenResponse): HttpResponse {
  const [line, ...fields] = head.trimEnd().split('\r\n');
  const headers = fields.map((field) => field.split(/: (.*)/s, 2) as [string, string]);
  return { status: Number(line!.split(' ')[1]), headers: Object.fromEntries(headers), body, release };
}

type Answered = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
};

type Asked = {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
};

const stock = { asset_schema: 'stock', country_iso_code: 'US' };

/** A store with a service that caches and one that does not. */
export class World {
  nowMs = friday;
  readonly #url: string;
  /** The key of a caller. */
  readonly key: string;
  readonly #cached: ReturnType<typeof serviceOf>;
  readonly #uncached: ReturnType<typeof serviceOf>;

  private constructor(url: string, store: Store, keys: KeyRing, key: string) {
    this.#url = url;
    this.key = key;
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

  /** Requests that the caching service answered by their bytes. */
  known = 0;

  /** Queries that the other service has run. */
  get uncachedQueries(): number {
    return this.#uncached.ran.queries;
  }

  async import(...fillings: readonly Filling[]): Promise<void> {
    await fillStore(this.#url, temporary.folder, this.nowMs, fillings);
  }

  /** Lets the caching service make the charts that a thread makes before it answers. */
  warmUp(): Promise<void> {
    return this.#cached.runner.warmUp(this.nowMs);
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
    const target = `/api/v2${path}${path.includes('?') ? '&' : '?'}secret_key=${this.key}`;
    return this.send({ method: 'GET', target, headers: { host: 'localhost' } }, what);
  }

  /** The same of a whole request. */
  async send(asked: Asked, what: string): Promise<Answered> {
    const [cached, uncached] = [
      await this.#answer(this.#cached, asked),
      await this.#answer(this.#uncached, asked),
    ];
    assert.deepEqual(cached, uncached, `${what}: ${asked.method} ${asked.target}`);
    return cached;
  }

  async #answer({ handler }: ReturnType<typeof serviceOf>, { method, target, headers: sent }: Asked) {
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
    const bytes = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
    const isGone = () => false;
    const isWhole = isWholeRequest(bytes);
    const name = isWhole ? handler.knownName(bytes) : null;
    const met = { arrivedMs: performance.now(), waitedMs: 0, isGone };
    const written = name === null ? null : await handler.answerKnown({ ...met, name });
    if (written !== null) this.known++;
    const asked = { method, target, headers: sent, isGone, ...(isWhole && { bytes }) };
    const response = written === null ? await handler.handle(asked) : readWritten(written);
    const { status, headers, body, release } = response;
    // Only the caching service says that a record was cached, which makes the answer longer. Those who are
    // known by their bytes get the date and the fate of the connection with the others.
    const own = ['Content-Length', 'X-Request-Id', 'Date', 'Connection', 'Keep-Alive'];
    const others = Object.fromEntries(Object.entries(headers).filter(([one]) => !own.includes(one)));
    const text = Buffer.concat(body)
      .toString()
      .replace('"reference":"cached"', '"reference":null')
      .replace(/"request_id":"[^"]*"/, '"request_id":""');
    release?.();
    return { status, headers: others, text };
  }
}

export const symbols = ['AAPL', 'MSFT', 'IBM', 'FB', 'META', 'TWX'] as const;
export const OPTION = 'AAPL250606C00100000';

const range = 'from/2025-05-12/to/2025-05-31';
const dates = 'from_date=2025-05-01&to_date=2025-06-30';

/** Requests about what the changes are about, to every endpoint whose answers they may change. */
export const requests: readonly string[] = [
  ...['60M', 'DAY'].map(
    (interval) => `/stock/bars/latest?symbols=US:FB,US:AAPL,US:META,US:NEWONE&interval=${interval}&limit=3`,
  ),
  ...(['AAPL', 'IBM', 'FB', 'META'] as const).flatMap((symbol) => [
    `/stock/reference/US:${symbol}`,
    ...['1M', '7M', '30M', '60M', 'DAY', 'WEEK'].map(
      (interval) => `/stock/bars/US:${symbol}/${interval}/${range}?limit=20`,
    ),
    `/stock/bars/US:${symbol}/1M/latest?limit=5`,
    `/stock/bars/US:${symbol}/60M/latest?limit=20&is_eth=true`,
    `/stock/bars/US:${symbol}/DAY/latest?as_of=2025-05-28T22:00:00Z`,
    `/stock/bars/US:${symbol}/DAY/${range}?adjust=all&sort=desc`,
    `/stock/bars/US:${symbol}/60M/${range}?adjust=split&is_eth=true&limit=30`,
    `/stock/bars/US:${symbol}/WEEK/${range}?is_eth=true`,
    `/stock/coverage/US:${symbol}?limit=20`,
    `/stock/findings/US:${symbol}`,
    `/stock/stock_corporate_action/list/US:${symbol}?from_date=2025-01-01`,
    `/option/expiration_date_list/stock/US:${symbol}`,
    `/option/search/stock/US:${symbol}/put/moneyness/out_of_the_money?ref_asset_price=120&sort_by=strike_price%20desc,symbol`,
    `/option/search/stock/US:${symbol}/call/moneyness/in_the_money?ref_asset_price=120&quotes=true`,
    `/holiday/list?full_symbol=stock:US:${symbol}&${dates}`,
    `/news/list?full_symbol=stock:US:${symbol}&${dates}`,
    `/stock/reference/search?query=${symbol}`,
  ]),
  ...[`/option/bars/US:${OPTION}/DAY/latest?limit=3`, `/option/bars/US:${OPTION}/60M/${range}`],
  ...[`/option/reference/US:${OPTION}`, '/option/search/stock/US:AAPL/call/moneyness/in_the_money'],
  ...['a', 'Name', 'Company'].map((words) => `/stock/reference/search?query=${words}`),
  '/crypto/bars/GLOBAL:BTCUSD/DAY/latest?limit=3',
  ...['US', 'UK'].map((country) => `/holiday/list?full_symbol=stock:${country}:*&${dates}`),
  '/holiday/holiday_codes/US',
  ...['/news/latest?full_symbol=stock:US:AAPL', '/news/latest?full_symbol=stock:US:*&limit=4'],
  `/economic_calendar/event_list?${dates}`,
  '/economic_calendar/event_list?country_iso_code=US&limit=3',
  ...['/economic_calendar/event?country_iso_code=US', '/economic_calendar/event?event_code=CODE_1'],
  '/economic_calendar/event_codes/US',
  ...['/server/runs?limit=5&sort=desc', '/server/address_info', '/stock/coverage'],
  '/stock/coverage?country_iso_code=US&interval=DAY&sort=desc&limit=1',
  '/stock/coverage/US:AAPL?interval=DAY&sort=desc&limit=50',
  '/stock/findings/US:MSFT?interval=DAY&sort=desc&limit=2',
];

export const holiday = (day: string, symbol: string, template = 'CLOSED'): Filling => {
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

export const action = (symbol: string, day: string, fields: FileRow): Filling => [
  'corporate-actions',
  [{ country_iso_code: 'US', symbol, ex_date: day, ...fields }],
];

export const split = (symbol: string, day: string, to: number): Filling =>
  action(symbol, day, { action_type: 'split', split_from: 1, split_to: to });

export const instrument = (symbol: string, fields: FileRow): Filling => [
  'instruments',
  [{ ...stock, symbol, ...fields }],
];

export const event = (code: string): Filling => [
  'economic-events',
  [
    {
      ...{ country_iso_code: 'US', event_code: code, event_name: `Event ${code}` },
      event_timestamp: '2025-05-20T12:00:00Z',
    },
  ],
];

/** Lets time pass after some of the changes. */
export function passTime(world: World, random: Random): void {
  if (random.chance(0.2)) world.nowMs += random.pick([MINUTE_MS, HOUR_MS, DAY_MS]);
}

type Change = (world: World, random: Random) => Promise<void>;

const someDay = (random: Random): string => `2025-05-${random.between(19, 30)}`;
const some = (random: Random): string => random.pick(symbols);
const price = (random: Random): number => 50 + random.below(100);

/** What is committed between the requests, each of one kind. */
export const changes: Readonly<Record<string, Change>> = {
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
  'a quote': async (world, random) => {
    const [, [row]] = contractOf('AAPL', '2025-06-06');
    await world.import(['option-contracts', [{ ...row, bid: random.between(1, 9) }]]);
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

/** The data before the first change. */
export async function fill(world: World): Promise<void> {
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
