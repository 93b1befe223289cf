// Lists and records over a store of the size that they are designed for: the warm ones against a constant Buffer, the others by their time.
import assert from 'node:assert/strict';
import { formatDay } from '../src/base/instant.ts';
import { judged, type Line, median } from './line.ts';
import {
  ACTION_STOCKS,
  DAYS,
  eventCodes,
  eventCountries,
  FIRST_DAY,
  INSTRUMENTS,
  LISTS_VERSION,
  makeListStore,
  nameOf,
  UNDERLYINGS,
} from './list-store.ts';
import { CONNECTIONS_MANY, load, writeTargets } from './load.ts';
import { random, symbolOf } from './minutes.ts';
import { bourse, type Running, script, startServer, workerCpuUs } from './process.ts';
import { type Options, tell } from './workshop.ts';

const WARM_UP_SECONDS = 1;
const LIMIT = 100;
/** Of most kinds so many different requests are made. */
const VARIETY = 200;
/** Walks to a later page, of each kind: more rows than SQLite keeps pages of. */
const WALKS = 24;
const WALK_LIMIT = 1_000;
const LATE_PAGE = 500;
const LATE_SEARCH_PAGE = 50;

/** Paths and queries, without the key. */
type Kind = { readonly name: string; readonly targets: readonly string[] };
/** A kind that is timed alone, and what it may take. */
type Timed = Kind & { readonly atMostMs: number; readonly like?: string };

const next = random(23);
const below = (count: number): number => Math.floor(next() * count);
const some = <T>(values: readonly T[]): T => values[below(values.length)]!;
const variety = (make: () => string, count = VARIETY): string[] => Array.from({ length: count }, make);
const dayAt = (offset: number): string => formatDay(FIRST_DAY + offset);

const stock = (count: number): string => `US:${symbolOf(below(count))}`;

const warmKinds = (): Kind[] => [
  {
    name: 'reference record',
    targets: variety(() => `/api/v2/stock/reference/${stock(INSTRUMENTS)}`),
  },
  {
    name: 'expiration list',
    targets: variety(() => `/api/v2/option/expiration_date_list/stock/${stock(UNDERLYINGS)}`),
  },
  {
    name: 'holiday list of a year',
    targets: Array.from({ length: 26 }, (_, index) => {
      const year = 2001 + index;
      return `/api/v2/holiday/list?full_symbol=stock:US:*&from_date=${year}-01-01&to_date=${year}-12-31`;
    }),
  },
];

const searchKinds = (): Timed[] => {
  const search = (text: string, limit: number): string =>
    `/api/v2/stock/reference/search?query=${encodeURIComponent(text)}&limit=${limit}`;
  const wordOf = (at: number): string => nameOf(below(INSTRUMENTS)).split(' ')[at]!.toLowerCase();
  const beginnings = (limit: number) => () =>
    search(symbolOf(below(INSTRUMENTS)).slice(0, 2 + below(3)), limit);
  return [
    { name: 'instrument search, beginning of a symbol', targets: variety(beginnings(20)), atMostMs: 5 },
    {
      name: 'instrument search, beginning of a symbol, limit 100',
      targets: variety(beginnings(100), 2_000),
      atMostMs: 5,
    },
    { name: 'instrument search, a word', targets: variety(() => search(wordOf(2), 20)), atMostMs: 5 },
    {
      name: 'instrument search, two words out of order',
      targets: variety(() => search(`${wordOf(2)} ${wordOf(0)}`, 20)),
      atMostMs: 5,
    },
  ];
};

/** All 10,000 calls of the first underlying are in the money. */
const optionTargets = (sort: string): string[] =>
  variety(
    () =>
      `/api/v2/option/search/stock/US:${symbolOf(0)}/call/moneyness/in_the_money?ref_asset_price=${300 + below(4_000) / 10}&limit=${LIMIT}${sort}`,
  );

const newsTargets = (symbol: string | null, sort: 'asc' | 'desc'): string[] =>
  variety(() => {
    const offset = below(600);
    const range =
      sort === 'asc'
        ? `from_date=${dayAt(offset)}&to_date=${dayAt(DAYS)}`
        : `from_date=${dayAt(0)}&to_date=${dayAt(DAYS - offset)}`;
    return `/api/v2/news/list?${symbol === null ? '' : `full_symbol=stock:US:${symbol}&`}${range}&sort=${sort}&limit=${LIMIT}`;
  });

const actionKinds = (): Timed[] => {
  const actions = (type: string) =>
    variety(
      () =>
        `/api/v2/stock/stock_corporate_action/list/${stock(ACTION_STOCKS)}?from_date=${2000 + below(5)}-01-01${type}&limit=${LIMIT}`,
      2_000,
    );
  return [
    { name: 'corporate actions of a stock', targets: actions(''), atMostMs: 2 },
    { name: 'corporate actions of a stock, splits', targets: actions('&action_type=split'), atMostMs: 2 },
  ];
};

const eventKinds = (): Timed[] => {
  const events = (filters: () => string, sort = 'asc') =>
    variety(
      () =>
        `/api/v2/economic_calendar/event_list?from_date=${dayAt(below(2_000))}&sort=${sort}&limit=${LIMIT}${filters()}`,
    );
  const country = () => `&country_iso_code=${some(eventCountries)}`;
  const code = () => `&event_code=${some(eventCodes)}`;
  const impact = () => `&impact=${some(['low', 'medium', 'high'])}`;
  return (
    [
      ['', () => ''],
      [' of a country', country],
      [' of a code', code],
      [' of an impact', impact],
      [' of a country and a code', () => country() + code()],
      [' of a country and an impact', () => country() + impact()],
      [' of a code and an impact', () => code() + impact()],
      [' of all three', () => country() + code() + impact()],
    ] as const
  ).map(([name, filters]) => ({ name: `events${name}`, targets: events(filters), atMostMs: 2 }));
};

/** The caller of one server. */
class Caller {
  readonly #server: Running;
  readonly #secret: string;

  constructor(server: Running, secret: string) {
    this.#server = server;
    this.#secret = secret;
  }

  /** A target with the key. */
  signed(target: string): string {
    return `${target}${target.includes('?') ? '&' : '?'}secret_key=${this.#secret}`;
  }

  /** Bytes and result of an answer that is as it should be. */
  async ask(target: string): Promise<{ bytes: number; text: string }> {
    const response = await fetch(this.#server.url + this.signed(target));
    const text = await response.text();
    assert.equal(response.status, 200, `${target}: ${text.slice(0, 500)}`);
    return { bytes: Buffer.byteLength(text), text };
  }

  /** The target of the page of that number of the walk that another one begins. */
  async later(target: string, page: number): Promise<string> {
    let at = target;
    for (let passed = 0; passed < (page - 1) * LIMIT; ) {
      const limit = (page - 1) * LIMIT - passed >= WALK_LIMIT ? WALK_LIMIT : LIMIT;
      const { text } = await this.ask(at.replace(`limit=${LIMIT}`, `limit=${limit}`));
      const { next_page_key: key } = (JSON.parse(text) as { result: { next_page_key: string | null } })
        .result;
      assert.ok(key !== null, `${at} is the last page`);
      passed += limit;
      at = `${target}&next_page_key=${key}`;
    }
    return at;
  }
}

/** A kind's first page and a later one, which may take little more. */
async function paged(
  caller: Caller,
  { name, targets }: Kind,
  page: number,
  atMostMs: number,
): Promise<Timed[]> {
  const late: string[] = [];
  for (const target of targets.slice(0, WALKS)) late.push(await caller.later(target, page));
  return [
    { name: `${name}, page 1`, targets: targets.slice(0, WALKS), atMostMs },
    { name: `${name}, page ${page}`, targets: late, atMostMs, like: `${name}, page 1` },
  ];
}

async function timedKinds(caller: Caller): Promise<Timed[]> {
  const kinds: Timed[] = [...searchKinds(), ...actionKinds(), ...eventKinds()];
  for (const [name, sort] of [
    ['', ''],
    [', sorted by two fields', '&sort_by=strike_price desc,expiration_date'.replaceAll(' ', '%20')],
  ] as const) {
    const kind = { name: `option search${name}`, targets: optionTargets(sort) };
    kinds.push(...(await paged(caller, kind, LATE_SEARCH_PAGE, 5)));
  }
  for (const [of, symbol] of [
    ['a stock', symbolOf(0)],
    ['a market', '*'],
    ['everything', null],
  ] as const) {
    for (const sort of ['asc', 'desc'] as const) {
      const kind = { name: `news of ${of}, ${sort}`, targets: newsTargets(symbol, sort) };
      kinds.push(...(await paged(caller, kind, LATE_PAGE, 2)));
    }
  }
  return kinds;
}

type Figure = { readonly ms: number; readonly requestsPerSecond: number; readonly queryUs: number };

/** One round of one kind. */
async function round(
  options: Options,
  server: Running,
  lua: string,
  seed: number,
  connections: number,
): Promise<Figure> {
  const before = workerCpuUs(server.pid);
  const { requests, requestsPerSecond, p50Us } = await load(
    options.workshop.folder,
    lua,
    server.url,
    options.seconds,
    seed,
    connections,
  );
  const queryUs = (workerCpuUs(server.pid) - before) / requests;
  return { ms: p50Us / 1000, requestsPerSecond, queryUs };
}

const middle = (figures: readonly Figure[], name: keyof Figure): number =>
  median(figures.map((figure) => figure[name]));

/** Rounds of kinds, interleaved: figures of each by its name. */
async function measure(
  options: Options,
  kinds: readonly { name: string; server: Running; lua: string }[],
  connections: number,
): Promise<ReadonlyMap<string, Figure[]>> {
  const figures = new Map<string, Figure[]>(kinds.map(({ name }) => [name, []]));
  const { folder } = options.workshop;
  for (const { server, lua } of kinds) await load(folder, lua, server.url, WARM_UP_SECONDS, 1, connections);
  for (let at = 0; at < options.rounds; at++) {
    for (const { name, server, lua } of kinds) {
      const figure = await round(options, server, lua, at + 2, connections);
      figures.get(name)!.push(figure);
      tell(
        `lists ${at + 1}/${options.rounds} ${name}: p50 ${figure.ms.toFixed(2)} ms, ${figure.requestsPerSecond.toFixed(0)} requests/s, query thread ${figure.queryUs.toFixed(0)} us`,
      );
    }
  }
  return figures;
}

/** Warm answers, each beside a constant Buffer of its size. */
async function warmLines(options: Options, server: Running, caller: Caller): Promise<Line[]> {
  const { folder } = options.workshop;
  const lines: Line[] = [];
  for (const { name, targets } of warmKinds()) {
    const { bytes } = await caller.ask(targets[0]!);
    const args = [...script(import.meta.resolve('./constant-server.ts')), '--bytes', String(bytes)];
    const constant = await startServer(folder, process.execPath, args);
    const lua = writeTargets(
      folder,
      name.replaceAll(' ', '-'),
      targets.map((target) => caller.signed(target)),
    );
    const kinds = [
      { name, server, lua },
      { name: 'constant', server: constant, lua },
    ];
    const figures = await measure(options, kinds, CONNECTIONS_MANY);
    await constant.stop();
    const [own, others] = [figures.get(name)!, figures.get('constant')!];
    const ratios = own.map((figure, at) => figure.requestsPerSecond / others[at]!.requestsPerSecond);
    lines.push(
      judged({
        line: `lists: ${name}, warm, ${bytes} bytes`,
        measured: middle(own, 'requestsPerSecond'),
        unit: 'requests/s',
        ratio: { value: median(ratios), to: 'one constant Buffer' },
        queryUs: middle(own, 'queryUs'),
        budget: { atLeast: 0.5 },
      }),
    );
  }
  return lines;
}

/** The others, one request at a time. */
async function timedLines(options: Options, server: Running, caller: Caller): Promise<Line[]> {
  const kinds = await timedKinds(caller);
  const { folder } = options.workshop;
  const asked = kinds.map(({ name, targets }, at) => ({
    name,
    server,
    lua: writeTargets(
      folder,
      `timed-${at}`,
      targets.map((target) => caller.signed(target)),
    ),
  }));
  const figures = await measure(options, asked, 1);
  return kinds.flatMap(({ name, atMostMs, like }) => {
    const own = figures.get(name)!;
    const line = `lists: ${name}`;
    const figure = { line, measured: middle(own, 'ms'), unit: 'ms', queryUs: middle(own, 'queryUs') };
    const lines = [judged({ ...figure, ratio: null, budget: { atMost: atMostMs } })];
    if (like === undefined) return lines;
    const ratios = figures.get(like)!.map((figure, at) => own[at]!.ms / figure.ms);
    const ratio = { value: median(ratios), to: 'page 1' };
    lines.push(judged({ ...figure, ratio, budget: { atMost: 1.2 } }));
    return lines;
  });
}

/** The lines of `lists`. */
export async function benchLists(options: Options): Promise<Line[]> {
  const { workshop, news } = options;
  const store = workshop.keptStore(`lists-${LISTS_VERSION}-${news}`);
  await makeListStore(store.path, news);
  const { stdout: secret } = await store.bourse('keys', 'create', 'bench');
  const args = ['serve', '--store', store.url, '--log-level', 'silent'];
  const server = await startServer(workshop.folder, bourse, args);
  const caller = new Caller(server, secret);
  const lines = [
    ...(await warmLines(options, server, caller)),
    ...(await timedLines(options, server, caller)),
  ];
  await server.stop();
  return lines;
}
