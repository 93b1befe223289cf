// Notes what is read, so that whoever keeps a value knows what it depends on: no query can forget to say it
// (docs/decisions/0029).

import type { Damage } from './damage.ts';
import { storeLimits } from './limits.ts';
import { barsOf, type Change, EVERYTHING, type Part, partRead, sharedBy } from './parts.ts';
import type { ColumnOf, Dataset, RowOf } from './schema/dataset.ts';
import type { BlockRead, Extent, KeyRead, RankedRead, Read, Reader, StoredBlock } from './store.ts';

/** A value and the parts that were read for it. */
export type Depending<T> = { readonly value: T; readonly parts: readonly Part[] };

/**
 * All parts that were read; and of each work under way those that were read since its beginning, whichever
 * work asked for them.
 */
type Notes = { readonly all: Set<Part>; readonly underWay: Set<Set<Part>> };

/** So many parts, or everything. */
const bounded = (parts: ReadonlySet<Part>): readonly Part[] =>
  parts.size > storeLimits.dependedPartsMax ? [EVERYTHING] : [...parts];

/** A reader of one snapshot that notes the part of every read. */
export class TrackedReader implements Reader {
  readonly #reader: Reader;
  readonly #notes: Notes;
  #version: Promise<number | null> | null = null;

  constructor(reader: Reader, notes: Notes = { all: new Set(), underWay: new Set() }) {
    this.#reader = reader;
    this.#notes = notes;
  }

  /** The parts that were read so far. */
  get noted(): readonly Part[] {
    return bounded(this.#notes.all);
  }

  /** Runs `work` and gives what it gives, with the parts that were read meanwhile. */
  async noting<T>(work: () => Promise<T>): Promise<Depending<T>> {
    const notes = new Set<Part>();
    this.#notes.underWay.add(notes);
    try {
      return { value: await work(), parts: bounded(notes) };
    } finally {
      this.#notes.underWay.delete(notes);
    }
  }

  /** Notes parts that are used without a read, because a value was kept that depends on them. */
  note(parts: Iterable<Part>): void {
    for (const part of parts) this.#noteOne(part);
  }

  #noteOne(part: Part): void {
    this.#notes.all.add(part);
    for (const notes of this.#notes.underWay) notes.add(part);
  }

  get id(): string {
    return this.#reader.id;
  }

  /** As that of the reader, which stays the same: it is asked for once. */
  version(): Promise<number | null> {
    this.#version ??= this.#reader.version();
    return this.#version;
  }

  changesAfter(version: number, max: number): Promise<readonly Change[] | null> {
    return this.#reader.changesAfter(version, max);
  }

  rows<D extends Dataset>(dataset: D, read: Read<D>): Promise<RowOf<D>[]> {
    this.#noteOne(partRead(dataset, read.where));
    return this.#reader.rows(dataset, read);
  }

  group<D extends Dataset>(dataset: D, where: Partial<RowOf<D>>): Promise<RowOf<D>[]> {
    this.#noteOne(partRead(dataset, where));
    return this.#reader.group(dataset, where);
  }

  rowsByKey<D extends Dataset>(
    dataset: D,
    keys: readonly Partial<RowOf<D>>[],
    read?: KeyRead<D>,
  ): Promise<RowOf<D>[][]> {
    if (keys.length > 0 && dataset.neverChanges !== true) this.#noteOne(partRead(dataset, sharedBy(keys)));
    return this.#reader.rowsByKey(dataset, keys, read);
  }

  ranked<D extends Dataset>(dataset: D, read: RankedRead<D>): Promise<(string | number)[][]> {
    this.#noteOne(partRead(dataset, read.where));
    return this.#reader.ranked(dataset, read);
  }

  count<D extends Dataset>(dataset: D, where?: Partial<RowOf<D>>): Promise<number> {
    this.#noteOne(partRead(dataset, where));
    return this.#reader.count(dataset, where);
  }

  extent<D extends Dataset>(dataset: D, column?: ColumnOf<D>): Promise<Extent> {
    this.#noteOne(dataset.name);
    return this.#reader.extent(dataset, column);
  }

  structure(dataset: Dataset): Promise<readonly Damage[]> {
    this.#noteOne(dataset.name);
    return this.#reader.structure(dataset);
  }

  blocks(read: BlockRead): Promise<StoredBlock[]> {
    this.#noteOne(barsOf(read.seriesId));
    return this.#reader.blocks(read);
  }

  checkBlocks(seriesId: number): Promise<void> {
    this.#noteOne(barsOf(seriesId));
    return this.#reader.checkBlocks(seriesId);
  }
}
