// Copies a whole store into another of any engine: one state of it, row by row and block by block, and proves
// the copy (docs/decisions/0032).
import { blockCount } from '../market/bars/block-reader.ts';
import { allBlocks, everyBucket, ofBytes } from './all-blocks.ts';
import { rowsInOrder } from './all-rows.ts';
import { compareCells, type Row } from './checked-rows.ts';
import { contentHash } from './content.ts';
import type { CopyTarget, CopyWriter } from './copy-target.ts';
import { storeLimits } from './limits.ts';
import { series as allSeries } from './schema/bars.ts';
import type { Dataset } from './schema/dataset.ts';
import { controlDatasets, dataDatasets } from './schema/index.ts';
import { apiKeys } from './schema/internal.ts';
import {
  type Reader,
  type RowReader,
  type RowStore,
  type Store,
  type StoredBlock,
  StoreUnusable,
} from './store.ts';
import { leapVersion } from './version-leap.ts';

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

/** A change of the target: it is made with others of its kind, in one write. */
type Change = (writer: CopyWriter) => Promise<void>;

/** Changes of a target that are written together: as many as keep the memory small. */
class Batch {
  readonly #target: CopyTarget;
  #changes: Change[] = [];
  #bytes = 0;

  constructor(target: CopyTarget) {
    this.#target = target;
  }

  async add(bytes: number, change: Change): Promise<void> {
    this.#changes.push(change);
    this.#bytes += bytes;
    if (this.#bytes >= storeLimits.copyBatchBytes || this.#changes.length >= storeLimits.copyBatchChanges)
      await this.flush();
  }

  async flush(): Promise<void> {
    const changes = this.#changes;
    this.#changes = [];
    this.#bytes = 0;
    if (changes.length > 0)
      await this.#target.write(async (writer) => {
        for (const change of changes) await change(writer);
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
    order: dataset.key.map((column) => [column, 'asc'] as const),
    limit: storeLimits.copyRowsPerRead,
  });

const blocksOf = (reader: Reader, seriesId: number): AsyncGenerator<StoredBlock> =>
  allBlocks(reader, { seriesId, ...everyBucket, direction: 'asc' });

const keyOrder =
  ({ key }: Dataset) =>
  (a: Row, b: Row): number => {
    for (const column of key) {
      const order = compareCells(a[column], b[column]);
      if (order !== 0) return order;
    }
    return 0;
  };

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

/** One copy under way: makes the target equal to a state of the source, and writes only where it differs. */
class Copying {
  readonly #source: Reader;
  readonly #target: CopyTarget;
  readonly #batch: Batch;
  readonly #progress: CopyProgress;
  /** What an earlier copy left. */
  readonly #there: Reader | null;
  rows = 0;
  series = 0;
  bars = 0;

  constructor(source: Reader, target: CopyTarget, progress: CopyProgress) {
    this.#source = source;
    this.#target = target;
    this.#batch = new Batch(target);
    this.#progress = progress;
    this.#there = target.isBegun ? target.reader : null;
  }

  async run(): Promise<void> {
    for (const dataset of dataDatasets) await this.#copyRows(dataset);
    for await (const { series_id } of rowsInOrder(this.#source, allSeries, bySeries)) {
      this.series++;
      await this.#copyBlocks(series_id);
    }
    await this.#batch.flush();
  }

  async #copyRows(dataset: Dataset): Promise<void> {
    const there = this.#there === null ? nothing() : rowsOf(this.#there, dataset);
    for await (const [row, old] of sideBySide<Row>(rowsOf(this.#source, dataset), there, keyOrder(dataset))) {
      if (row === null) {
        if (dataset === allSeries) await this.#removeBlocks(old!.series_id as number);
        await this.#batch.add(0, (writer) => writer.remove(dataset, [old!]));
        continue;
      }
      this.#reached(1, 0);
      if (old === null || !isEqualRow(row, old))
        await this.#batch.add(bytesOf(row), (writer) => writer.upsert(dataset, [row as never]));
    }
  }

  /** Those of a series that the source has no more. */
  async #removeBlocks(seriesId: number): Promise<void> {
    for await (const { bucket } of blocksOf(this.#there!, seriesId))
      await this.#batch.add(0, (writer) => writer.removeBlock(seriesId, bucket));
  }

  async #copyBlocks(seriesId: number): Promise<void> {
    await this.#source.checkBlocks(seriesId);
    const there = this.#there === null ? nothing() : blocksOf(this.#there, seriesId);
    const pairs = sideBySide(blocksOf(this.#source, seriesId), there, (a, b) => a.bucket - b.bucket);
    for await (const [found, old] of pairs) {
      if (found === null) {
        const { bucket } = old!;
        await this.#batch.add(0, (writer) => writer.removeBlock(seriesId, bucket));
        continue;
      }
      this.#reached(0, ofBytes(seriesId, found, blockCount));
      const { bucket, runId, bytes } = found;
      if (old === null || old.runId !== runId || !isEqual(old.bytes, bytes))
        await this.#batch.add(bytes.length, (writer) => writer.putBlock(seriesId, { bucket, runId, bytes }));
    }
  }

  #reached(rows: number, bars: number): void {
    this.rows += rows;
    this.bars += bars;
    this.#progress.reached(this.rows + this.bars);
  }

  /** Compares every row and every bar of both. @throws StoreUnusable where they differ */
  async verify(): Promise<string> {
    const { reader, name } = this.#target;
    this.#progress.begins('checking the copy', 3 * this.rows + 2 * this.bars);
    let done = 0;
    const onRead = (rows: number): void => {
      done += rows;
      this.#progress.reached(done);
    };
    for (const dataset of dataDatasets)
      for await (const [row, made] of sideBySide<Row>(
        rowsOf(this.#source, dataset),
        rowsOf(reader, dataset),
        keyOrder(dataset),
      )) {
        if (row === null || made === null || !isEqualRow(row, made)) throw differing(name, dataset.name);
        onRead(1);
      }
    const hash = await contentHash(this.#source, onRead);
    if ((await contentHash(reader, onRead)) !== hash) throw differing(name, 'content hash');
    return hash;
  }
}

const bySeries = { order: [['series_id', 'asc']], limit: storeLimits.copyRowsPerRead } as const;

const differing = (name: string, what: string): StoreUnusable =>
  new StoreUnusable(
    `the copy at ${name} is not what was written, by its ${what}: its disk or its server does not keep what it gets; copy again to try once more`,
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
  for (const dataset of controlDatasets) {
    const rows: Row[] = [];
    for await (const row of rowsOf(reader, dataset)) rows.push(row);
    found.set(dataset, rows);
  }
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
    const copying = new Copying(reader, target, progress);
    await copying.run();
    const { rows, series, bars } = copying;
    const copiedVersion = await reader.version();
    return { copiedVersion, contentHash: await copying.verify(), rows, series, bars };
  });
  // Last: a key that was revoked while the bars were copied is revoked in the copy too.
  const keys = control === null ? 0 : await copyControl(control, target);
  // The source goes on from the same state: a version is not to name what both have next.
  const version = await leap(target, nowMs());
  await target.finish();
  return { ...made, version, keys, sourceVersion: await source.version(), resumed: target.isBegun };
}
