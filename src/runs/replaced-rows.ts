// Which rows the runs with --replace leave: what their source brought before, and no other run holds, is gone
// (contract 11, docs/decisions/0009).

import { rowsInOrder, rowsWith, rowWith } from '../store/all-rows.ts';
import { instrumentNamed } from '../store/instrument-terms.ts';
import { rowBefore, rowKeyOf, valuesOfKey } from '../store/journal-entries.ts';
import { type Dataset, type RowOf, spokenName } from '../store/schema/dataset.ts';
import type { FileDataset } from '../store/schema/index.ts';
import { importRuns, rowChanges } from '../store/schema/internal.ts';
import { instruments } from '../store/schema/reference.ts';
import type { KeyRead, Writer } from '../store/store.ts';
import {
  type Days,
  dayOfRow,
  findHolders,
  hashOf,
  hashOfRow,
  hasReplacedDays,
  laterReplacing,
  type ReplacedDays,
  readReplacedDays,
  subjectOf,
} from './held-rows.ts';
import { putRows } from './journal.ts';
import { deleteOwn, namedBy, removeBeside } from './naming.ts';
import { leaveInstrument, refuseUnnamed } from './undo-rows.ts';

type Row = RowOf<FileDataset>;
type Entry = RowOf<typeof rowChanges>;

/** A run, as far as it decides. */
type Source = { readonly isImport: boolean; readonly source: string | null };

/** A run with --replace that is being imported. */
type ReplacingRun = { readonly runId: number; readonly source: string };

/** The last value of a row, and the runs that brought it. */
type Last = {
  readonly row_key: string;
  readonly row: Row;
  /** The entry of its removal; null if it is stored. */
  readonly removal: Entry | null;
  /** The runs that wrote it by the journal, the newest first. */
  readonly writers: readonly number[];
  /** The later runs that held it as it was. */
  readonly holders: Set<number>;
};

/**
 * The outcome for a row: another run holds it, or it was removed or restored. `runId` is that run, or the one
 * that removed it.
 */
type Settled = {
  readonly row_key: string;
  readonly row: Row;
  readonly fate: 'kept' | 'removed' | 'restored';
  readonly runId: number;
  /** The newest run that had brought it. */
  readonly from: number;
  /** True if the row's own instrument was deleted too. */
  readonly isOwnDeleted: boolean;
};

/** The newest entries of the journal of a row: few rows have more. */
const newest: KeyRead<typeof rowChanges> = { order: [['run_id', 'desc']], limit: 4 };

/** Entries of a run that are read at a time. */
const ENTRIES_PER_READ = 500;

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * Settles rows of one dataset in one write: whether a run still brings each, by all runs that stand for its
 * days.
 */
export class ReplacedRows {
  readonly #writer: Writer;
  readonly #dataset: FileDataset;
  /** The run that is being imported; null in an undo. */
  readonly #own: ReplacingRun | null;
  readonly #runs = new Map<number, Source>();

  constructor(writer: Writer, dataset: FileDataset, own: ReplacingRun | null = null) {
    this.#writer = writer;
    this.#dataset = dataset;
    this.#own = own;
    if (own !== null) this.#runs.set(own.runId, { isImport: true, source: own.source });
  }

  /**
   * Removes stored rows that the source of the present run brought before, unless another run holds them. The
   * run's file has none of them.
   */
  async remove(rows: readonly Row[], days: ReadonlyMap<string, ReplacedDays>): Promise<Settled[]> {
    const brought: Last[] = [];
    const rowKeys = rows.map((row) => rowKeyOf(this.#dataset, row));
    for (const last of await this.#lastsOf(rowKeys, rows))
      if (await this.#isAnyReplaced(last.writers)) brought.push(last);
    await this.#addHolders(brought, (runId) => this.#isReplaced(runId));
    const disputed: Last[] = [];
    for (const last of brought)
      if (!(await this.#areAllReplaced([...last.writers, ...last.holders]))) disputed.push(last);
    const others = await this.#daysOf(disputed);
    const settled: Settled[] = [];
    for (const last of brought) {
      const own = days.get(subjectOf(this.#dataset, last.row))!;
      settled.push(...(await this.#settleOne(last, others.get(last) ?? [own])));
    }
    return settled;
  }

  /** Settles rows, by their keys, whose journal has changed. */
  async settle(rowKeys: readonly string[]): Promise<Settled[]> {
    if (rowKeys.length === 0 || !(await hasReplacedDays(this.#writer, this.#dataset))) return [];
    const keys = rowKeys.map((rowKey) => valuesOfKey(this.#dataset, rowKey) as Partial<Row>);
    const lasts = await this.#lastsOf(rowKeys, await rowsWith(this.#writer, this.#dataset, keys));
    const days = await this.#daysOf(lasts);
    await this.#addHolders(
      lasts.filter((last) => days.has(last)),
      async () => false,
    );
    const settled: Settled[] = [];
    for (const last of lasts) settled.push(...(await this.#settleOne(last, days.get(last) ?? [])));
    return settled;
  }

  /**
   * The keys of rows that later runs of other sources removed on the days for which a run stood: one that it
   * took from may have them now.
   */
  async *removedAfter(runId: number, days: ReadonlyMap<bigint, Days>): AsyncGenerator<string> {
    const { source } = await this.#sourceOf(runId);
    for (const run_id of await laterReplacing(this.#writer, this.#dataset, runId)) {
      if ((await this.#sourceOf(run_id)).source === source) continue;
      const where = { run_id, dataset: this.#dataset.name };
      const read = { where, order: [['row_key', 'asc'] as const], limit: ENTRIES_PER_READ };
      for await (const entry of rowsInOrder(this.#writer, rowChanges, read)) {
        const row = rowBefore(this.#dataset, entry);
        const own = row === null ? undefined : days.get(hashOf(subjectOf(this.#dataset, row)));
        if (own === undefined) continue;
        const day = dayOfRow(this.#dataset, row!);
        if (own.fromDay <= day && day <= own.toDay) yield entry.row_key;
      }
    }
  }

  /**
   * The last values of rows by their keys and what is stored of each; without those that were never there.
   */
  async #lastsOf(rowKeys: readonly string[], rows: readonly (Row | null)[]): Promise<Last[]> {
    const places = rowKeys.map((row_key) => ({ dataset: this.#dataset.name, row_key }));
    const entries = await this.#writer.rowsByKey(rowChanges, places, newest);
    const lasts: Last[] = [];
    for (const [at, rowKey] of rowKeys.entries()) {
      const last = await this.#lastOf(rowKey, rows[at]!, entries[at]!);
      if (last !== null) lasts.push(last);
    }
    return lasts;
  }

  /**
   * The last value of a row, by the stored one and the newest entries of the journal; null where it was never
   * there or was deleted. A removal of nothing is forgotten.
   */
  async #lastOf(row_key: string, stored: Row | null, entries: readonly Entry[]): Promise<Last | null> {
    const { name: dataset } = this.#dataset;
    let row = stored;
    let removal: Entry | null = null;
    const writers: number[] = [];
    const read = { where: { dataset, row_key }, ...newest };
    for await (const entry of rowsInOrder(this.#writer, rowChanges, read, entries)) {
      const before = rowBefore(this.#dataset, entry);
      if (row !== null) {
        writers.push(entry.run_id);
        if (isSame(before, row)) continue;
        break;
      }
      if (!(await this.#sourceOf(entry.run_id)).isImport) return null;
      if (before === null) {
        await this.#writer.remove(rowChanges, [entry]);
        await this.#moveAlong(valuesOfKey(this.#dataset, row_key) as Row, entry.run_id, null);
      } else [row, removal] = [before, entry];
    }
    if (row === null || writers.length === 0) return null;
    return { row_key, row, removal, writers, holders: new Set() };
  }

  /** Adds the runs that held rows as they were, but for those that `passesOver` is true for. */
  async #addHolders(lasts: readonly Last[], passesOver: (runId: number) => Promise<boolean>): Promise<void> {
    if (lasts.length === 0) return;
    const wanted = new Map(lasts.map(({ row, holders }) => [hashOfRow(JSON.stringify(row)), holders]));
    const first = lasts.reduce((least, { writers }) => Math.min(least, writers.at(-1)!), Infinity);
    await findHolders(this.#writer, this.#dataset, first, wanted, passesOver);
    for (const { writers, holders } of lasts)
      for (const runId of holders) if (runId < writers.at(-1)!) holders.delete(runId);
  }

  /** The runs that stand for the day of each row; rows without any are left out. */
  async #daysOf(lasts: readonly Last[]): Promise<ReadonlyMap<Last, readonly ReplacedDays[]>> {
    if (lasts.length === 0) return new Map();
    const subjects = new Set(lasts.map(({ row }) => subjectOf(this.#dataset, row)));
    const bySubject = await readReplacedDays(this.#writer, this.#dataset, subjects);
    const found = new Map<Last, readonly ReplacedDays[]>();
    for (const last of lasts) {
      const day = dayOfRow(this.#dataset, last.row);
      const all = bySubject.get(subjectOf(this.#dataset, last.row)) ?? [];
      const own = all.filter(({ fromDay, toDay }) => fromDay <= day && day <= toDay);
      if (own.length > 0) found.set(last, own);
    }
    return found;
  }

  /** Settles one row by the runs that stand for its day. */
  async #settleOne(last: Last, days: readonly ReplacedDays[]): Promise<Settled[]> {
    const { row_key, row, removal, writers, holders } = last;
    const runs = [...new Set([...writers, ...holders])].sort((one, other) => one - other);
    const left: number[] = [];
    let remover: number | null = null;
    for (const runId of runs) {
      const by = await this.#replacing(runId, days, runs);
      if (by === null) left.push(runId);
      else remover = Math.max(remover ?? 0, by);
    }
    const place = { dataset: this.#dataset.name, row_key };
    if (left.length > 0) {
      if (removal !== null) await this.#restore(row, removal);
      const owner = left.find((runId) => writers.includes(runId)) ?? left[0]!;
      if (remover !== null && !writers.includes(owner)) await this.#leaveTo(owner, place, row);
      if (removal === null && remover === null) return [];
      const fate = removal === null ? 'kept' : 'restored';
      return [{ row_key, row, fate, runId: owner, from: writers[0]!, isOwnDeleted: false }];
    }
    if (remover === removal?.run_id) return [];
    await this.#writer.upsert(rowChanges, [{ ...place, run_id: remover!, before: row }]);
    if (removal !== null) {
      await this.#writer.remove(rowChanges, [removal]);
      await this.#moveAlong(row, removal.run_id, remover);
      return [];
    }
    await putRows(this.#writer, this.#dataset, [{ before: row, after: null }]);
    await removeBeside(this.#writer, remover!, this.#dataset, row);
    const isOwnDeleted = await this.#deleteOwn(remover!, row);
    return [{ row_key, row, fate: 'removed', runId: remover!, from: writers[0]!, isOwnDeleted }];
  }

  /**
   * The first run that took a row from one that had brought it; null where none did. A run takes nothing that
   * its own file holds.
   */
  async #replacing(
    runId: number,
    days: readonly ReplacedDays[],
    holding: readonly number[],
  ): Promise<number | null> {
    const { source } = await this.#sourceOf(runId);
    for (const { runId: by } of days)
      if (
        runId < by &&
        !holding.includes(by) &&
        source !== null &&
        (await this.#sourceOf(by)).source === source
      )
        return by;
    return null;
  }

  /** Puts a row back whose removal does not hold any more, with the instrument that it is. */
  async #restore(row: Row, removal: Entry): Promise<void> {
    await this.#writer.remove(rowChanges, [removal]);
    await this.#moveAlong(row, removal.run_id, null);
    await refuseUnnamed(this.#writer, this.#dataset, row);
    await putRows(this.#writer, this.#dataset, [{ before: null, after: row }]);
  }

  /** Makes the removal of what went with a row that of another run, or takes it back. */
  async #moveAlong(row: Row, from: number, to: number | null): Promise<void> {
    await moveBeside(this.#writer, this.#dataset, rowKeyOf(this.#dataset, row), { from, to });
    await this.#moveOwn(row, from, to);
  }

  /** The same of the instrument that a row is. */
  async #moveOwn(row: Row, from: number, to: number | null): Promise<void> {
    const own = namedBy(this.#dataset, row).find(({ isOwn }) => isOwn);
    if (own === undefined) return;
    const place = { dataset: instruments.name, row_key: rowKeyOf(instruments, own.name) };
    const entry = await rowWith(this.#writer, rowChanges, { ...place, run_id: from });
    if (entry === null) return;
    const isStored = (await instrumentNamed(this.#writer, own.name)) !== null;
    // The run that made it again after its deletion.
    const maker = isStored ? await this.#nextOf(own.name, from) : undefined;
    if (isStored && (maker === undefined || (to !== null && to >= maker.run_id))) return;
    await this.#writer.remove(rowChanges, [entry]);
    if (to !== null) await this.#writer.upsert(rowChanges, [{ ...entry, run_id: to }]);
    else if (maker !== undefined) await this.#writer.upsert(rowChanges, [{ ...maker, before: entry.before }]);
    else await putRows(this.#writer, instruments, [{ before: null, after: rowBefore(instruments, entry) }]);
  }

  /** Deletes the instrument that a removed row was, unless it is needed, or a later run has changed it. */
  async #deleteOwn(runId: number, row: Row): Promise<boolean> {
    const own = namedBy(this.#dataset, row).find(({ isOwn }) => isOwn);
    if (own === undefined || (await this.#nextOf(own.name, runId)) !== undefined) return false;
    return deleteOwn(this.#writer, runId, this.#dataset, row);
  }

  /** Makes a row, and what it names, that of a run that held it. */
  async #leaveTo(run_id: number, place: Pick<Entry, 'dataset' | 'row_key'>, before: Row): Promise<void> {
    await this.#writer.upsert(rowChanges, [{ ...place, run_id, before }]);
    for (const { name } of namedBy(this.#dataset, before)) await leaveInstrument(this.#writer, run_id, name);
  }

  /** The first change of an instrument after a run. */
  async #nextOf(name: Parameters<typeof instrumentNamed>[1], runId: number): Promise<Entry | undefined> {
    const where = { dataset: instruments.name, row_key: rowKeyOf(instruments, name) };
    const read = { where, order: [['run_id', 'asc'] as const], after: [runId], limit: 1 };
    return (await this.#writer.rows(rowChanges, read))[0];
  }

  async #sourceOf(runId: number): Promise<Source> {
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const run = await rowWith(this.#writer, importRuns, { run_id: runId });
    // A contract that bars or instruments brought along is no row of a list that replaces it.
    const isOfList = run?.dataset === spokenName(this.#dataset);
    const source = { isImport: run?.kind === 'import', source: isOfList ? run.source : null };
    this.#runs.set(runId, source);
    return source;
  }

  /** True if the present run replaces the rows of a run. */
  async #isReplaced(runId: number): Promise<boolean> {
    return (await this.#sourceOf(runId)).source === this.#own!.source;
  }

  /** True if the present run replaces the rows of one of some runs. */
  async #isAnyReplaced(runIds: Iterable<number>): Promise<boolean> {
    for (const runId of runIds) if (await this.#isReplaced(runId)) return true;
    return false;
  }

  /** True if the present run replaces the rows of all of some runs. */
  async #areAllReplaced(runIds: Iterable<number>): Promise<boolean> {
    for (const runId of runIds) if (!(await this.#isReplaced(runId))) return false;
    return true;
  }
}

/** Makes the removal of a row beside another, by its key, that of another run, or takes it back. */
async function moveBeside(
  writer: Writer,
  { file }: Dataset,
  row_key: string,
  { from, to }: { readonly from: number; readonly to: number | null },
): Promise<void> {
  const beside = file?.beside?.dataset;
  if (beside === undefined) return;
  const entry = await rowWith(writer, rowChanges, { dataset: beside.name, row_key, run_id: from });
  if (entry === null) return;
  await writer.remove(rowChanges, [entry]);
  if (to === null) await putRows(writer, beside, [{ before: null, after: rowBefore(beside, entry) }]);
  else await writer.upsert(rowChanges, [{ ...entry, run_id: to }]);
}
