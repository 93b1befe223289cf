// The values of rows before each write, where the journal of runs does not have it: with both, the store can
// be read as it was. A restored or copied store goes on apart from the one that it was made of, with a
// version that neither had before (contract 9.12, docs/decisions/0041).

import { randomInt } from 'node:crypto';
import { rowsInOrder, rowWith, soundRowsByKey } from './all-rows.ts';
import { DATA_VERSION, forgetBefore, forgetEarlier, oldestVersion, versionIn } from './changes.ts';
import { DamagedData, unlessDamaged } from './damage.ts';
import { rowKeyOf } from './journal-entries.ts';
import { storeLimits } from './limits.ts';
import type { Dataset, RowOf, Values } from './schema/dataset.ts';
import { dataDatasets } from './schema/index.ts';
import { changes, counters, formerRows, rowChanges } from './schema/internal.ts';
import type { RowReader, RowWriter } from './store.ts';

/** An entry of `former_rows`. */
type Entry = RowOf<typeof formerRows>;
type JournalPart = Pick<RowOf<typeof rowChanges>, 'run_id' | 'dataset'>;

/** The datasets whose former rows are kept themselves. */
const keepingNames: ReadonlySet<string> = new Set(
  dataDatasets.filter(({ keepsFormer }) => keepsFormer !== undefined).map(({ name }) => name),
);

/** The part that the rows of a dataset are kept under; null where `values` do not tell it. */
export function formerPart({ keepsFormer }: Dataset, values: Values): number | null {
  const by = keepsFormer?.by ?? null;
  return by === null ? 0 : ((values[by] as number | undefined) ?? null);
}

/** A row as JSON can hold it. */
const packed = (dataset: Dataset, row: Values): Values =>
  Object.fromEntries(
    Object.entries(dataset.columns).map(([column, { kind }]) => {
      const value = row[column];
      return [
        column,
        kind === 'bytes' && value !== null ? Buffer.from(value as Uint8Array).toString('base64') : value,
      ];
    }),
  );

const keyOf = ({ key }: Dataset, row: Values): Partial<RowOf<Dataset>> =>
  Object.fromEntries(key.map((column) => [column, row[column]])) as Partial<RowOf<Dataset>>;

/** The counter of the rows that are kept. */
const KEPT = { name: 'former_rows' };

/** Rows that are looked at together where some are forgotten. */
const ROWS_PER_READ = 500;

/** Rows that are kept together. */
const ROWS_TOGETHER = 10_000;

/** The oldest kept rows of a dataset: up to `limit`. */
const oldestRows = (writer: RowWriter, dataset: string, limit: number): Promise<Entry[]> =>
  writer.rows(formerRows, {
    where: { dataset },
    order: [
      ['version', 'asc'],
      ['part', 'asc'],
      ['row_key', 'asc'],
    ],
    limit,
  });

/** Removes up to `most` rows that no readable version needs. Gives how many. */
async function removeUseless(writer: RowWriter, most: number): Promise<number> {
  const oldest = await oldestVersion(writer);
  let removed = 0;
  for (const { name } of dataDatasets)
    while (removed < most) {
      const rows = await oldestRows(writer, name, Math.min(ROWS_PER_READ, most - removed));
      const useless = rows.filter(({ version }) => version <= oldest);
      await writer.remove(formerRows, useless);
      removed += useless.length;
      if (useless.length < ROWS_PER_READ) break;
    }
  return removed;
}

/** The oldest version that can be read once about `count` rows are forgotten; null where none are kept. */
async function versionWithout(writer: RowWriter, count: number): Promise<number | null> {
  const versions: number[] = [];
  // A full read shows only a part of a dataset: no version after its last one is forgotten.
  let horizon = Number.POSITIVE_INFINITY;
  for (const { name } of dataDatasets) {
    const rows = await oldestRows(writer, name, ROWS_PER_READ);
    versions.push(...rows.map(({ version }) => version));
    if (rows.length === ROWS_PER_READ) horizon = Math.min(horizon, rows.at(-1)!.version);
  }
  versions.sort((a, b) => a - b);
  const next = versions[Math.min(count, versions.length) - 1];
  return next === undefined ? null : Math.min(next, horizon);
}

/**
 * Forgets the oldest versions until `count` rows are removed, or nothing is left to forget. Gives how many.
 */
async function forgetOldest(writer: RowWriter, count: number): Promise<number> {
  for (let removed = 0; ; ) {
    removed += await removeUseless(writer, count - removed);
    const next = removed < count ? await versionWithout(writer, count - removed) : null;
    if (next === null) return removed;
    await forgetBefore(writer, next);
  }
}

/** Keeps what rows were before one write. */
export class KeptFormerRows {
  /** The version that has the write; null where damage hides it, and then the write fails at its end. */
  readonly #version: number | null;
  /**
   * The rows that are kept already, and the runs whose entries of a dataset are named, in the order in which
   * they came.
   */
  readonly #kept = new Set<string>();
  /** The datasets and runs whose entries in the journal changed, by the names under which they are kept. */
  readonly #named = new Map<string, JournalPart>();

  /** `before`: the version before the write. */
  constructor(before: number | null) {
    this.#version = before === null ? null : before + 1;
  }

  /** How many are kept so far. */
  get count(): number {
    return this.#kept.size;
  }

  /** Forgets what was kept after so many: that part of the write was undone. */
  undoTo(count: number): void {
    for (const name of [...this.#kept].slice(count)) this.#kept.delete(name);
  }

  /**
   * Counts at the end of the write what it has kept. Where the store keeps too much, it forgets its oldest
   * versions.
   */
  async end(writer: RowWriter): Promise<void> {
    const added = this.#kept.size;
    if (added === 0 || this.#version === null) return;
    for (const name of this.#kept) {
      const part = this.#named.get(name);
      if (part === undefined) continue;
      const before = { entries: await writer.count(rowChanges, part) };
      await this.#put(writer, { dataset: part.dataset, part: 0, row_key: String(part.run_id), before });
    }
    const known = await unlessDamaged(rowWith(writer, counters, KEPT));
    let kept = known === null ? await writer.count(formerRows) : known.value + added;
    const excess = kept - storeLimits.formerRowsMax;
    // More than it adds, so that a store that has too much comes back to its bound.
    const most = 2 * added + storeLimits.formerRowsForgotten;
    if (excess > 0) kept -= await this.#forget(writer, Math.min(excess, most));
    await writer.upsert(counters, [{ ...KEPT, value: kept }]);
  }

  /** Forgets some of the oldest rows. Gives how many. */
  async #forget(writer: RowWriter, count: number): Promise<number> {
    try {
      return await forgetOldest(writer, count);
    } catch (error) {
      if (!(error instanceof DamagedData)) throw error;
      // Which version is the oldest is not known any more: this one is.
      if (error.row !== null && error.damage.dataset === formerRows.name)
        await writer.remove(formerRows, [error.row]);
      await forgetBefore(writer, this.#version!);
      return 0;
    }
  }

  /**
   * To be called before rows are written or removed, of a dataset that `keepsFormer`. `writer` writes the
   * entries.
   */
  async keep(writer: RowWriter, dataset: Dataset, rows: readonly Values[]): Promise<void> {
    const fresh = rows.filter((row) => this.#isNew(`${dataset.name} ${rowKeyOf(dataset, row)}`));
    for (let at = 0; at < fresh.length; at += ROWS_TOGETHER) {
      const keys = fresh.slice(at, at + ROWS_TOGETHER).map((row) => keyOf(dataset, row));
      await this.#keepSome(writer, dataset, keys);
    }
  }

  async #keepSome(
    writer: RowWriter,
    dataset: Dataset,
    keys: readonly Partial<RowOf<Dataset>>[],
  ): Promise<void> {
    const found = await soundRowsByKey(writer, dataset, keys);
    // What a damaged one was is not known any more.
    if (found.includes(null)) await forgetEarlier(writer);
    for (const [at, rows] of found.entries()) {
      const before = rows?.[0] ?? null;
      await this.#put(writer, {
        dataset: dataset.name,
        part: formerPart(dataset, keys[at]!)!,
        row_key: rowKeyOf(dataset, keys[at]!),
        before: before === null ? null : packed(dataset, before),
      });
    }
  }

  /**
   * Names the runs that have entries of a dataset in the journal, so that those of later runs alone are
   * looked for. Call it for entries that are written or removed. The end of the write stores the names, each
   * with how many entries the run has then, so that a lost one is missed.
   */
  nameRuns(entries: readonly JournalPart[]): void {
    for (const { dataset, run_id } of entries) {
      const name = `${dataset} of run ${run_id}`;
      if (keepingNames.has(dataset) || !this.#isNew(name)) continue;
      this.#named.set(name, { run_id, dataset });
    }
  }

  #isNew(name: string): boolean {
    if (this.#kept.has(name)) return false;
    this.#kept.add(name);
    return true;
  }

  async #put(writer: RowWriter, entry: Omit<Entry, 'version'>): Promise<void> {
    if (this.#version !== null) await writer.upsert(formerRows, [{ ...entry, version: this.#version }]);
  }
}

/** A version, and the one that came after it. The store never had those between. */
export type Leap = { readonly from: number; readonly to: number };

/** The known versions of other stores, and of its own. */
type LeapKnowledge = {
  /** The clock, epoch milliseconds. */
  readonly nowMs: number;
  /** The version of a store whose place it takes; 0 without one. */
  readonly replaced?: number;
  /** True if the earlier states of the store are not known. */
  readonly forgetsEarlier?: boolean;
};

/**
 * The moment, if it is greater than every known version. If the clock is behind, other stores may continue
 * from the same version by the same clock: a random step keeps them apart.
 */
const freshVersion = (newest: number, nowMs: number): number =>
  nowMs > newest ? nowMs : newest + randomInt(1, storeLimits.versionLeapMax);

/**
 * Gives a store a version that no store had before: a write of its own, which changes no data. Gives the
 * leap. @throws DamagedData
 */
export async function leapVersion(
  writer: RowWriter,
  { nowMs, replaced = 0, forgetsEarlier = false }: LeapKnowledge,
): Promise<Leap> {
  const from = await versionIn(writer);
  const to = freshVersion(Math.max(from, replaced), nowMs);
  const former = new KeptFormerRows(to - 1);
  await former.keep(writer, counters, [DATA_VERSION]);
  await writer.upsert(counters, [{ ...DATA_VERSION, value: to }]);
  // Versions follow each other in it.
  const known = await writer.rows(changes, { order: [['version', 'asc']], limit: storeLimits.changesKept });
  await writer.remove(changes, known);
  await writer.upsert(changes, [{ version: to, parts: null }]);
  if (forgetsEarlier) await forgetBefore(writer, to);
  await former.end(writer);
  return { from, to };
}

/** Leaps that are read at once: a store has few. */
const LEAPS_PER_READ = 16;

/** The leaps to versions after one, in their order. */
export async function* leapsAfter(reader: RowReader, version: number): AsyncGenerator<Leap> {
  const read = {
    where: { dataset: counters.name, part: 0 },
    range: { from: version + 1 },
    order: [['version', 'asc'] as const, ['row_key', 'asc'] as const],
    limit: LEAPS_PER_READ,
  };
  for await (const { before, version: to } of rowsInOrder(reader, formerRows, read))
    yield { from: (before as RowOf<typeof counters> | null)?.value ?? 0, to };
}

/** Counts the writes that a store had from one version to another: leaps are none. */
export async function writesBetween(reader: RowReader, from: number, to: number): Promise<number> {
  let [writes, last] = [0, from];
  for await (const leap of leapsAfter(reader, from)) {
    writes += Math.max(0, leap.from - last);
    last = leap.to;
  }
  return writes + Math.max(0, to - last);
}
