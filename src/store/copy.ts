// Copies a whole store into another of any engine: one state of it, row by row and block by block, and
// proves the copy (docs/decisions/0032). And one hash of a store's content, whatever its engine and the
// order of its imports: copies and repairs are checked by it.
import { createHash } from 'node:crypto';
import { blockCount } from '../market/bars/block.ts';
import { allBlocks, everyBucket, ofBytes, refuseLostBlocks } from './all-blocks.ts';
import { allRows, rowsInOrder } from './all-rows.ts';
import { compareRows, keyOrder, type Row } from './checked-rows.ts';
import { leapVersion } from './former-rows.ts';
import { storeLimits } from './limits.ts';
import { storeHistory } from './migrations/index.ts';
import { columnsAdded } from './migrations/step.ts';
import { series as allSeries } from './schema/bars.ts';
import type { Dataset } from './schema/dataset.ts';
import { holidays } from './schema/holidays.ts';
import { BARS, dataDatasets, fileDatasets } from './schema/index.ts';
import { apiKeys, controlDatasets } from './schema/internal.ts';
import { instruments } from './schema/reference.ts';
import {
  type Reader,
  type RowReader,
  type RowStore,
  type RowWriter,
  type Store,
  type StoredBlock,
  StoreUnusable,
  type Writer,
} from './store.ts';

/**
 * Follows a copy: what it does next, with the number of rows and bars of that, and how many of them are done.
 */
export type CopyProgress = {
  begins(doing: string, rowsAbout: number): void;
  reached(rows: number): void;
};

/** A copy that was made and verified. */
export type StoreCopy = {
  /** Of the state that was copied. */
  readonly copiedVersion: number | null;
  /** Of the source when the copy was finished: another one where it was written to meanwhile. */
  readonly sourceVersion: number | null;
  /** With which the copy goes on. */
  readonly version: number;
  readonly contentHash: string;
  /** The rows of all datasets, its own records included; the keys are counted apart. */
  readonly rows: number;
  readonly series: number;
  readonly bars: number;
  readonly keys: number;
  /** Whether it went on with an earlier copy that was cut off. */
  readonly resumed: boolean;
};

/** A change that makes a target equal to its source: it is made with others, in one write. */
type Change = {
  /** The dataset that it is about. */
  readonly of: string;
  readonly bytes: number;
  readonly make: (writer: CopyWriter) => Promise<void>;
};

/** Changes of a target that are written together: as many as keep the memory small. */
class Batch {
  readonly #target: CopyTarget;
  #changes: Change[] = [];
  #bytes = 0;

  constructor(target: CopyTarget) {
    this.#target = target;
  }

  async add(change: Change): Promise<void> {
    this.#changes.push(change);
    this.#bytes += change.bytes;
    if (this.#bytes >= storeLimits.copyBatchBytes || this.#changes.length >= storeLimits.copyBatchChanges)
      await this.flush();
  }

  async flush(): Promise<void> {
    const changes = this.#changes;
    this.#changes = [];
    this.#bytes = 0;
    if (changes.length > 0)
      await this.#target.write(async (writer) => {
        for (const { make } of changes) await make(writer);
      });
  }
}

/** Two ordered sequences side by side: pairs of equal place, and what one of them alone has. */
async function* sideBySide<T>(
  left: AsyncIterable<T>,
  right: AsyncIterable<T>,
  compare: (a: T, b: T) => number,
): AsyncGenerator<readonly [left: T | null, right: T | null]> {
  const [lefts, rights] = [left[Symbol.asyncIterator](), right[Symbol.asyncIterator]()];
  let [a, b] = [await lefts.next(), await rights.next()];
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : compare(a.value, b.value);
    yield [order <= 0 ? (a.value as T) : null, order >= 0 ? (b.value as T) : null];
    // The next ones are read only now: what was written meanwhile is before them.
    if (order <= 0) a = await lefts.next();
    if (order >= 0) b = await rights.next();
  }
}

async function* nothing(): AsyncGenerator<never> {}

const rowsOf = (reader: RowReader, dataset: Dataset): AsyncGenerator<Row> =>
  rowsInOrder(reader, dataset, {
    order: keyOrder(dataset),
    limit: storeLimits.copyRowsPerRead,
  });

const blocksOf = (reader: Reader, seriesId: number): AsyncGenerator<StoredBlock> =>
  allBlocks(reader, { seriesId, ...everyBucket, direction: 'asc' });

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return typeof a === 'object' && a !== null && JSON.stringify(a) === JSON.stringify(b);
}

const isEqualRow = (a: Row, b: Row): boolean =>
  Object.keys(a).every((column) => isEqual(a[column], b[column]));

/** What a row takes in memory, about. */
function bytesOf(row: Row): number {
  let bytes = 0;
  for (const value of Object.values(row)) {
    if (value instanceof Uint8Array) bytes += value.length;
    else if (typeof value === 'string') bytes += 2 * value.length;
    else bytes += typeof value === 'object' && value !== null ? 2 * JSON.stringify(value).length : 8;
  }
  return bytes;
}

/** Counts what was read of a source. */
class Counts {
  rows = 0;
  series = 0;
  bars = 0;
  readonly #progress: CopyProgress;

  constructor(progress: CopyProgress) {
    this.#progress = progress;
  }

  add(rows: number, bars: number): void {
    this.rows += rows;
    this.bars += bars;
    this.#progress.reached(this.rows + this.bars);
  }
}

/**
 * The changes that make what is there equal to a state of the source. They may be made while the next ones
 * are looked for.
 */
async function* changesTo(source: Reader, there: Reader | null, counts: Counts): AsyncGenerator<Change> {
  for (const dataset of dataDatasets) yield* rowChanges(dataset, source, there, counts);
  for await (const { series_id } of rowsInOrder(source, allSeries, bySeries)) {
    counts.series++;
    yield* blockChanges(series_id, source, there, counts);
  }
}

async function* rowChanges(
  dataset: Dataset,
  source: Reader,
  there: Reader | null,
  counts: Counts,
): AsyncGenerator<Change> {
  const of = dataset.name;
  const olds = there === null ? nothing() : rowsOf(there, dataset);
  const order = keyOrder(dataset);
  const pairs = sideBySide<Row>(rowsOf(source, dataset), olds, (a, b) => compareRows(order, a, b));
  for await (const [row, old] of pairs) {
    if (row === null) {
      // The blocks of a series that the source has no more.
      if (dataset === allSeries)
        for await (const { bucket } of blocksOf(there!, old!.series_id as number))
          yield removal(old!.series_id as number, bucket);
      yield { of, bytes: 0, make: (writer) => writer.remove(dataset, [old!]) };
      continue;
    }
    counts.add(1, 0);
    if (old === null || !isEqualRow(row, old))
      yield { of, bytes: bytesOf(row), make: (writer) => writer.upsert(dataset, [row as never]) };
  }
}

const removal = (seriesId: number, bucket: number): Change => ({
  of: BARS,
  bytes: 0,
  make: (writer) => writer.putBlock(seriesId, { bucket, bytes: null }),
});

async function* blockChanges(
  seriesId: number,
  source: Reader,
  there: Reader | null,
  counts: Counts,
): AsyncGenerator<Change> {
  await refuseLostBlocks(source, seriesId);
  const olds = there === null ? nothing() : blocksOf(there, seriesId);
  const pairs = sideBySide(blocksOf(source, seriesId), olds, (a, b) => a.bucket - b.bucket);
  for await (const [found, old] of pairs) {
    if (found === null) {
      yield removal(seriesId, old!.bucket);
      continue;
    }
    counts.add(0, ofBytes(seriesId, found, blockCount));
    const { bucket, runId, bytes } = found;
    if (old === null || old.runId !== runId || !isEqual(old.bytes, bytes)) {
      const block = { bucket, runId, bytes };
      yield { of: BARS, bytes: bytes.length, make: (writer) => writer.putBlock(seriesId, block) };
    }
  }
}

const bySeries = { order: [['series_id', 'asc']], limit: storeLimits.copyRowsPerRead } as const;

const differing = (name: string, what: string): StoreUnusable =>
  new StoreUnusable(
    `the copy at ${name} differs from what was written, in its ${what}: its disk or server did not store it; copy again to try once more`,
  );

/** The rows and bars of a state, about: for progress. */
async function sizeOf(reader: Reader): Promise<number> {
  let size = 0;
  for (const dataset of dataDatasets) size += await reader.count(dataset);
  for await (const { bar_count } of rowsInOrder(reader, allSeries, bySeries)) size += bar_count;
  return size;
}

/**
 * Copies the keys, quota uses and secrets as they are now, and gives the number of keys. @throws
 * StoreUnusable where the copy differs
 */
async function copyControl(control: RowStore, target: CopyTarget): Promise<number> {
  const found = await control.snapshot((reader) => everyRow(reader));
  await target.control.write(async (writer) => {
    for (const [dataset, old] of await everyRow(writer)) await writer.remove(dataset, old as never[]);
    for (const [dataset, rows] of found) await writer.upsert(dataset, rows as never[]);
  });
  const made = await target.control.snapshot((reader) => everyRow(reader));
  for (const [dataset, rows] of found) {
    const others = made.get(dataset)!;
    if (rows.length !== others.length || !rows.every((row, at) => isEqualRow(row, others[at]!)))
      throw differing(target.name, dataset.name);
  }
  return found.get(apiKeys)!.length;
}

async function everyRow(reader: RowReader): Promise<Map<Dataset, Row[]>> {
  const found = new Map<Dataset, Row[]>();
  for (const dataset of controlDatasets) found.set(dataset, await Array.fromAsync(rowsOf(reader, dataset)));
  return found;
}

/** Gives a copy a version that no store had before. */
async function leap(target: CopyTarget, nowMs: number): Promise<number> {
  const { to } = await target.write((writer) => leapVersion(writer, { nowMs }));
  return to;
}

/**
 * Makes the target a copy of one state of the source, and then its store. A target that an earlier copy began
 * is completed: what it has is not written again. `control`: the keys of the source; null where it has none
 * yet. @throws DamagedData, DiskFull, StoreUnusable
 */
export async function copyStore(
  source: Store,
  control: RowStore | null,
  target: CopyTarget,
  progress: CopyProgress,
  nowMs: () => number,
): Promise<StoreCopy> {
  const made = await source.snapshot(async (reader) => {
    progress.begins('copying', await sizeOf(reader));
    const counts = new Counts(progress);
    const batch = new Batch(target);
    for await (const change of changesTo(reader, target.isBegun ? target.reader : null, counts))
      await batch.add(change);
    await batch.flush();
    const { rows, series, bars } = counts;
    progress.begins('checking the copy', 2 * (rows + bars));
    const checked = new Counts(progress);
    for await (const { of } of changesTo(reader, target.reader, checked)) throw differing(target.name, of);
    const hash = await contentHash(target.reader, (read) => checked.add(read, 0));
    const copiedVersion = await reader.version();
    return { copiedVersion, contentHash: hash, rows, series, bars };
  });
  // Last: a key that was revoked while the bars were copied is revoked in the copy too.
  const keys = control === null ? 0 : await copyControl(control, target);
  // The source goes on from the same state: a version is not to name what both have next.
  const version = await leap(target, nowMs());
  await target.finish();
  return { ...made, version, keys, sourceVersion: await source.version(), resumed: target.isBegun };
}

/** The writer of a copy: it takes rows and blocks as they are. */
export type CopyWriter = RowWriter & Pick<Writer, 'putBlock'>;

/**
 * A store to be, at an address where none is. Nobody opens it before it is finished; what was written stays
 * when the copy is cut off.
 */
export interface CopyTarget {
  /** The name of the store in messages: no password. */
  readonly name: string;
  /** True if an earlier copy into it was cut off. */
  readonly isBegun: boolean;
  /** Reads what was written. */
  readonly reader: Reader;
  /**
   * Writes part of the copy, which stays from then on. Versions and changes are rows like all others here.
   * @throws DiskFull, StoreUnavailable
   */
  write<T>(work: (writer: CopyWriter) => Promise<T>): Promise<T>;
  /** The keys, quota uses and secrets of the store to be. */
  readonly control: RowStore;
  /** Makes it the store of its address, at once. @throws WouldReplace where one was made meanwhile */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** The message where a copy would go to a store. */
export const storeInTheWay = (name: string): string =>
  `there is a store at ${name}: a copy makes a new one; name another place`;

/**
 * SHA-256, in hexadecimal, of every instrument, every bar and every row of the other datasets of files.
 * Identifiers and the records of imports are left out: they depend on the order of the files. `onRead` gets
 * the number of rows and bars that were read.
 */
export async function contentHash(
  reader: Reader,
  onRead: (rows: number) => void = () => undefined,
): Promise<string> {
  const hash = createHash('sha256');
  // Length first, so that no two sequences of texts are the same bytes.
  const addText = (text: string) => hash.update(`${text.length}:${text}`);
  const addRow = (dataset: Dataset, row: Row) => {
    addText(JSON.stringify(withoutIdentifiers(hashed(dataset, row))));
    onRead(1);
  };
  for await (const instrument of allRows(reader, instruments)) {
    addRow(instruments, instrument);
    const { instrument_id } = instrument;
    for await (const series of allRows(reader, allSeries, { instrument_id })) {
      if (series.bar_count === 0) continue;
      addRow(allSeries, series);
      const { series_id: seriesId } = series;
      await refuseLostBlocks(reader, seriesId);
      // The same bars are the same bytes (`market/bars/block-writer.ts`).
      for await (const block of blocksOf(reader, seriesId)) {
        const bars = ofBytes(seriesId, block, blockCount);
        const { bucket, bytes } = block;
        if (bars > 0) addText(`${bucket} ${bytes.length}`).update(bytes);
        onRead(bars);
      }
    }
  }
  for (const dataset of rowDatasets) for await (const row of allRows(reader, dataset)) addRow(dataset, row);
  return hash.digest('hex');
}

/** The datasets of files beside instruments and bars. Hashes have always had holidays first. */
const rowDatasets: readonly Dataset[] = [
  holidays,
  ...fileDatasets.filter((one) => one !== instruments && one !== holidays),
  ...fileDatasets.flatMap(({ file: { beside } }) => beside?.dataset ?? []),
];

/** Numbers that the store gives to instruments, underlyings and series, and what depends on the runs. */
const leftOut: ReadonlySet<string> = new Set([
  'instrument_id',
  'asset_id',
  'parent_schema_instrument_id',
  'series_id',
  'runs',
]);

const withoutIdentifiers = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([column]) => !leftOut.has(column)));

const addedLater = columnsAdded(storeHistory.steps);

/**
 * A row without the columns that were added after the first layout and are null: a new column changes no
 * store's hash.
 */
export function hashed({ name }: Dataset, row: Row, added = addedLater): Row {
  const later = added.get(name);
  if (later === undefined) return row;
  const entries = Object.entries(row);
  return Object.fromEntries(entries.filter(([column, value]) => value !== null || !later.has(column)));
}
