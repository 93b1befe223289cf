// Both engines side by side: the same imports, corrections, deletions and undos, and between them the same
// requests and reads.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { diagnoseData } from '../../src/cli/commands/doctor.ts';
import { readHoldings } from '../../src/cli/commands/status.ts';
import { csv } from '../../src/queries/export/export-table.ts';
import { everything, exportTable } from '../../src/queries/export/tables.ts';
import { instrumentsIn, storeFindings } from '../../src/queries/findings/store-findings.ts';
import { RequestProblem } from '../../src/runs/recorded-write.ts';
import type { RequestHandler } from '../../src/serve/handler.ts';
import { issueKey, moveKey, noTerms } from '../../src/serve/keys/api-keys.ts';
import type { Quotas } from '../../src/serve/keys/quotas.ts';
import { readKeys } from '../../src/store/control.ts';
import { contentHash } from '../../src/store/copy.ts';
import { openControl, openStore } from '../../src/store/engines.ts';
import { fileDatasets } from '../../src/store/schema/index.ts';
import { apiKeys } from '../../src/store/schema/internal.ts';
import type { RowStore, Store } from '../../src/store/store.ts';
import type { Known } from '../fuzz/answers.ts';
import { ask, handlerOn, issueKeys, NOW_MS, pageKeysOf, quotasOn } from '../fuzz/in-process.ts';
import { Random } from '../fuzz/random.ts';
import { fillings } from '../fuzz/store.ts';
import { makeTrial, type Trial } from '../fuzz/trial.ts';
import { fillStore } from '../importing.ts';
import { patiently } from '../service.ts';
import { fileStore } from '../sqlite/files.ts';
import { type Change, changeOf, firstChanges } from './changes.ts';

/** Requests between two changes. */
const REQUESTS_A_CHANGE = 14;

/** Pages that are asked for behind an answer, and the rows of a short one. */
const PAGES = 2;
const SHORT_PAGE = 2;

/** Of the targets below so many are asked after a change, with all their pages up to a bound. */
const TARGETS_A_CHANGE = 6;
const ALL_PAGES = 8;

/** All that can be read beside the requests is compared after every so many changes. */
const CHANGES_A_READING = 10;

/** Requests with one key, more than its quota. */
const QUOTA = 5;
const QUOTA_REQUESTS = 8;

/** Every endpoint that reads the store. */
const targets = [
  '/api/v2/stock/bars/US:AAPL/1M/from/2025-03-03/to/2025-03-07?limit=70',
  '/api/v2/stock/bars/US:AAPL/5M/from/2025-03-03/to/2025-03-07?limit=9&is_eth=true&sort=desc',
  '/api/v2/stock/bars/US:AAPL/DAY/from/2025-03-01/to/2025-03-31?limit=2&adjust=all',
  '/api/v2/stock/bars/US:OLDCO/WEEK/from/2025-01-01/to/2025-03-31?limit=2',
  '/api/v2/stock/bars/US:NOBARS/60M/latest?limit=3',
  '/api/v2/stock/bars/US:OLDCO/1M/latest?limit=30&format=csv',
  '/api/v2/stock/bulk/bars/US/1M/from/2025-03-03/to/2025-03-07?format=csv',
  '/api/v2/stock/bulk/bars/US/1M/from/2025-03-03/to/2025-03-07?format=arrow',
  '/api/v2/stock/bulk/bars/US/DAY/from/2025-03-01/to/2025-03-31?format=arrow&adjust=all&symbols=AAPL,OLDCO,NOBARS',
  '/api/v2/stock/coverage?limit=2',
  '/api/v2/stock/coverage/US:AAPL?interval=1M&limit=2',
  '/api/v2/stock/coverage/US:OLDCO?interval=DAY&limit=3',
  '/api/v2/stock/findings/US:AAPL?limit=2',
  '/api/v2/stock/findings/US:NOBARS?limit=2',
  '/api/v2/server/runs?limit=4',
  '/api/v2/stock/reference/US:OLDCO',
  '/api/v2/stock/reference/search?query=company&limit=100',
  '/api/v2/stock/reference/search?query=N1&limit=7',
  '/api/v2/stock/stock_corporate_action/list/US:AAPL?from_date=1990-01-01&to_date=2025-12-31&limit=2',
  '/api/v2/news/list?from_date=2025-01-01&to_date=2025-12-31&limit=5',
  '/api/v2/news/latest?full_symbol=stock:US:*&limit=6',
  '/api/v2/option/search/stock/US:AAPL/call/moneyness/in_the_money?limit=3&sort_by=strike_price desc,symbol',
  '/api/v2/option/expiration_date_list/stock/US:AAPL',
  '/api/v2/holiday/list?full_symbol=stock:US:*&from_date=2025-01-01&to_date=2025-12-31&limit=5',
  '/api/v2/holiday/holiday_codes/US',
  '/api/v2/economic_calendar/event_list?from_date=2025-01-01&to_date=2025-12-31&limit=4',
  '/api/v2/economic_calendar/event?country_iso_code=US&event_code=ODD_ONE',
  '/api/v2/economic_calendar/event_codes/US',
  '/api/v2/economic_calendar/latest_event_list?date_type=historical&limit=5',
].map((target) => target.replaceAll(' ', '%20'));

/** Made by a process, which takes its time. */
const parquet = '/api/v2/stock/bulk/bars/US/1M/from/2025-03-03/to/2025-03-07?format=parquet';

/** Instants for `as_of`. */
const instants = ['2025-03-03T15:30:00Z', '2025-03-05', '2025-03-06T21:00:00Z', '2025-05-01'];

/** A store of one engine, and a request handler on it. */
class Side {
  readonly #url: string;
  readonly #store: Store;
  readonly #serving: Store;
  readonly #control: RowStore;
  readonly #folder: string;
  #quotas: Quotas;
  handler: RequestHandler;

  private constructor(url: string, stores: readonly [Store, Store], control: RowStore, folder: string) {
    this.#url = url;
    [this.#store, this.#serving] = stores;
    this.#control = control;
    this.#folder = folder;
    this.#quotas = quotasOn(control);
    this.handler = handlerOn(this.#serving, control, undefined, this.#quotas);
  }

  static async open(url: string, folder: string): Promise<Side> {
    await fillStore(url, folder, NOW_MS, fillings);
    const stores = [await openStore(url, 'write'), await openStore(url, 'serve')] as const;
    return new Side(url, stores, await openControl(url, 'write'), folder);
  }

  /** Issues keys here: those of the fuzzer, one that is pinned to an instant, and one that has a quota. */
  async issue() {
    const keys = await issueKeys(this.#control);
    const issue = async (name: string, terms: Partial<typeof noTerms>): Promise<string> =>
      (await issueKey(this.#control, name, { ...noTerms, ...terms }, NOW_MS)).secret;
    const pinned = await issue('pinned', { asOfMs: Date.parse('2025-03-04T15:20:00Z') });
    return { keys, pinned, limited: await issue('limited', { perMinute: QUOTA, perDay: 1_000 }) };
  }

  keys(): Promise<Awaited<ReturnType<typeof readKeys>>> {
    return readKeys(this.#control);
  }

  /** Takes the keys of the other side. */
  async takeKeys(other: Side): Promise<void> {
    const keys = await other.keys();
    await this.#control.write((writer) => writer.upsert(apiKeys, keys));
  }

  /** Moves the pinned key; another service then finds it where it is. */
  async movePinned(to: string): Promise<void> {
    const pinned = (await this.keys()).find(({ name }) => name === 'pinned')!;
    await moveKey(this.#control, pinned.key_id, Date.parse(to));
    await this.#quotas.close();
    this.#quotas = quotasOn(this.#control);
    this.handler = handlerOn(this.#serving, this.#control, undefined, this.#quotas);
  }

  /** Makes a change; what its report says, without times. */
  async make(change: Change): Promise<unknown> {
    try {
      return withoutTimes(await change(this.#store, this.#folder));
    } catch (error) {
      if (error instanceof RequestProblem) return error.message;
      throw error;
    }
  }

  version(): Promise<number | null> {
    return this.#store.version();
  }

  hash(): Promise<string> {
    return this.#store.snapshot(contentHash);
  }

  /**
   * What the commands say of the store: what exports write, what it holds, what checks find, and whether
   * every byte is sound.
   */
  async read(): Promise<Readonly<Record<string, unknown>>> {
    const found: Record<string, unknown> = { sound: await diagnoseData(this.#url) };
    const store = await openStore(this.#url, 'read');
    try {
      await store.snapshot(async (reader) => {
        for (const name of ['bars', ...fileDatasets.map((dataset) => dataset.name)]) {
          const table = await exportTable(reader, name, everything);
          const lines: string[] = [];
          for await (const { text } of table.lines(csv)) lines.push(text);
          found[`export ${name}`] = {
            lines,
            columns: table.columns.map(({ name: column }) => column),
            flags: table.flags,
          };
        }
        found.holdings = await readHoldings(reader);
        const findings: unknown[] = [];
        const nothing = (): void => undefined;
        const options = { nowMs: NOW_MS, onBars: nothing, onOthers: nothing, onDamage: nothing };
        for await (const one of storeFindings(reader, instrumentsIn(reader, {}), options)) findings.push(one);
        found.findings = findings;
      });
    } finally {
      await store.close();
    }
    return found;
  }

  async close(): Promise<void> {
    await this.#quotas.close();
    await this.#serving.close();
    await this.#store.close();
    await this.#control.close();
  }
}

const withoutTimes = (report: unknown): unknown =>
  JSON.parse(JSON.stringify(report, (name, value) => (/^duration|_ms$|Ms$/.test(name) ? 0 : value)));

/** A request identifier is another one in each answer. */
const withoutId = (text: string): string => text.replace(/"request_id":"[^"]*"/g, '"request_id":"…"');

/** What is asked of a handler. */
type Request = Pick<Trial, 'method' | 'target' | 'headers'>;

/**
 * What of an answer must be equal. On a busy machine the server may not answer in time: the refusal says to
 * ask again.
 */
async function answerOf(handler: RequestHandler, request: Request) {
  const reply = await patiently(async () => (await ask(handler, request as Trial)).reply);
  const { 'x-request-id': _, ...headers } = Object.fromEntries(reply.headers);
  return { status: reply.status, headers, body: withoutId(reply.body) };
}

type Answer = Awaited<ReturnType<typeof answerOf>>;

/** Keys of the next page in an answer. */
const nextPageOf = (body: string): string | null => /"next_page_key":"([^"]+)"/.exec(body)?.[1] ?? null;

const withParameter = (target: string, parameter: string): string =>
  `${target}${target.includes('?') ? '&' : '?'}${parameter}`;

/** The same request for its next page. */
const behind = (request: Request, key: string): Request => ({
  ...request,
  target: withParameter(request.target.replace(/&?next_page_key=[^&]*/g, ''), `next_page_key=${key}`),
});

/** The same request for short pages, where it has pages. */
function inShortPages(trial: Trial): Trial | null {
  if (Number.isNaN(trial.limit)) return null;
  const target = trial.target.replace(/(?<=[?&])(limit|next_page_key)=[^&]*&?/g, '').replace(/[?&]$/, '');
  return { ...trial, target: withParameter(target, `limit=${SHORT_PAGE}`) };
}

/** The same request without a page key, which is of another state, as of a version or an instant. */
function pinnedTo<R extends Request>(request: R, parameter: string): R {
  const target = request.target.replace(/(?<=[?&])next_page_key=[^&]*&?/g, '').replace(/[?&]$/, '');
  return { ...request, target: withParameter(target, parameter) };
}

/** What a comparison counts. */
export type Compared = {
  requests: number;
  good: number;
  pages: number;
  changes: number;
  writes: number;
  /** Good answers from an earlier version, as of an instant, and of bars in bulk. */
  versions: number;
  instants: number;
  bulk: number;
  /** All that commands read. */
  readings: number;
};

/**
 * Two sides, and what was compared of them. @throws at the first difference, with all that is needed to make
 * it again
 */
class Comparison {
  readonly compared: Compared = {
    ...{
      requests: 0,
      good: 0,
      pages: 0,
      changes: 0,
      writes: 0,
      versions: 0,
      instants: 0,
      bulk: 0,
      readings: 0,
    },
  };
  readonly #one: Side;
  readonly #other: Side;
  readonly #liveKey: string;
  readonly #versions: number[] = [];

  constructor(one: Side, other: Side, liveKey: string) {
    [this.#one, this.#other, this.#liveKey] = [one, other, liveKey];
  }

  async same(request: Request, what: string): Promise<Answer> {
    const [answer, beside] = await Promise.all([
      answerOf(this.#one.handler, request),
      answerOf(this.#other.handler, request),
    ]);
    assert.deepEqual(beside, answer, `${what}: ${request.method} ${request.target}`);
    this.compared.requests++;
    if (answer.status === 200) {
      this.compared.good++;
      if (/[?&]data_version=/.test(request.target)) this.compared.versions++;
      if (/[?&]as_of=/.test(request.target)) this.compared.instants++;
      if (request.target.includes('/bulk/')) this.compared.bulk++;
    }
    return answer;
  }

  /** Asks for a page and those behind it. Gives whether the first is good. */
  async walk(request: Request, pages: number, what: string): Promise<boolean> {
    const first = await this.same(request, what);
    let key = nextPageOf(first.body);
    for (let page = 0; page < pages && key !== null; page++, this.compared.pages++)
      key = nextPageOf((await this.same(behind(request, key), what)).body);
    return first.status === 200;
  }

  /** A random request; where it is good also in short pages, of an earlier version and as of an instant. */
  async try(random: Random, known: Known, what: string): Promise<void> {
    const trial = makeTrial(random, known);
    if (!(await this.walk(trial, PAGES, what))) return;
    const short = inShortPages(trial);
    if (short !== null) await this.walk(short, PAGES, what);
    if (random.chance(0.5)) await this.walk(this.#pinned(random, short ?? trial), PAGES, what);
  }

  #pinned<R extends Request>(random: Random, request: R): R {
    return random.chance(0.6) && this.#versions.length > 0
      ? pinnedTo(request, `data_version=${random.pick(this.#versions)}`)
      : pinnedTo(request, `as_of=${random.pick(instants)}`);
  }

  /** Asks for all pages of some targets, now, of an earlier version, and as of an instant. */
  async askTargets(random: Random, what: string): Promise<void> {
    for (const target of random.shuffle(targets).slice(0, TARGETS_A_CHANGE)) {
      const request = this.request(target);
      await this.walk(random.chance(0.3) ? request : this.#pinned(random, request), ALL_PAGES, what);
    }
  }

  request(target: string, key = this.#liveKey): Request {
    return { method: 'GET', target, headers: { host: 'localhost', authorization: `Bearer ${key}` } };
  }

  async change(change: Change, what: string): Promise<void> {
    const version = await this.#one.version();
    if (version !== null) this.#versions.push(version);
    const [report, beside] = [await this.#one.make(change), await this.#other.make(change)];
    assert.deepEqual(beside, report, what);
    assert.equal(await this.#other.hash(), await this.#one.hash(), what);
    assert.equal(await this.#other.version(), await this.#one.version(), what);
    this.compared.changes++;
    if (typeof report !== 'string') this.compared.writes++;
    if (this.compared.changes % CHANGES_A_READING === 1) await this.read(what);
  }

  async read(what: string): Promise<void> {
    const [found, beside] = [await this.#one.read(), await this.#other.read()];
    for (const name of Object.keys(found)) assert.deepEqual(beside[name], found[name], `${what}: ${name}`);
    await this.same(this.request(parquet), what);
    this.compared.readings++;
  }
}

/**
 * The same requests and changes on a new store in a folder and an empty one in PostgreSQL.
 * @throws at the first difference, with all that is needed to make it again
 */
export async function compareEngines(
  url: string,
  folder: string,
  { seed, count }: { readonly seed: number; readonly count: number },
): Promise<Compared> {
  const one = await Side.open(fileStore(join(folder, 'lite.db')), folder);
  const other = await Side.open(url, folder);
  try {
    const { keys, pinned, limited } = await one.issue();
    await other.takeKeys(one);
    const pageKeys = await pageKeysOf(one.handler, keys);
    assert.deepEqual(await pageKeysOf(other.handler, keys), pageKeys);
    const comparison = new Comparison(one, other, keys.liveKey);
    const { compared } = comparison;
    const changes = [...firstChanges];
    for (let index = 0; compared.requests < count; index++) {
      const what = `seed ${seed}, step ${index}`;
      const random = new Random(seed, index);
      if (index % REQUESTS_A_CHANGE !== REQUESTS_A_CHANGE - 1)
        await comparison.try(random, { ...keys, pageKeys }, what);
      else {
        await comparison.change(changes.shift() ?? changeOf(new Random(seed + 1, index)), what);
        await comparison.askTargets(random, what);
      }
    }
    await comparison.read(`seed ${seed}, at the end`);
    for (const key of [pinned, limited])
      for (let times = 0; times < QUOTA_REQUESTS; times++)
        await comparison.walk(comparison.request(targets[times]!, key), 0, 'keys of other terms');
    for (const side of [one, other]) await side.movePinned('2025-03-06T15:00:00Z');
    assert.deepEqual(await other.keys(), await one.keys());
    for (const target of targets)
      await comparison.walk(comparison.request(target, pinned), 1, 'a key that was moved');
    return compared;
  } finally {
    for (const side of [one, other]) await side.close();
  }
}
