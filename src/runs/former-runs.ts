// Other runs that an import tells of: the run that wrote each row and bar that it replaces, by the journal
// (contract 11), and one that ended after now.
import { type Bars, emptyBars, filterBars, indexOfKey } from '../market/bars/columns.ts';
import { rowsInOrder, rowWith, soundRowsByKey } from '../store/all-rows.ts';
import { unlessDamaged } from '../store/damage.ts';
import { decodeChange, rowKeyOf } from '../store/journal-entries.ts';
import type { Dataset, RowOf, Values } from '../store/schema/dataset.ts';
import { blockChanges, importRuns, rowChanges } from '../store/schema/internal.ts';
import type { RowReader, Writer } from '../store/store.ts';
import type { BlockPlace } from './journal.ts';

/** The bars of one former run that an import replaced. */
export type FormerRun = {
  readonly runId: number;
  readonly file: string;
  /** Where the file came from, in the words of its import, else by the name of its preset. */
  readonly source: string | null;
  /** How many of its rows or bars were replaced, or removed. */
  readonly rows: number;
};

/**
 * Entries of one block that are read at a time, and at most: what older runs wrote is counted, but not named.
 */
const ENTRIES_PER_READ = 8;
const ENTRIES_MAX = 256;

/** Counts what one run replaces, by former run. */
export class FormerRuns {
  readonly #writer: Writer;
  readonly #runId: number;
  readonly #rows = new Map<number, number>();

  /** `runId` is the run that replaces. */
  constructor(writer: Writer, runId: number) {
    this.#writer = writer;
    this.#runId = runId;
  }

  /** Counts bars of a block that this run replaces; those behind a damaged entry are of no run. */
  async addBars(place: Omit<BlockPlace, 'run_id'>, replaced: Bars): Promise<void> {
    await unlessDamaged(this.#addBars(place, replaced));
  }

  async #addBars({ series_id, bucket }: Omit<BlockPlace, 'run_id'>, replaced: Bars): Promise<void> {
    let left = replaced;
    let entries = 0;
    for await (const entry of rowsInOrder(this.#writer, blockChanges, {
      where: { series_id, bucket },
      range: { to: this.#runId },
      order: [['run_id', 'desc']],
      limit: ENTRIES_PER_READ,
    })) {
      const older = withoutThoseOf(entry, left);
      this.count(entry.run_id, left.count - older.count);
      left = older;
      if (left.count === 0 || ++entries === ENTRIES_MAX) return;
    }
  }

  /** Counts rows that this run replaces; one whose entry is damaged is of no run. */
  async addRows(dataset: Dataset, rows: readonly Values[]): Promise<void> {
    const keys = rows.map((row) => ({ dataset: dataset.name, row_key: rowKeyOf(dataset, row) }));
    const newest = { range: { to: this.#runId }, order: [['run_id', 'desc'] as const], limit: 1 };
    for (const found of await soundRowsByKey(this.#writer, rowChanges, keys, newest))
      if (found?.[0] !== undefined) this.count(found[0].run_id, 1);
  }

  /** Counts rows of a run. */
  count(runId: number, rows: number): void {
    if (rows > 0) this.#rows.set(runId, (this.#rows.get(runId) ?? 0) + rows);
  }

  /** The former runs in the order of their numbers. */
  async list(): Promise<FormerRun[]> {
    const found: FormerRun[] = [];
    for (const [runId, rows] of [...this.#rows].sort(([one], [other]) => one - other)) {
      const run = await unlessDamaged(rowWith(this.#writer, importRuns, { run_id: runId }));
      if (run !== null) found.push({ runId, file: run.file, source: run.source, rows });
    }
    return found;
  }
}

/**
 * The bars that an entry does not name. A run that added the block wrote every bar that no later entry names.
 */
function withoutThoseOf(entry: RowOf<typeof blockChanges>, bars: Bars): Bars {
  const { added, before } = decodeChange(entry);
  if (added === null) return emptyBars();
  const isNamed = (keyMs: number): boolean => indexOfKey(added, keyMs) >= 0 || indexOfKey(before, keyMs) >= 0;
  return filterBars(bars, (at) => !isNamed(bars.keyMs[at]!));
}

/** A run that ended after now. */
export type RunAhead = { readonly runId: number; readonly finishedAt: string };

/** The newest run, where it ended after `nowMs`; null where it did not, or there is none. */
export async function runAhead(reader: RowReader, nowMs: number): Promise<RunAhead | null> {
  const [newest] = await reader.rows(importRuns, { order: [['run_id', 'desc']], limit: 1 });
  if (newest === undefined || newest.finished_ms <= nowMs) return null;
  return { runId: newest.run_id, finishedAt: new Date(newest.finished_ms).toISOString() };
}
