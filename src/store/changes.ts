// What each write changed, and what changed since a version: kept in the store, for all who cache
// (docs/decisions/0029).

import { DamagedData, unlessDamaged } from './damage.ts';
import { partId, partOf } from './known-changes.ts';
import { storeLimits } from './limits.ts';
import type { Dataset, PartKind, Values } from './schema/dataset.ts';
import { dataDatasets } from './schema/index.ts';
import { changes, counters } from './schema/internal.ts';
import type { Change, Part, RowReader, RowWriter } from './store.ts';

/** Datasets by name, and the numbers of their parts by kind. */
type ChangedParts = { readonly datasets: readonly string[] } & {
  readonly [K in PartKind]?: readonly number[];
};

/** Collects the parts that one write changes. */
export class WrittenParts {
  readonly #datasets = new Set<string>();
  readonly #parts = new Map<PartKind, Set<number>>();
  #count = 0;
  #isEverything = false;

  /** Whether the write has changed nothing. */
  get isEmpty(): boolean {
    return this.#datasets.size === 0 && !this.#isEverything;
  }

  /** Whether more parts make no difference: the write counts as one that may have changed anything. */
  get isEverything(): boolean {
    return this.#isEverything;
  }

  /** Adds a row that is written or removed; and the same row as it was, where its part may be another. */
  addRow(dataset: Dataset, row: Values): void {
    this.#datasets.add(dataset.name);
    if (this.#isEverything) return;
    for (const rule of dataset.parts ?? []) {
      const id = partId(rule, row);
      if (id !== null) this.#add(rule.kind, id);
    }
  }

  /** Adds a block that is written or removed. */
  addBlock(seriesId: number): void {
    this.#datasets.add('bars');
    this.#add('series', seriesId);
  }

  /** Counts everything as changed. */
  addEverything(): void {
    this.#isEverything = true;
    this.#parts.clear();
  }

  #add(kind: PartKind, id: number): void {
    if (this.#isEverything) return;
    const ids = this.#parts.get(kind);
    if (ids?.has(id)) return;
    if (ids === undefined) this.#parts.set(kind, new Set([id]));
    else ids.add(id);
    this.#count++;
    // Who asks for so many forgets everything in any case.
    if (this.#count > storeLimits.changedPartsMax) this.addEverything();
  }

  /** The parts as a row of `changes` has them. */
  get parts(): ChangedParts | null {
    if (this.#isEverything) return null;
    const parts = Object.fromEntries([...this.#parts].map(([kind, ids]) => [kind, [...ids]]));
    return { datasets: [...this.#datasets], ...parts };
  }
}

/** The counter of the store's version. */
export const DATA_VERSION = { name: 'data_version' };

/** The counter of the oldest version that the store can be read as: 0 without it. */
const OLDEST_VERSION = { name: 'oldest_version' };

/** The version of a store: 0 before the first write. @throws DamagedData */
export async function versionIn(reader: RowReader): Promise<number> {
  return (await reader.group(counters, DATA_VERSION))[0]?.value ?? 0;
}

/** The version of a store; null where damage hides it: then nothing can be cached. */
export function readVersion(reader: RowReader): Promise<number | null> {
  return unlessDamaged(versionIn(reader));
}

/**
 * The version that the present write will be: those who read it later see what it wrote. @throws DamagedData
 */
export const versionOfWrite = async (writer: RowReader): Promise<number> => (await versionIn(writer)) + 1;

/** The oldest version that the store can be read as (contract 9.12). @throws DamagedData */
export async function oldestVersion(reader: RowReader): Promise<number> {
  return (await reader.group(counters, OLDEST_VERSION))[0]?.value ?? 0;
}

/** Says that nothing tells any more what the store was before the present write. @throws DamagedData */
export async function forgetEarlier(writer: RowWriter): Promise<void> {
  await forgetBefore(writer, await versionOfWrite(writer));
}

/** Says that a version is the oldest that the store can be read as. */
export const forgetBefore = (writer: RowWriter, version: number): Promise<void> =>
  writer.upsert(counters, [{ ...OLDEST_VERSION, value: version }]);

/**
 * Raises the version of a store, and keeps what was written: the end of each write that changed anything.
 * @throws DamagedData
 */
export async function raiseVersion(writer: RowWriter, { parts }: WrittenParts): Promise<void> {
  const version = await versionOfWrite(writer);
  await writer.upsert(counters, [{ ...DATA_VERSION, value: version }]);
  await writer.upsert(changes, [{ version, parts }]);
  await writer.remove(changes, [{ version: version - storeLimits.changesKept }]);
}

/**
 * As `raiseVersion`, of a write past the datasets: anything may have changed, and earlier versions are
 * forgotten. Where damage hides the version it stays hidden.
 */
export async function raiseForEverything(writer: RowWriter): Promise<void> {
  const written = new WrittenParts();
  written.addEverything();
  try {
    await forgetEarlier(writer);
    await raiseVersion(writer, written);
  } catch (error) {
    if (!(error instanceof DamagedData)) throw error;
  }
}

/**
 * Every change after a version, up to that of the reader; null where there are more than `max`, or not all
 * are known.
 */
export async function changesAfter(
  reader: RowReader,
  version: number,
  max: number,
): Promise<readonly Change[] | null> {
  const present = await readVersion(reader);
  if (present === null) return null;
  const found: Change[] = [];
  for (let next = version + 1; next <= present; ) {
    const read = reader.rows(changes, {
      range: { from: next },
      order: [['version', 'asc']],
      limit: storeLimits.changesPerRead,
    });
    const rows = await unlessDamaged(read);
    if (rows === null || rows.length === 0) return null;
    for (const row of rows) {
      // A row that is lost, or no longer kept.
      if (row.version !== next || row.parts === null || lacksParts(row.parts as ChangedParts)) return null;
      for (const part of partsOf(row.parts as ChangedParts)) found.push({ part, version: next });
      if (found.length > max) return null;
      next++;
    }
  }
  return found;
}

/** The kinds of parts that every row of a dataset belongs to, by its name. */
const kindsByDataset: ReadonlyMap<string, readonly PartKind[]> = new Map(
  dataDatasets.map(({ name, parts = [] }) => [
    name,
    parts.filter(({ where }) => where === undefined).map(({ kind }) => kind),
  ]),
);

/** Whether a program that knew fewer parts wrote a change: then all of a dataset may have changed. */
function lacksParts(parts: ChangedParts): boolean {
  return parts.datasets.some((name) => {
    const kinds = kindsByDataset.get(name) ?? [];
    return kinds.some((kind) => parts[kind] === undefined);
  });
}

function* partsOf({ datasets, ...parts }: ChangedParts): Generator<Part> {
  yield* datasets;
  for (const [kind, ids] of Object.entries(parts)) for (const id of ids) yield partOf(kind as PartKind, id);
}
