// Coverage by session, against counts of what was done; the sessions are written down here (contract 9.9).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { parseDay, parseInstant } from '../src/base/instant.ts';
import { parseParameters } from '../src/contract/endpoint.ts';
import { contract, type Endpoint } from '../src/contract/index.ts';
import { interval as intervalOf } from '../src/contract/interval.ts';
import { importFile } from '../src/imports/load/importers.ts';
import { calendarOf } from '../src/market/calendar/calendar.ts';
import { QueryRunner } from '../src/queries/index.ts';
import { deleteBars } from '../src/runs/delete-bars.ts';
import { undoRun } from '../src/runs/undo-run.ts';
import type { Store } from '../src/store/store.ts';
import type { Deletion, FileRun } from './covered/facts.ts';
import { Oracle } from './covered/oracle.ts';
import { Random } from './fuzz/random.ts';
import { opened } from './importing.ts';
import { seed } from './seed.ts';
import { openToWrite, TestFolder } from './stores.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

type Row = Readonly<Record<string, unknown>>;
type Page = { readonly next_page_key: string | null; readonly data: readonly Row[] };
type Texts = Readonly<Record<string, string>>;

const folders: TestFolder[] = [];
const closers: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closers) await close();
  for (const folder of folders) folder.close();
});

const isoOf = (ms: number): string => new Date(ms).toISOString();
const instant = (ms: number): string => `${isoOf(ms).slice(0, 19)}+00:00`;
const minutesFrom = (open: string, count: number): number[] =>
  Array.from({ length: count }, (_, at) => Date.parse(open) + at * MINUTE_MS);

/** A store at one moment. */
class World {
  nowMs: number;
  readonly #folder = new TestFolder();
  readonly #schema: string;
  readonly #country: string;
  #store!: Store;
  #runner!: QueryRunner;

  private constructor(now: string, schema: string, country: string) {
    this.nowMs = Date.parse(now);
    this.#schema = schema;
    this.#country = country;
    folders.push(this.#folder);
  }

  static async open(now: string, schema = 'stock', country = 'US'): Promise<World> {
    const world = new World(now, schema, country);
    world.#store = await openToWrite(world.#folder.storeUrl());
    world.#runner = new QueryRunner(world.#store, new Uint8Array(32).fill(7));
    closers.push(() => world.#store.close());
    return world;
  }

  /** Imports bars of one interval, by symbol; the run. */
  async import(
    bars: Readonly<Record<string, readonly number[]>>,
    interval = '1M',
    price = 10,
  ): Promise<number> {
    const path = this.#folder.path('bars.csv');
    const lines = Object.entries(bars).flatMap(([symbol, opens]) =>
      opens.map((ms) => {
        const time = interval === 'DAY' ? isoOf(ms).slice(0, 10) : isoOf(ms);
        return [symbol, time, price, price, price, price].join();
      }),
    );
    writeFileSync(path, `symbol,datetime,open,high,low,close\n${lines.join('\n')}\n`);
    const file = await opened(path);
    const flags = new Map([
      ['asset_schema', this.#schema],
      ['country_iso_code', this.#country],
      ['interval', interval],
    ]);
    const report = await importFile(this.#store, 'bars', {
      ...{ file, flags, source: null, dryRun: false, zone: null, basis: 'raw', nowMs: () => this.nowMs },
    });
    await file.close();
    assert.equal(report.rowsRefused, 0, JSON.stringify(report.refused));
    return report.runId!;
  }

  /** Deletes the minutes of a date; the run. */
  async delete(symbol: string, date: string): Promise<number> {
    const day = parseInstant(date)!;
    const choice = { assetSchema: 'stock' as const, country: this.#country, symbol, words: symbol };
    const range = { from: day, to: day, interval: intervalOf('1M'), dryRun: false };
    return (await deleteBars(this.#store, { ...choice, ...range, nowMs: () => this.nowMs })).runId!;
  }

  async undo(runId: number): Promise<void> {
    await undoRun(this.#store, { runId, dryRun: false, nowMs: () => this.nowMs });
  }

  async ask(symbol: string, texts: Texts = {}) {
    const declared: Endpoint = contract.sessionCoverage;
    const named = { schema_asset: this.#schema, country_symbol: `${this.#country}:${symbol}`, ...texts };
    const parameters = parseParameters(declared, new Map(Object.entries(named)));
    const { nowMs } = this;
    return this.#runner.run({ endpoint: 'sessionCoverage', parameters, nowMs, wrapCsv: false });
  }

  async page(symbol: string, texts: Texts): Promise<Page> {
    const answer = await this.ask(symbol, texts);
    if (answer.kind === 'refusal') assert.fail(answer.facts.message);
    return (JSON.parse(Buffer.from(answer.body).toString()) as { result: Page }).result;
  }

  /** The whole list, some sessions a page. */
  async list(symbol: string, texts: Texts = {}, limit = 4): Promise<Row[]> {
    const found: Row[] = [];
    for (let key: string | null = ''; key !== null; ) {
      const { data, next_page_key }: Page = await this.page(symbol, {
        ...texts,
        limit: `${limit}`,
        next_page_key: key,
      });
      assert.ok(data.length > 0 || (key === '' && next_page_key === null), 'no page is empty');
      found.push(...data);
      key = next_page_key;
    }
    return found;
  }

  /** Some fields of each session. */
  async brief(symbol: string, fields: readonly string[], texts: Texts = {}): Promise<unknown[][]> {
    return (await this.list(symbol, texts)).map((row) => fields.map((field) => row[field]));
  }
}

/** Sessions of New York by date and open, around the change to summer time of 10 March 2024. */
const SESSIONS: readonly (readonly [date: string, openMs: number])[] = [
  ...['04', '05', '06', '07', '08'].map((day) => [`2024-03-${day}`, '14:30'] as const),
  ...['11', '12', '13', '14', '15'].map((day) => [`2024-03-${day}`, '13:30'] as const),
].map(([date, open]) => [date, Date.parse(`${date}T${open}:00Z`)]);

const REGULAR_MS = 390 * MINUTE_MS;
/** From the open to the end of the post-market. */
const TO_END_MS = 10.5 * HOUR_MS;
const PRE_MS = 5.5 * HOUR_MS;

const usStocks = calendarOf('stock', 'US');

const isOf = (ms: number, [, openMs]: (typeof SESSIONS)[number]): boolean =>
  ms >= openMs - PRE_MS && ms < openMs + TO_END_MS;

/** The most sessions around one that say whether a series trades on most of them, and their share. */
const AROUND = 20;
const SHARE = 0.8;

/** What must be stored, and the runs as a direct reading of contract 3.9 wants them (`covered/oracle.ts`). */
class Model {
  readonly bars = new Map<string, Set<number>>();
  readonly runs: { readonly run: FileRun | Deletion; isUndone: boolean }[] = [];
  #known: { readonly state: string; readonly oracle: Oracle } | null = null;

  /** What the runs say. */
  get oracle(): Oracle {
    const state = this.runs.map(({ isUndone }) => Number(isUndone)).join('');
    const known = {
      market: 'stock',
      calendar: usStocks,
      listing: null,
      delisting: null,
      isInactive: false,
    } as const;
    if (this.#known?.state !== state)
      this.#known = { state, oracle: new Oracle({ runs: [...this.runs], instrumentOf: () => known }) };
    return this.#known.oracle;
  }

  of(symbol: string): Set<number> {
    const known = this.bars.get(symbol) ?? new Set();
    this.bars.set(symbol, known);
    return known;
  }

  hasIn(symbol: string, session: (typeof SESSIONS)[number]): boolean {
    return [...this.of(symbol)].some((ms) => isOf(ms, session));
  }

  /** The place in the list of sessions of the first or the last bar. */
  at(symbol: string, end: 'first' | 'last'): number {
    const all = [...this.of(symbol)];
    const ms = end === 'first' ? Math.min(...all) : Math.max(...all);
    return SESSIONS.findIndex((session) => isOf(ms, session));
  }

  /** True if a time of a session is covered for a symbol, by default its regular hours. */
  isCovered(
    symbol: string,
    [date, openMs]: (typeof SESSIONS)[number],
    [fromMs, toMs] = [openMs, openMs + REGULAR_MS],
  ): boolean {
    const session = usStocks.sessionOn(parseDay(date)!)!;
    return this.oracle.isCovered(symbol, '1M', session, [{ fromMs, toMs }]);
  }

  /** Whether a session without a bar is a `missing_session` (contract 9.10). */
  isMissing(symbol: string, at: number): boolean {
    const [first, last] = [this.at(symbol, 'first'), this.at(symbol, 'last')];
    if (at <= first || at >= last) return false;
    const has = SESSIONS.map((session) => this.hasIn(symbol, session));
    let [from, to] = [at, at + 1];
    while (!has[from - 1]) from--;
    while (!has[to]) to++;
    const others = [...this.bars.keys()].filter((one) => one !== symbol);
    const own = has.slice(first, last + 1);
    const outside = [...own.slice(0, from - first), ...own.slice(to - first)];
    assert.ok(outside.length <= AROUND, 'all of them are around');
    return (
      outside.filter(Boolean).length >= SHARE * outside.length &&
      others.some((one) => this.hasIn(one, SESSIONS[at]!))
    );
  }

  /** The list as it must be, with cells of so many minutes; `null` cells: days. */
  expected(symbol: string, cell: number | null): Row[] {
    if (this.of(symbol).size === 0) return [];
    const last = this.at(symbol, 'last');
    const reached = [...this.bars.keys()]
      .filter((one) => this.of(one).size > 0)
      .map((one) => this.at(one, 'last'))
      .sort((a, b) => b - a);
    const half = reached[Math.ceil(reached.length / 2) - 1]!;
    return SESSIONS.slice(this.at(symbol, 'first')).map((session, index) => {
      const at = this.at(symbol, 'first') + index;
      const [date, openMs] = session;
      const size = cell ?? 390;
      const isCovered = this.isCovered(symbol, session);
      // A bar that is made of minutes is there once its time is covered.
      const cells = Array.from({ length: 390 / size }, (_, place) => {
        const [fromMs, toMs] = [place, place + 1].map((at) => openMs + at * size * MINUTE_MS) as [
          number,
          number,
        ];
        const hasBars = [...this.of(symbol)].some((ms) => ms >= fromMs && ms < toMs);
        return hasBars && (cell === 1 || this.isCovered(symbol, session, [fromMs, toMs]));
      });
      const filled = cells.flatMap((isFilled, place) =>
        isFilled ? [openMs + place * size * MINUTE_MS] : [],
      );
      const gaps = cells
        .map((isFilled) => (isFilled ? '1' : '0'))
        .join('')
        .split('1');
      const empty = at <= Math.max(last, half) ? 'missing' : 'pending';
      return {
        session_date: date,
        source: cell === 1 ? 'stored' : 'derived',
        condition: this.hasIn(symbol, session)
          ? isCovered
            ? 'available'
            : 'pending'
          : isCovered && !this.isMissing(symbol, at)
            ? 'untraded'
            : empty,
        bars: filled.length,
        expected_bars: cells.length,
        first_datetime: filled.length > 0 ? instant(filled[0]!) : null,
        last_datetime: filled.length > 0 ? instant(filled.at(-1)!) : null,
        longest_gap_minutes: cell === null ? null : Math.max(...gaps.map((gap) => gap.length)) * size,
      };
    });
  }
}

function withoutRun(row: Row): Row {
  const { interval: _, run_id: __, file: ___, last_modified_date: ____, ...rest } = row;
  return rest;
}

test('sessions equal a direct count after random imports, corrections, deletions and undos (contract 9.9, 3.4, 3.9, 4.1)', async () => {
  const random = new Random(seed);
  const world = await World.open('2024-03-16T12:00:00Z');
  const model = new Model();
  const symbols = ['A', 'B', 'C', 'D', 'E'];
  const done: { readonly id: number; readonly undo: () => void }[] = [];
  // After more steps sessions are so full that a gap in one is a finding, which the model does not know.
  for (let step = 1; step <= 40; step++) {
    const newest = done.at(-1);
    if (random.chance(0.2) && newest !== undefined) {
      await world.undo(newest.id);
      newest.undo();
      done.pop();
    } else if (random.chance(0.25)) {
      const [symbol, [date, openMs]] = [random.pick(symbols), random.pick(SESSIONS)];
      const gone = [...model.of(symbol)].filter((ms) => isOf(ms, [date, openMs]));
      if (gone.length === 0) continue;
      const id = await world.delete(symbol, date);
      for (const ms of gone) model.of(symbol).delete(ms);
      const day = parseDay(date)!;
      const range = { fromDay: day, toDay: day };
      const entry = {
        run: { kind: 'deletion', symbol, interval: '1M', range } as const,
        isUndone: false,
      };
      model.runs.push(entry);
      done.push({
        id,
        undo() {
          for (const ms of gone) model.of(symbol).add(ms);
          entry.isUndone = true;
        },
      });
    } else {
      const chosen = symbols.filter(() => random.chance(0.6));
      if (chosen.length === 0) continue;
      const bars = Object.fromEntries(
        chosen.map((symbol) => [
          symbol,
          [
            ...new Set(
              Array.from({ length: random.between(1, 4) }, () => {
                const [, openMs] = random.pick(SESSIONS);
                // Some before the open, some after the close.
                return Array.from({ length: 6 }, () => openMs + (random.below(480) - 60) * MINUTE_MS);
              }).flat(),
            ),
          ],
        ]),
      );
      const id = await world.import(bars, '1M', 100 + step);
      const added = chosen.flatMap((symbol) =>
        bars[symbol]!.filter((ms) => !model.of(symbol).has(ms)).map((ms) => [symbol, ms] as const),
      );
      for (const symbol of chosen) for (const ms of bars[symbol]!) model.of(symbol).add(ms);
      const entry = {
        run: {
          ...({ kind: 'file', command: step, startMs: world.nowMs, interval: '1M', zone: null } as const),
          bars: chosen.flatMap((symbol) =>
            bars[symbol]!.map((keyMs) => ({ symbol, keyMs, price: 100 + step })),
          ),
          ...{ named: [], fromMs: null, throughMs: null, sha: `file ${step}` },
        },
        isUndone: false,
      };
      model.runs.push(entry);
      done.push({
        id,
        undo() {
          for (const [symbol, ms] of added) model.of(symbol).delete(ms);
          entry.isUndone = true;
        },
      });
    }
    for (const symbol of symbols) {
      if (![...model.bars.values()].some(({ size }) => size > 0)) continue;
      const answer = await world.ask(symbol);
      if (answer.kind === 'refusal') continue;
      for (const [interval, cell] of [
        ['1M', 1],
        ['30M', 30],
        ['DAY', null],
      ] as const) {
        const expected = model.expected(symbol, cell);
        const sort = random.pick(['asc', 'desc']);
        const found = (await world.list(symbol, { interval, sort })).map(withoutRun);
        const wanted = sort === 'asc' ? expected : expected.toReversed();
        assert.deepEqual(found, wanted, `step ${step}, ${symbol} ${interval}`);
      }
    }
  }
});

test('an early close and a holiday count as the calendar has them, extended hours not (contract 9.9, 3.4)', async () => {
  const world = await World.open('2024-07-06T12:00:00Z');
  const early = minutesFrom('2024-07-03T13:30:00Z', 210);
  // The post-market of the early close, the pre-market of the next session.
  const extended = [...minutesFrom('2024-07-03T17:00:00Z', 30), ...minutesFrom('2024-07-05T12:00:00Z', 30)];
  await world.import({ A: [...minutesFrom('2024-07-02T13:30:00Z', 390), ...early, ...extended] });
  const fields = [
    'session_date',
    'condition',
    'bars',
    'expected_bars',
    'longest_gap_minutes',
    'last_datetime',
  ];
  assert.deepEqual(await world.brief('A', fields), [
    ['2024-07-02', 'available', 390, 390, 0, '2024-07-02T19:59:00+00:00'],
    ['2024-07-03', 'available', 210, 210, 0, '2024-07-03T16:59:00+00:00'],
    // Its bars are those of its pre-market.
    ['2024-07-05', 'available', 0, 390, 390, null],
  ]);
});

test('days of cryptocurrencies are UTC days; futures have no gap in their pause (contract 9.9, 3.7)', async () => {
  const coins = await World.open('2024-03-12T00:30:00Z', 'crypto', 'GLOBAL');
  await coins.import({ COIN: minutesFrom('2024-03-10T12:00:00Z', 1440) });
  const fields = ['session_date', 'condition', 'bars', 'expected_bars', 'longest_gap_minutes'];
  assert.deepEqual(await coins.brief('COIN', fields), [
    // The file begins in the middle of its first day.
    ['2024-03-10', 'pending', 720, 1440, 720],
    ['2024-03-11', 'available', 720, 1440, 720],
    ['2024-03-12', 'pending', 0, 1440, 1440],
  ]);
  const futures = await World.open('2024-03-13T00:00:00Z', 'future', 'US');
  // Monday's session from Sunday 17:00 Chicago, in summer time, to Monday 16:00; Tuesday's from an hour
  // later.
  const monday = minutesFrom('2024-03-10T22:00:00Z', 23 * 60);
  const tuesday = minutesFrom('2024-03-11T22:00:00Z', 23 * 60);
  await futures.import({ ESH24: [...monday, ...tuesday] });
  assert.deepEqual(await futures.brief('ESH24', fields, { to_date: '2024-03-12' }), [
    ['2024-03-11', 'available', 1380, 1380, 0],
    ['2024-03-12', 'available', 1380, 1380, 0],
  ]);
});

test('sessions are served from stored bars where there are some, else from finer ones (contract 9.9, 3.8)', async () => {
  const world = await World.open('2024-03-16T12:00:00Z');
  const days = ['04', '05', '06'].map((day) => Date.parse(`2024-03-${day}T00:00:00Z`));
  const daily = await world.import({ A: days }, 'DAY');
  const minutes = await world.import({
    A: ['06', '07', '08'].flatMap((day) => minutesFrom(`2024-03-${day}T14:30:00Z`, 10)),
  });
  const fields = [
    'session_date',
    'interval',
    'source',
    'condition',
    'bars',
    'longest_gap_minutes',
    'run_id',
    'file',
  ];
  assert.deepEqual(await world.brief('A', fields, { interval: '1d', to_date: '2024-03-08' }), [
    ...['04', '05', '06'].map((day) => [
      `2024-03-${day}`,
      'DAY',
      'stored',
      'available',
      1,
      null,
      daily,
      'bars.csv',
    ]),
    ...['07', '08'].map((day) => [
      `2024-03-${day}`,
      'DAY',
      'derived',
      'available',
      1,
      null,
      minutes,
      'bars.csv',
    ]),
  ]);
  const ofMinutes = await world.brief('A', fields, { to_date: '2024-03-08' });
  assert.deepEqual(
    ofMinutes,
    ['06', '07', '08'].map((day) => [
      `2024-03-${day}`,
      '1M',
      'stored',
      'available',
      10,
      380,
      minutes,
      'bars.csv',
    ]),
  );
  const hours = await world.brief('A', [...fields.slice(0, 5), 'expected_bars'], {
    interval: '1h',
    to_date: '2024-03-08',
  });
  assert.deepEqual(
    hours,
    ['06', '07', '08'].map((day) => [`2024-03-${day}`, '60M', 'derived', 'available', 1, 7]),
  );
});

test('a session that is going on is pending, and one that an import left unfinished (contract 9.9, 3.9)', async () => {
  const world = await World.open('2024-03-05T16:00:00Z');
  await world.import({
    A: [...minutesFrom('2024-03-04T14:30:00Z', 390), ...minutesFrom('2024-03-05T14:30:00Z', 60)],
  });
  const fields = ['session_date', 'condition', 'bars'];
  const noon = [
    ['2024-03-04', 'available', 390],
    ['2024-03-05', 'pending', 60],
  ];
  assert.deepEqual(await world.brief('A', fields), noon);
  // Nothing was imported since: the evening makes no whole session of it.
  world.nowMs = Date.parse('2024-03-06T12:00:00Z');
  assert.deepEqual(await world.brief('A', fields), noon);
  await world.import({ A: minutesFrom('2024-03-05T15:30:00Z', 330) });
  assert.deepEqual(await world.brief('A', fields), [noon[0], ['2024-03-05', 'available', 390]]);
});

test('a hole between two files is missing, one inside a file is untraded, one that was deleted is missing (contract 9.9)', async () => {
  const world = await World.open('2024-03-16T12:00:00Z');
  const day = (date: string): number[] => minutesFrom(`2024-03-${date}T14:30:00Z`, 5);
  const first = await world.import({ A: [...day('04'), ...day('06')] });
  const second = await world.import({ A: day('08') });
  const conditions = () =>
    world.brief('A', ['session_date', 'condition', 'run_id'], { to_date: '2024-03-08' });
  assert.deepEqual(await conditions(), [
    ['2024-03-04', 'available', first],
    ['2024-03-05', 'untraded', first],
    ['2024-03-06', 'available', first],
    ['2024-03-07', 'missing', null],
    ['2024-03-08', 'available', second],
  ]);
  const deletion = await world.delete('A', '2024-03-06');
  assert.deepEqual((await conditions())[2], ['2024-03-06', 'missing', null]);
  await world.undo(deletion);
  assert.deepEqual((await conditions())[2], ['2024-03-06', 'available', first]);
});

test('a session that another series of the instrument has is of its condition (contract 9.9)', async () => {
  const world = await World.open('2024-03-16T12:00:00Z');
  const day = (date: string): number[] => minutesFrom(`2024-03-${date}T14:30:00Z`, 5);
  await world.import({ A: [...day('04'), ...day('06')] });
  const hours = ['04', '05', '06'].map((date) => Date.parse(`2024-03-${date}T14:30:00Z`));
  await world.import({ A: hours }, '60M');
  const conditions = async (interval: string) =>
    world.brief('A', ['condition', 'bars'], { interval, to_date: '2024-03-06' });
  assert.deepEqual(
    (await conditions('1M')).map(([condition]) => condition),
    ['available', 'available', 'available'],
  );
  assert.deepEqual((await conditions('1M'))[1], ['available', 0]);
  assert.deepEqual((await conditions('60M'))[1], ['available', 1]);
});

test('a session that findings call missing in one series is missing at each interval (contract 9.9, findings missing_session)', async () => {
  const world = await World.open('2024-03-16T12:00:00Z');
  const days = (...some: string[]): number[] => some.map((day) => Date.parse(`2024-03-${day}T00:00:00Z`));
  await world.import({ A: days('04', '05', '06', '07', '08') }, 'DAY');
  await world.import({ B: days('04', '05', '07', '08') }, 'DAY');
  // This file alone would tell that nothing was traded on 6 March.
  await world.import({
    B: ['04', '05', '07', '08'].flatMap((day) => minutesFrom(`2024-03-${day}T14:30:00Z`, 5)),
  });
  const asked = { from_date: '2024-03-06', to_date: '2024-03-06' };
  for (const interval of ['1M', '60M', 'DAY'])
    assert.deepEqual(await world.brief('B', ['condition'], { ...asked, interval }), [['missing']], interval);
});

test('sessions of an expired future after its last import are pending: nothing tells that they had no trade (contract 9.9, 3.9)', async () => {
  const world = await World.open('2024-03-01T08:00:00Z', 'future');
  const days = ['26', '27', '28', '29'].map((day) => Date.parse(`2024-02-${day}T00:00:00Z`));
  await world.import({ ESH24: days }, 'DAY');
  world.nowMs = Date.parse('2025-01-15T12:00:00Z');
  const asked = { from_date: '2024-02-29', to_date: '2024-03-04' };
  assert.deepEqual(await world.brief('ESH24', ['session_date', 'condition'], asked), [
    ['2024-02-29', 'available'],
    ['2024-03-01', 'pending'],
    ['2024-03-04', 'pending'],
  ]);
});

test('rows of a day that was going on when they were imported let no series of the market reach it (contract 3.9 (5), 9.9)', async () => {
  const world = await World.open('2024-03-06T17:00:00Z');
  const days = (...some: string[]): number[] => some.map((day) => Date.parse(`2024-03-${day}T00:00:00Z`));
  // At noon of 6 March.
  await world.import({ A: days('04', '05', '06'), B: days('04', '05', '06'), C: days('04', '05') }, 'DAY');
  world.nowMs = Date.parse('2024-03-07T12:00:00Z');
  const conditions = (symbol: string, texts: Texts = {}) =>
    world.brief(symbol, ['session_date', 'condition'], {
      from_date: '2024-03-05',
      to_date: '2024-03-06',
      ...texts,
    });
  const open = [
    ['2024-03-05', 'available'],
    ['2024-03-06', 'pending'],
  ];
  for (const symbol of ['A', 'C']) {
    assert.deepEqual(await conditions(symbol), open, symbol);
    assert.deepEqual(await conditions(symbol, { as_of: '2024-03-07T11:00:00Z' }), open, symbol);
  }
  // The files of the night have A and B whole: that of C has not come.
  await world.import({ A: days('06') }, 'DAY', 11);
  await world.import({ B: days('06') }, 'DAY', 11);
  assert.deepEqual(await conditions('A'), [open[0], ['2024-03-06', 'available']]);
  assert.deepEqual(await conditions('C'), [open[0], ['2024-03-06', 'missing']]);
});

test('a day of which there are minutes up to noon is pending, whichever interval is asked for (contract 9.9)', async () => {
  const world = await World.open('2024-03-05T17:00:00Z');
  await world.import({
    A: [...minutesFrom('2024-03-04T14:30:00Z', 390), ...minutesFrom('2024-03-05T14:30:00Z', 60)],
  });
  world.nowMs = Date.parse('2024-03-06T12:00:00Z');
  for (const interval of ['1M', '60M', 'DAY'])
    assert.deepEqual(await world.brief('A', ['session_date', 'condition'], { interval }), [
      ['2024-03-04', 'available'],
      ['2024-03-05', 'pending'],
    ]);
});

test('a session with an error among its findings is degraded (contract 9.9, 9.10)', async () => {
  const world = await World.open('2024-03-06T12:00:00Z');
  const hours = ['04', '05'].flatMap((day) =>
    ['14:30', '15:30', '16:30', '17:30', '18:30', '19:30', '20:30'].map((time) =>
      Date.parse(`2024-03-${day}T${time}:00Z`),
    ),
  );
  await world.import({ A: hours, B: hours }, '60M');
  const conditions = async (symbol: string) =>
    (await world.brief(symbol, ['condition'], { interval: '60M', to_date: '2024-03-05' })).flat();
  assert.deepEqual(await conditions('A'), ['available', 'available']);
  // Prices of two imports that differ by more than half.
  const strange = await world.import({ A: hours.slice(2, 3) }, '60M', 20);
  assert.deepEqual(await conditions('A'), ['degraded', 'available']);
  assert.deepEqual(await conditions('B'), ['available', 'available']);
  await world.undo(strange);
  assert.deepEqual(await conditions('A'), ['available', 'available']);
});

test('what cannot be asked is refused with the cure (contract 6.2, 6.3, 9.9)', async () => {
  const world = await World.open('2024-03-16T12:00:00Z');
  await world.import({ A: minutesFrom('2024-03-04T14:30:00Z', 5) });
  const refusal = async (symbol: string, texts: Texts) => {
    const answer = await world.ask(symbol, texts);
    assert.ok(answer.kind === 'refusal');
    return [answer.word, answer.facts.param];
  };
  assert.deepEqual(await refusal('NONE', {}), ['unknown_instrument', 'country_symbol']);
  assert.deepEqual(await refusal('NONE', { interval: 'week' }), ['invalid_parameter', 'interval']);
  assert.deepEqual(await refusal('A', { interval: 'MON' }), ['invalid_parameter', 'interval']);
  assert.deepEqual(await refusal('A', { from_date: '2024-03-05', to_date: '2024-03-04' }), [
    'invalid_parameter',
    'from_date',
  ]);
  const { next_page_key: key } = await world.page('A', { limit: '1' });
  assert.deepEqual(await refusal('A', { next_page_key: key!, sort: 'desc' }), [
    'invalid_page_key',
    'next_page_key',
  ]);
  assert.deepEqual(await world.list('A', { interval: '1M', to_date: '2024-03-01' }), []);
});
