// Taking runs back, in any order, against a direct model: a bar has a version for each run that has it
// (contract 10).
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parseInstant } from '../src/base/instant.ts';
import { importFile } from '../src/imports/load/importers.ts';
import type { ImportReport } from '../src/imports/load/run.ts';
import { deleteBars, deleteInstrument } from '../src/runs/delete-bars.ts';
import { RequestProblem } from '../src/runs/recorded-write.ts';
import { type UndoReport, undoRun } from '../src/runs/undo-run.ts';
import { contentHash } from '../src/store/copy.ts';
import type { Store } from '../src/store/store.ts';
import { opened } from './importing.ts';
import { fc, times } from './seed.ts';
import { barsOf, type StoredBar } from './stored.ts';
import { contentOf, openToWrite, rowsOf, TestFolder } from './stores.ts';

const temporary = new TestFolder();
const { folder } = temporary;
after(() => temporary.close());

let shelves = 0;

/** A store of its own, and what is done to it. */
class Shelf {
  readonly #folder = join(folder, String(++shelves));
  readonly url = temporary.storeUrl(String(shelves));
  readonly store: Store;

  private constructor(store: Store) {
    this.store = store;
  }

  static async open(): Promise<Shelf> {
    mkdirSync(join(folder, String(shelves + 1)));
    return new Shelf(await openToWrite(temporary.storeUrl(String(shelves + 1))));
  }

  async #request(lines: readonly string[]) {
    const file = join(this.#folder, 'file.csv');
    writeFileSync(file, `${lines.join('\n')}\n`);
    const flags = new Map([
      ['asset_schema', 'stock'],
      ['country_iso_code', 'US'],
    ]);
    return { file: await opened(file), flags, source: null, dryRun: false, nowMs: Date.now };
  }

  /** Imports bars of the columns symbol, interval, datetime, price. */
  async bars(...rows: readonly string[]): Promise<number> {
    return (await this.barsReported(...rows)).runId!;
  }

  async barsReported(...rows: readonly string[]): Promise<ImportReport> {
    const lines = rows.map((row) => {
      const [symbol, interval, datetime, price] = row.split(' ');
      return [symbol, interval, datetime, price, price, price, price].join();
    });
    const request = await this.#request(['symbol,interval,datetime,open,high,low,close', ...lines]);
    return importFile(this.store, 'bars', { ...request, zone: null, basis: 'raw' });
  }

  async instruments(...rows: readonly string[]): Promise<number> {
    return (await importFile(this.store, 'instruments', await this.#request(['symbol,name', ...rows])))
      .runId!;
  }

  undo(runId: number, dryRun = false): Promise<UndoReport> {
    return undoRun(this.store, { runId, dryRun, nowMs: Date.now });
  }

  /** Deletes bars between dates; the run, null where there were none. */
  async delete(symbol: string, from: string | null, to: string | null): Promise<number | null> {
    const bound = (text: string | null) => (text === null ? null : parseInstant(text));
    const bounds = { interval: null, from: bound(from), to: bound(to) };
    return (await deleteBars(this.store, { ...this.#choice(symbol), ...bounds })).runId;
  }

  async deleteInstrument(symbol: string): Promise<number> {
    return (await deleteInstrument(this.store, this.#choice(symbol))).runId!;
  }

  #choice(symbol: string) {
    return { assetSchema: null, country: 'US', symbol, words: symbol, dryRun: false, nowMs: Date.now };
  }

  hash(): Promise<string> {
    return this.store.snapshot(contentHash);
  }

  /** Names of the instruments, by symbol. */
  get names(): unknown[][] {
    return rowsOf(this.url, 'select symbol, name from instruments order by symbol').map((row) =>
      Object.values(row),
    );
  }
}

async function withShelf(work: (shelf: Shelf) => Promise<void>): Promise<void> {
  const shelf = await Shelf.open();
  try {
    await work(shelf);
  } finally {
    await shelf.store.close();
  }
}

/** Tables that hold data or what is needed to take runs back. */
const dataTables = [
  'bar_blocks',
  'series',
  'instruments',
  'run_spans',
  'block_changes',
  'held_bars',
  'row_changes',
];

function assertEmpty(shelf: Shelf): void {
  const content = contentOf(shelf.url);
  for (const table of dataTables) assert.deepEqual(content[table], [], table);
}

// Mondays but for the second; the last lies in other blocks of every interval. New York opens at 14:30 UTC on
// all of them.
const dates = ['2024-01-08', '2024-01-09', '2024-01-22', '2026-12-07'];
const symbols = ['A', 'B'];
/** One bar that there can be: its series, its key as stored, and its label date. */
type Slot = {
  readonly symbol: string;
  readonly interval: string;
  readonly datetime: string;
  readonly key: string;
  readonly date: string;
};
const slots: Slot[] = symbols.flatMap((symbol) =>
  dates.flatMap((date, index) => {
    const at = (interval: string, clock: string): Slot => ({
      symbol,
      interval,
      datetime: clock === '' ? date : `${date}T${clock}:00Z`,
      key: `${date}T${clock === '' ? '00:00' : clock}`,
      date,
    });
    return [
      ...['14:30', '14:31', '14:32'].map((clock) => at('1M', clock)),
      ...['14:30', '14:45', '15:00'].map((clock) => at('30M', clock)),
      at('DAY', ''),
      ...(index === 1 ? [] : [at('WEEK', '')]),
    ];
  }),
);

/**
 * What a run has of a bar: its price, or null where it is gone; `isChange` is false where the bar was as it
 * had it.
 */
type Version = { readonly runId: number; readonly price: number | null; isChange: boolean };

/** The direct model: a slot's versions in the order of their runs; the last one holds. */
class Model {
  readonly #versions: Version[][] = slots.map(() => []);
  readonly runs = new Set<number>();

  current(slot: number): number | null {
    return this.#versions[slot]!.at(-1)?.price ?? null;
  }

  set(slot: number, runId: number, price: number | null): void {
    this.#versions[slot]!.push({ runId, price, isChange: this.current(slot) !== price });
  }

  /**
   * The runs that wrote the bars which an import replaces, each with their number, in the order of the runs.
   */
  replacedBy(rows: readonly (readonly [slot: number, price: number])[]): Map<number, number> {
    const found = rows.flatMap(([slot, price]) => {
      const last = this.#versions[slot]!.findLast(({ isChange }) => isChange);
      return last === undefined || last.price === null || last.price === price ? [] : [last.runId];
    });
    return new Map(
      [...new Set(found)]
        .sort((a, b) => a - b)
        .map((run) => [run, found.filter((one) => one === run).length]),
    );
  }

  /** Takes a run's versions out; what an undoing says of them. */
  undo(runId: number): Pick<UndoReport, 'barsRemoved' | 'barsRestored' | 'barsKept'> {
    const counts = { barsRemoved: 0, barsRestored: 0, barsKept: 0 };
    for (const versions of this.#versions) {
      const at = versions.findIndex((version) => version.runId === runId);
      if (at < 0) continue;
      const before = versions[at - 1]?.price ?? null;
      const [{ isChange, price }, next] = [versions[at]!, versions[at + 1]];
      versions.splice(at, 1);
      if (!isChange) continue;
      if (next !== undefined) {
        // As if this run had never been, the next one brought the bar.
        next.isChange = true;
        counts.barsKept++;
      } else if (before !== null) counts.barsRestored++;
      else if (price !== null) counts.barsRemoved++;
    }
    this.runs.delete(runId);
    return counts;
  }

  /** The bars that hold, as `barsOf` gives them. */
  get bars(): Record<string, StoredBar[]> {
    const found: Record<string, StoredBar[]> = {};
    for (const [index, { symbol, interval, key }] of slots.entries()) {
      const price = this.current(index);
      if (price === null) continue;
      const name = `stock:US:${symbol}:${interval}`;
      found[name] ??= [];
      found[name].push([key, price, price, price, price, null, null]);
    }
    return found;
  }

  /** Rows of the series that have bars, by name. */
  get series(): Record<string, unknown[]> {
    return Object.fromEntries(
      Object.entries(this.bars).map(([name, bars]) => {
        const [first, last] = [bars[0]![0], bars.at(-1)![0]].map((key) => Date.parse(`${key}Z`));
        return [name, [bars.length, first, last]];
      }),
    );
  }
}

const seriesOf = (url: string): Record<string, unknown[]> =>
  Object.fromEntries(
    rowsOf(
      url,
      `select 'stock:US:' || symbol || ':' || interval as name, bar_count, first_ms, last_ms
        from series join instruments using (instrument_id) where bar_count > 0`,
    ).map(({ name, ...row }) => [String(name), Object.values(row)]),
  );

type Step =
  | { readonly kind: 'import'; readonly rows: readonly (readonly [slot: number, price: number])[] }
  | { readonly kind: 'delete'; readonly symbol: string; readonly from: number; readonly to: number }
  | { readonly kind: 'delete instrument'; readonly symbol: string }
  | { readonly kind: 'undo'; readonly run: number };

const symbol = fc.constantFrom(...symbols);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('import' as const),
        rows: fc.uniqueArray(fc.tuple(fc.nat(slots.length - 1), fc.integer({ min: 1, max: 3 })), {
          minLength: 1,
          maxLength: 30,
          selector: ([slot]) => slot,
        }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('delete' as const),
        symbol,
        from: fc.nat(3),
        to: fc.nat(3),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete instrument' as const), symbol }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('undo' as const), run: fc.nat(20) }) },
  ),
  { minLength: 4, maxLength: 12 },
);

/** What `work` gives; null when it is refused, and then nothing has changed. */
async function unlessRefused<T>(shelf: Shelf, work: () => Promise<T>): Promise<T | null> {
  const before = contentOf(shelf.url);
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error;
    assert.deepEqual(contentOf(shelf.url), before);
    return null;
  }
}

async function undoStep(shelf: Shelf, model: Model, runId: number): Promise<void> {
  const trial = await unlessRefused(shelf, () => shelf.undo(runId, true));
  const report = await unlessRefused(shelf, () => shelf.undo(runId));
  assert.deepEqual(trial, report);
  if (report === null) return;
  const { barsRemoved, barsRestored, barsKept } = report;
  assert.deepEqual({ barsRemoved, barsRestored, barsKept }, model.undo(runId));
}

async function take(shelf: Shelf, model: Model, step: Step): Promise<void> {
  if (step.kind === 'undo') {
    const runs = [...model.runs];
    if (runs.length > 0) await undoStep(shelf, model, runs[step.run % runs.length]!);
  } else if (step.kind === 'import') {
    const rows = step.rows.map(([at, price]) => {
      const { symbol: name, interval, datetime } = slots[at]!;
      return `${name} ${interval} ${datetime} ${price}`;
    });
    const replaced = model.replacedBy(step.rows);
    const report = await shelf.barsReported(...rows);
    assert.deepEqual(new Map(report.replaced.map((one) => [one.runId, one.rows])), replaced);
    const runId = report.runId!;
    model.runs.add(runId);
    for (const [at, price] of step.rows) model.set(at, runId, price);
  } else if (step.kind === 'delete') {
    const [from, to] = [dates[Math.min(step.from, step.to)]!, dates[Math.max(step.from, step.to)]!];
    const runId = await unlessRefused(shelf, () => shelf.delete(step.symbol, from, to));
    const held = slots.flatMap((slot, at) =>
      slot.symbol === step.symbol && slot.date >= from && slot.date <= to && model.current(at) !== null
        ? [at]
        : [],
    );
    assert.equal(runId === null, held.length === 0);
    if (runId !== null) model.runs.add(runId);
    for (const at of held) model.set(at, runId!, null);
  } else {
    const runId = await unlessRefused(shelf, () => shelf.deleteInstrument(step.symbol));
    const hasBars = slots.some((slot, at) => slot.symbol === step.symbol && model.current(at) !== null);
    assert.ok(runId === null || !hasBars);
    if (runId !== null) model.runs.add(runId);
  }
}

test('after any imports, deletions and undoings the bars are those of the runs that are left (contract 10)', async () => {
  const empty = await Shelf.open();
  const emptyHash = await empty.hash();
  await empty.store.close();
  await fc.assert(
    fc.asyncProperty(steps, (drawn) =>
      withShelf(async (shelf) => {
        const model = new Model();
        for (const step of drawn) {
          await take(shelf, model, step);
          assert.deepEqual(barsOf(shelf.url), model.bars);
          assert.deepEqual(seriesOf(shelf.url), model.series);
        }
        // What is refused for the sake of another run is free when that is gone.
        while (model.runs.size > 0) {
          const left = model.runs.size;
          for (const runId of [...model.runs].reverse()) await undoStep(shelf, model, runId);
          assert.ok(model.runs.size < left, 'no run can be taken back any more');
        }
        assertEmpty(shelf);
        assert.equal(await shelf.hash(), emptyHash);
      }),
    ),
    { numRuns: times(8) },
  );
});

test('an import taken back leaves the content hash of before, its new instruments and series gone (contract 10)', () =>
  withShelf(async (shelf) => {
    await shelf.bars('A 1M 2024-01-08T14:30:00Z 1', 'A 30M 2024-01-08T14:30:00Z 1');
    const before = await shelf.hash();
    const run = await shelf.bars(
      'A 1M 2024-01-08T14:30:00Z 2',
      'A 1M 2024-01-08T14:31:00Z 1',
      'A 30M 2024-01-08T14:45:00Z 1',
      'A DAY 2024-01-08 1',
      'B 1M 2024-01-08T14:30:00Z 1',
    );
    const imported = await shelf.hash();
    const { barsRemoved, barsRestored, rowsRemoved } = await shelf.undo(run);
    assert.deepEqual([barsRemoved, barsRestored, rowsRemoved], [4, 1, 1]);
    assert.equal(await shelf.hash(), before);
    await shelf.bars(
      'A 1M 2024-01-08T14:30:00Z 2',
      'A 1M 2024-01-08T14:31:00Z 1',
      'A 30M 2024-01-08T14:45:00Z 1',
      'A DAY 2024-01-08 1',
      'B 1M 2024-01-08T14:30:00Z 1',
    );
    assert.equal(await shelf.hash(), imported);
  }));

test('a store whose bars were deleted has the content hash of one that never had them', async () => {
  const [monday, tuesday] = ['A 1M 2024-01-08T14:30:00Z 1', 'A 1M 2024-01-09T14:30:00Z 1'];
  let expected = '';
  await withShelf(async (shelf) => {
    await shelf.bars(monday);
    expected = await shelf.hash();
  });
  await withShelf(async (shelf) => {
    await shelf.bars(monday, tuesday);
    await shelf.delete('A', '2024-01-09', '2024-01-09');
    assert.equal(await shelf.hash(), expected);
  });
});

test('what a later import replaced stays replaced, and the undoing names that run (contract 10)', () =>
  withShelf(async (shelf) => {
    const first = await shelf.bars('A 1M 2024-01-08T14:30:00Z 1', 'A 1M 2024-01-08T14:31:00Z 1');
    const second = await shelf.bars('A 1M 2024-01-08T14:30:00Z 2');
    const third = await shelf.bars('A 1M 2024-01-08T14:30:00Z 3');
    const report = await shelf.undo(first);
    assert.deepEqual([report.barsRemoved, report.barsKept], [1, 1]);
    assert.deepEqual(report.keptBy, [second]);
    await shelf.undo(third);
    assert.deepEqual(barsOf(shelf.url)['stock:US:A:1M'], [['2024-01-08T14:30', 2, 2, 2, 2, null, null]]);
    await shelf.undo(second);
    assertEmpty(shelf);
  }));

test('undone from the middle to the end, runs give back what was there before the first of them (contract 10)', () =>
  withShelf(async (shelf) => {
    const bar = (price: number): Promise<number> => shelf.bars(`A 1M 2024-01-08T14:30:00Z ${price}`);
    const held = (): unknown => barsOf(shelf.url)['stock:US:A:1M'];
    await bar(1);
    const first = held();
    const [second, third] = [await bar(2), await bar(3)];
    await shelf.undo(second);
    await shelf.undo(third);
    assert.deepEqual(held(), first);
  }));

test('an instrument stays for the sake of later bars, and goes with the last of them', () =>
  withShelf(async (shelf) => {
    const named = await shelf.instruments('A,Acorn', 'B,Birch');
    const day = await shelf.bars('A DAY 2024-01-08 1');
    const minutes = await shelf.bars('A 1M 2024-01-08T14:30:00Z 1');
    const report = await shelf.undo(named);
    assert.deepEqual([report.rowsRemoved, report.rowsKept, report.keptBy], [1, 1, [day]]);
    assert.deepEqual(shelf.names, [['A', 'Acorn']]);
    assert.deepEqual((await shelf.undo(day)).keptBy, [minutes]);
    assert.equal((await shelf.undo(minutes)).rowsRemoved, 1);
    assertEmpty(shelf);
  }));

test('what an instruments file said is unsaid, unless a later file said more of the instrument', () =>
  withShelf(async (shelf) => {
    await shelf.instruments('A,Acorn', 'B,Birch');
    const renamed = await shelf.instruments('A,Alder', 'B,Beech');
    const later = await shelf.instruments('B,Balsa');
    const { rowsRestored, rowsKept, keptBy } = await shelf.undo(renamed);
    assert.deepEqual([rowsRestored, rowsKept, keptBy], [1, 1, [later]]);
    assert.deepEqual(shelf.names, [
      ['A', 'Acorn'],
      ['B', 'Balsa'],
    ]);
    await shelf.undo(later);
    assert.deepEqual(shelf.names, [
      ['A', 'Acorn'],
      ['B', 'Birch'],
    ]);
  }));

test('a deleted instrument comes back under the identifiers that it had (contract 1.5)', () =>
  withShelf(async (shelf) => {
    const ids = () => rowsOf(shelf.url, 'select symbol, instrument_id, asset_id from instruments');
    await shelf.bars('A DAY 2024-01-08 1');
    const before = ids();
    const bars = await shelf.delete('A', null, null);
    const instrument = await shelf.deleteInstrument('A');
    assert.deepEqual(ids(), []);
    await assert.rejects(shelf.undo(bars!), new RegExp(`stock:US:A .*bourse undo ${instrument}`));
    await shelf.bars('A 1M 2024-01-08T14:30:00Z 1');
    assert.deepEqual(ids(), before);
    await shelf.undo(bars!);
    assert.deepEqual(Object.keys(barsOf(shelf.url)), ['stock:US:A:1M', 'stock:US:A:DAY']);
  }));

test('a run taken back is recorded as such, and the data version advances', () =>
  withShelf(async (shelf) => {
    const version = () =>
      rowsOf(shelf.url, "select value from counters where name = 'data_version'")[0]!.value as number;
    const run = await shelf.bars('A DAY 2024-01-08 1');
    const before = version();
    await shelf.undo(run);
    assert.equal(version(), before + 1);
    const [recorded] = rowsOf(shelf.url, 'select kind, file, rows_written, undone_ms from import_runs');
    assert.deepEqual([recorded!.kind, recorded!.file, recorded!.rows_written], ['import', 'file.csv', 1]);
    assert.ok((recorded!.undone_ms as number) > 0);
    await assert.rejects(shelf.undo(run), /undone already/);
  }));

test('a run that set a row back to what it was before the undone one has nothing left to restore (contract 10)', async () => {
  await withShelf(async (shelf) => {
    await shelf.instruments('A,first');
    const second = await shelf.instruments('A,second');
    const third = await shelf.instruments('A,first');
    assert.equal((await shelf.undo(second)).rowsKept, 1);
    const { rowsRemoved, rowsRestored, rowsKept } = await shelf.undo(third);
    assert.deepEqual([rowsRemoved, rowsRestored, rowsKept], [0, 0, 0]);
    assert.deepEqual(shelf.names, [['A', 'first']]);
  });
});

test('an instrument that a later run needs, and a still later one renames, goes with the run that needs it (contract 10)', async () => {
  await withShelf(async (shelf) => {
    const made = await shelf.instruments('A,one');
    const needed = await shelf.bars('A 1M 2024-01-08T14:30:00Z 2');
    const renamed = await shelf.instruments('A,two');
    assert.deepEqual((await shelf.undo(made)).keptBy, [needed]);
    await shelf.undo(renamed);
    assert.deepEqual(shelf.names, [['A', 'one']]);
    await shelf.undo(needed);
    assert.deepEqual(shelf.names, []);
  });
});
