// Calendar overrides that come, change and go under stored bars: every answer is that of a store which knew
// the last of them first (contract 3.10, 8.6).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { formatDay, parseInstant } from '../src/base/instant.ts';
import type { AssetSchema } from '../src/contract/identifiers.ts';
import { deleteBars } from '../src/runs/delete-bars.ts';
import { deleteRows } from '../src/runs/delete-rows.ts';
import { newestRuns, undoRun } from '../src/runs/undo-run.ts';
import { openStore } from '../src/store/engines.ts';
import { holidays } from '../src/store/schema/holidays.ts';
import type { Store } from '../src/store/store.ts';
import { AskedBars, type Named } from './asked-bars.ts';
import { type FileRow, rowsFile } from './importing.ts';
import { fc, times } from './seed.ts';
import { Workshop } from './service.ts';
import { barsOf } from './stored.ts';
import { alterStore, rowsOf, testOfSqlite } from './stores.ts';

const stock: Named = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'ACME' };
const other: Named = { ...stock, symbol: 'BOLT' };

const worlds: World[] = [];
after(async () => {
  for (const world of worlds) await world.close();
});

/** One store with the bars of some instruments. */
class World {
  readonly #main: AskedBars;
  readonly #others: readonly AskedBars[];

  constructor(...named: readonly Named[]) {
    this.#main = new AskedBars(named[0]!);
    this.#others = named.slice(1).map((one) => new AskedBars(one, this.#main.url));
    worlds.push(this);
  }

  get url(): string {
    return this.#main.url;
  }

  /** Imports rows of a dataset, about the first instrument where they name none. */
  import(dataset: string, rows: readonly FileRow[]): Promise<void> {
    return this.#main.import(rows, dataset);
  }

  async write<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const store = await openStore(this.url, 'write');
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  /** Changes the store past Bourse. */
  alter(statement: string): void {
    alterStore(this.url, statement);
  }

  undo(runId: number): Promise<unknown> {
    return this.write((store) => undoRun(store, { runId, dryRun: false, nowMs: Date.now }));
  }

  /** Undoes the newest run that is not undone yet. */
  undoLast(): Promise<unknown> {
    return this.write(async (store) => {
      const runs = await store.snapshot((reader) => newestRuns(reader, 50));
      const { run_id: runId } = runs.find(({ undone_ms }) => undone_ms === null)!;
      return undoRun(store, { runId, dryRun: false, nowMs: Date.now });
    });
  }

  /** Undoes one of the runs that are not undone yet, except the first two, which bring the instruments. */
  undoSome(place: number): Promise<void> {
    return this.write(async (store) => {
      const runs = await store.snapshot((reader) => newestRuns(reader, 50));
      const live = runs.filter(({ run_id, undone_ms }) => run_id > 2 && undone_ms === null);
      const run = live[place % live.length];
      if (run !== undefined) await undoRun(store, { runId: run.run_id, dryRun: false, nowMs: Date.now });
    });
  }

  /** Deletes the bars of the first instrument from an instant on. */
  deleteBars(from: string, { asset_schema, country_iso_code, symbol } = stock): Promise<unknown> {
    const named = { assetSchema: asset_schema as AssetSchema, country: country_iso_code, symbol };
    const bounds = { interval: null, from: parseInstant(from)!, to: null };
    return this.write((store) =>
      deleteBars(store, { ...named, ...bounds, words: from, dryRun: false, nowMs: Date.now }),
    );
  }

  /** Deletes the overrides of a date, as `bourse delete holidays` does. */
  deleteDay(date: string, { asset_schema, country_iso_code }: Named, symbol = '*'): Promise<unknown> {
    const flags = { '--country': country_iso_code, '--schema': asset_schema, '--symbol': symbol };
    const bound = parseInstant(date)!;
    const bounds = { from: bound, to: bound };
    return this.write((store) =>
      deleteRows(store, { dataset: holidays, flags, ...bounds, words: date, dryRun: false, nowMs: Date.now }),
    );
  }

  /**
   * Every answer of a range, without the exchange, which imports of bars give: each interval, with and
   * without extended hours, of each instrument.
   */
  async answers(from: string, to: string): Promise<Record<string, readonly string[]>> {
    const found: Record<string, readonly string[]> = {};
    for (const [at, asked] of [this.#main, ...this.#others].entries())
      for (const interval of ['60M', '120M', 'DAY', 'WEEK'])
        for (const is_eth of ['false', 'true'])
          found[`${at} ${interval} ${is_eth}`] = (await asked.history(interval, from, to, { is_eth })).map(
            (bar) => Object.values({ ...bar, exchange: null }).join(' '),
          );
    return found;
  }

  async close(): Promise<void> {
    for (const asked of [...this.#others, this.#main]) await asked.close();
  }
}

/** A new store with the overrides and the bars that another one has now: overrides first. */
async function freshOf(world: World, ...named: readonly Named[]): Promise<World> {
  const fresh = new World(...named);
  const days = rowsOf(world.url, 'select * from holidays').map(({ calendar_date, ...row }) => ({
    ...row,
    calendar_date: formatDay(Number(calendar_date)),
  }));
  const keyed = rowsOf(world.url, 'select * from instruments where calendar_key is not null');
  if (keyed.length > 0) {
    const columns = ['asset_schema', 'country_iso_code', 'symbol', 'calendar_key'] as const;
    await fresh.import(
      'instruments',
      keyed.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]]))),
    );
  }
  if (days.length > 0) await fresh.import('holidays', days);
  const bars = Object.entries(barsOf(world.url)).flatMap(([name, stored]) => {
    const [asset_schema, country_iso_code, symbol, interval] = name.split(':');
    return stored.map(([key, open, high, low, close, volume]) => ({
      ...{ asset_schema, country_iso_code, symbol, interval },
      ...{ datetime: `${key}:00Z`, open, high, low, close, volume },
    }));
  });
  if (bars.length > 0) await fresh.import('bars', bars);
  return fresh;
}

const sameAsFresh = async (world: World, from: string, to: string, ...named: readonly Named[]) =>
  assert.deepEqual(await world.answers(from, to), await (await freshOf(world, ...named)).answers(from, to));

const clock = (minute: number): string =>
  [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');

/** Flat bars that open at clock times of a date in New York's winter; each has its own price. */
const bars = (interval: string, date: string, clocks: readonly string[], named = stock): FileRow[] =>
  clocks.map((at, place) => {
    const price = place + 1;
    const prices = { open: price, high: price, low: price, close: price, volume: 1 };
    return { ...named, interval, datetime: `${date}T${at}:00-05:00`, ...prices };
  });

/** The hours of a session that opens at half past nine. */
const HOURS = [9, 10, 11, 12, 13, 14, 15].map((hour) => clock(hour * 60 + 30));
/** Hours of the post-market after an early close at 13:00, and at 16:00. */
const AFTER_13 = ['13:00', '14:00', '15:00', '16:00'];

const day = (calendar_date: string, session_template: string, more: FileRow = {}): FileRow => ({
  name: 'A day',
  holiday_code: 'HOLIDAY_A_DAY',
  asset_name: 'stock',
  country_iso_code: 'US',
  symbol: '*',
  calendar_date,
  session_template,
  ...more,
});
const early = (date: string, at: string, more: FileRow = {}): FileRow =>
  day(date, 'EARLY_CLOSE', { close_timestamp: `${date}T${at}:00-05:00`, ...more });
const late = (date: string, at: string, more: FileRow = {}): FileRow =>
  day(date, 'LATE_OPEN', { open_timestamp: `${date}T${at}:00-05:00`, ...more });

/** The week of an early close that ships, on the Friday: 2024-11-29. */
const week = ['2024-11-25', '2024-11-29'] as const;

test('an early close that puts hours off the grid stops deriving from them until its undo (contract 3.10)', async () => {
  const world = new World(stock);
  // Full sessions, and hours of a post-market which would begin at 16:00.
  await world.import('bars', [
    ...bars('60M', '2024-11-25', [...HOURS, '16:00']),
    ...bars('60M', '2024-11-26', [...HOURS, '16:00']),
  ]);
  const before = await world.answers(...week);
  assert.equal(before['0 DAY false']!.length, 2);
  // The post-market begins at 13:00: 13:30 is off its grid.
  await world.import('holidays', [early('2024-11-26', '13:00')]);
  await sameAsFresh(world, ...week, stock);
  assert.equal((await world.answers(...week))['0 DAY false']!.length, 0);
  await world.undoLast();
  assert.deepEqual(await world.answers(...week), before);
});

test('a day that is ordinary after all puts hours on the grid, and its deletion takes them off it (contract 3.10)', async () => {
  const world = new World(stock);
  await world.import('bars', [
    ...bars('60M', '2024-11-27', HOURS),
    ...bars('60M', '2024-11-29', [...HOURS, '16:00']),
  ]);
  const before = await world.answers(...week);
  assert.equal(before['0 DAY false']!.length, 0, 'the day closes at 13:00');
  await world.import('holidays', [day('2024-11-29', 'REGULAR')]);
  await sameAsFresh(world, ...week, stock);
  assert.equal((await world.answers(...week))['0 DAY false']!.length, 2);
  await world.deleteDay('2024-11-29', stock);
  assert.deepEqual(await world.answers(...week), before);
  await world.undoLast();
  await sameAsFresh(world, ...week, stock);
});

test('a second import that corrects an override counts (contract 3.10, 11)', async () => {
  const world = new World(stock);
  await world.import('bars', [
    ...bars('60M', '2024-11-26', HOURS),
    ...bars('60M', '2024-11-27', ['09:30', '10:30', '11:30', ...AFTER_13.slice(1)]),
  ]);
  for (const [at, template] of [
    ['13:00', 'half a day'],
    ['12:00', 'an earlier close'],
    ['14:00', 'a later close'],
  ]) {
    await world.import('holidays', [early('2024-11-27', at!, { name: template! })]);
    await sameAsFresh(world, ...week, stock);
  }
  await world.import('holidays', [late('2024-11-27', '10:30', { priority: 5 })]);
  await sameAsFresh(world, ...week, stock);
  await world.undo(3);
  await sameAsFresh(world, ...week, stock);
  await world.undoLast();
  await sameAsFresh(world, ...week, stock);
});

test('an override of one instrument changes its grid alone (contract 3.10, 8.6)', async () => {
  const world = new World(stock, other);
  for (const named of [stock, other]) await world.import('bars', bars('60M', '2024-11-26', HOURS, named));
  await world.import('holidays', [early('2024-11-26', '13:00', { symbol: 'BOLT' })]);
  await sameAsFresh(world, ...week, stock, other);
  const answers = await world.answers(...week);
  assert.deepEqual([answers['0 DAY false']!.length, answers['1 DAY false']!.length], [1, 0]);
  await world.import('holidays', [early('2024-11-26', '13:00')]);
  await world.deleteDay('2024-11-26', stock, 'BOLT');
  await sameAsFresh(world, ...week, stock, other);
  await world.deleteDay('2024-11-26', stock);
  await sameAsFresh(world, ...week, stock, other);
});

test('bars that are left before a late open are on the grid, also where the last one reaches into it (contract 3.4, 3.10)', async () => {
  const world = new World(stock);
  // 11:30 reaches into a session that opens at 12:00.
  await world.import('bars', [
    ...bars('60M', '2024-11-26', HOURS),
    ...bars('60M', '2024-11-27', HOURS.slice(2)),
  ]);
  await world.import('holidays', [late('2024-11-27', '12:00')]);
  await sameAsFresh(world, ...week, stock);
  await world.deleteBars('2024-11-27T12:00:00-05:00');
  assert.equal((await world.answers(...week))['0 DAY false']!.length, 1);
});

test('markets without sessions, with evenings and of a calendar key follow their overrides (contract 3.7, 3.10)', async () => {
  const pair: Named = { asset_schema: 'forex', country_iso_code: 'GLOBAL', symbol: 'EURUSD' };
  const coin: Named = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'BTCUSD' };
  const grain: Named = { asset_schema: 'future', country_iso_code: 'US', symbol: 'ZC' };
  const unknown: Named = { asset_schema: 'stock', country_iso_code: 'BR', symbol: 'PETR4' };
  const named = [pair, coin, grain, unknown];
  const world = new World(...named);
  const all = Array.from({ length: 24 }, (_, hour) => clock(hour * 60));
  for (const one of named)
    for (const date of ['2024-11-26', '2024-11-27']) await world.import('bars', bars('60M', date, all, one));
  await world.import('instruments', [{ ...grain, calendar_key: 'US_FUTURE_CBOT_GRAIN' }]);
  await world.import('instruments', [{ ...unknown, calendar_key: 'NOWHERE' }]);
  await sameAsFresh(world, ...week, ...named);
  const own = named.map(({ asset_schema: asset_name, country_iso_code, symbol }) => {
    return { asset_name, country_iso_code, symbol };
  });
  await world.import(
    'holidays',
    own.flatMap((one) => [early('2024-11-26', '13:30', one), late('2024-11-27', '10:30', one)]),
  );
  await sameAsFresh(world, ...week, ...named);
  for (const one of named) await world.deleteDay('2024-11-26', one, one.symbol);
  await sameAsFresh(world, ...week, ...named);
  await world.undoSome(named.length);
  await sameAsFresh(world, ...week, ...named);
});

test('an option follows the calendar key and the overrides of its underlying (contract 3.7, 3.10)', async () => {
  const contract = { ...stock, asset_schema: 'option', symbol: 'ZC241220C00450000' };
  const future: Named = { ...stock, asset_schema: 'future', symbol: 'ZC' };
  const world = new World(contract);
  await world.import('option-contracts', [
    {
      ...{ country_iso_code: 'US', symbol: contract.symbol, parent_asset_schema: 'future' },
      ...{ underlying_name: 'ZC', strike_price: 450, expiration_date: '2024-12-20', option_type: 'call' },
    },
  ]);
  const days = async (): Promise<number> => (await world.answers(...week))['0 DAY true']!.length;
  // Without a key of the underlying, an option has the hours of stocks: a session from 09:30. Futures begin
  // at 18:00.
  await world.import('bars', bars('60M', '2024-11-26', ['09:00', '10:30'], contract));
  assert.equal(await days(), 1);
  await world.import('instruments', [{ ...future, calendar_key: 'US_FUTURE' }]);
  assert.equal(await days(), 0);
  // 10:30, off the grid, is outside every session then.
  await world.import('holidays', [
    early('2024-11-26', '10:00', { asset_name: 'future', symbol: contract.symbol }),
  ]);
  assert.equal(await days(), 1);
  await world.undoLast();
  assert.equal(await days(), 0);
  await world.undoLast();
  assert.equal(await days(), 1);
});

testOfSqlite(
  'the commands do so, and a restored backup is as its store was (contract 3.10, 10)',
  async (t) => {
    const shop = new Workshop();
    t.after(() => shop.close());
    rowsFile(shop.path('bars.ndjson'), bars('60M', '2024-11-26', [...HOURS, '16:00']));
    rowsFile(shop.path('days.ndjson'), [early('2024-11-26', '13:00')]);
    const days = async (): Promise<number> => {
      const asked = new AskedBars(stock, shop.store);
      const served = await asked.history('DAY', ...week);
      await asked.close();
      return served.length;
    };
    await shop.must('import', 'bars', 'bars.ndjson');
    assert.equal(await days(), 1);
    await shop.must('import', 'holidays', 'days.ndjson', '--dry-run');
    assert.equal(await days(), 1);
    await shop.must('import', 'holidays', 'days.ndjson');
    assert.equal(await days(), 0);
    await shop.must('backup', 'bourse.backup');
    await shop.must('delete', 'holidays', '--schema', 'stock', '--country', 'US', '--symbol', '*');
    assert.equal(await days(), 1);
    await shop.must('restore', 'bourse.backup', '--force');
    assert.equal(await days(), 0);
    await shop.must('undo', '2');
    assert.equal(await days(), 1);
  },
);

test('overrides change the grid beside a damaged one, whose deletion counts too (contract 3.10, 10)', async () => {
  const world = new World(stock);
  await world.import('bars', [
    ...bars('60M', '2024-11-26', [...HOURS, '16:00']),
    ...bars('60M', '2024-11-27', [...HOURS, '16:00']),
  ]);
  await world.import('holidays', [early('2024-11-26', '13:00'), early('2024-11-27', '13:00')]);
  world.alter(
    "update holidays set name = 'B day' where calendar_date = (select min(calendar_date) from holidays)",
  );
  await world.deleteDay('2024-11-27', stock);
  await world.deleteDay('2024-11-26', stock);
  await sameAsFresh(world, ...week, stock);
  assert.equal((await world.answers(...week))['0 DAY false']!.length, 2);
});

const dates = ['2024-11-25', '2024-11-26', '2024-11-27', '2024-11-28', '2024-11-29'];
const symbols = ['*', 'ACME', 'BOLT'];

const anyDay: fc.Arbitrary<FileRow> = fc
  .record({
    date: fc.constantFrom(...dates),
    symbol: fc.constantFrom(...symbols),
    priority: fc.integer({ min: 1, max: 2 }),
    template: fc.constantFrom('CLOSED', 'REGULAR', 'EARLY_CLOSE', 'LATE_OPEN'),
    at: fc.constantFrom('10:30', '12:00', '13:00'),
  })
  .map(({ date, template, at, ...more }) => {
    if (template === 'EARLY_CLOSE') return early(date, at, more);
    return template === 'LATE_OPEN' ? late(date, at, more) : day(date, template, more);
  });

/** Bars of a date on one of three grids: of whole sessions, of early closes, of the clock. */
const someBars: fc.Arbitrary<readonly FileRow[]> = fc
  .record({
    date: fc.constantFrom(...dates),
    named: fc.constantFrom(stock, other),
    interval: fc.constantFrom('30M', '60M', '120M'),
    clocks: fc.constantFrom(
      HOURS,
      HOURS.slice(0, 3),
      ['09:30', '10:30', '11:30', ...AFTER_13],
      AFTER_13.map((at) => at.replace(':00', ':30')),
      ['10:00', '12:00', '14:00'],
    ),
  })
  .map(({ date, named, interval, clocks }) => bars(interval, date, clocks, named));

type Step =
  | { readonly kind: 'bars' | 'holidays'; readonly rows: readonly FileRow[] }
  | { readonly kind: 'undo'; readonly run: number }
  | { readonly kind: 'delete'; readonly date: string; readonly symbol: string };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  someBars.map((rows) => ({ kind: 'bars' as const, rows })),
  fc
    .uniqueArray(anyDay, {
      minLength: 1,
      maxLength: 3,
      selector: ({ calendar_date, symbol, priority }) => JSON.stringify([calendar_date, symbol, priority]),
    })
    .map((rows) => ({ kind: 'holidays' as const, rows })),
  fc.nat(20).map((run) => ({ kind: 'undo' as const, run })),
  fc.record({
    kind: fc.constant('delete' as const),
    date: fc.constantFrom(...dates),
    symbol: fc.constantFrom(...symbols),
  }),
);

async function take(world: World, step: Step): Promise<void> {
  if (step.kind === 'undo') return world.undoSome(step.run);
  if (step.kind === 'delete') await world.deleteDay(step.date, stock, step.symbol);
  else await world.import(step.kind, step.rows);
}

test('bars, overrides, corrections, undos and deletions in any order end as overrides first and bars after (contract 3.10)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 9 }), async (steps) => {
      const world = new World(stock, other);
      for (const named of [stock, other]) await world.import('bars', bars('60M', '2024-11-22', HOURS, named));
      for (const step of steps) await take(world, step);
      await sameAsFresh(world, '2024-11-18', '2024-11-29', stock, other);
    }),
    { numRuns: times(10) },
  );
});
