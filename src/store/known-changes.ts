// The parts of the data that a row belongs to and a read depends on; what a kept value depends on, by the
// reads that made it, and whether that has changed since: no query can forget to say it
// (docs/decisions/0029).

import { crc32 } from 'node:zlib';
import { storeLimits } from './limits.ts';
import type { Dataset, PartKind, PartRule, Values } from './schema/dataset.ts';
import type { Change, DataState, Part, Reader, Versioned } from './store.ts';

/** The part that is all data. */
const EVERYTHING: Part = '*';

export const partOf = (kind: PartKind, id: number): Part => `${kind} ${id}`;

/** The bars of a series, which of them are unfinished included. */
export const barsOf = (seriesId: number): Part => partOf('series', seriesId);

/** The number of a part; null for rows that belong to none, and for reads that name no single one. */
export function partId({ of, where = {} }: PartRule, values: Values): number | null {
  for (const column in where) if (values[column] !== where[column]) return null;
  if (of.length === 1) return (values[of[0] as string] as number | undefined) ?? null;
  let text = '';
  for (const one of of) {
    const value = typeof one === 'string' ? values[one] : one.is;
    if (value === undefined) return null;
    text += `${value as string | number}\n`;
  }
  // Two names of one number are forgotten together, which does no harm.
  return crc32(text);
}

/**
 * The part that a read depends on whose columns equal `where`: one part where a rule tells it, else the
 * whole dataset.
 */
export function partRead({ name, parts = [] }: Dataset, where: Values = {}): Part {
  for (const rule of parts) {
    const id = partId(rule, where);
    if (id !== null) return partOf(rule.kind, id);
  }
  return name;
}

/** The values that all of some keys have. */
export const sharedBy = (keys: readonly Values[]): Values =>
  Object.fromEntries(
    Object.entries(keys[0] ?? {}).filter(([column, value]) => keys.every((key) => key[column] === value)),
  );

const moving = new WeakMap<Dataset, readonly string[]>();

/** Columns outside the key that decide the part of a row: an upsert may move it from one part to another. */
export function movingColumns(dataset: Dataset): readonly string[] {
  const known = moving.get(dataset);
  if (known !== undefined) return known;
  const { parts = [], key } = dataset;
  const columns = parts.flatMap(({ of }) => of).filter((one) => typeof one === 'string');
  const found = columns.filter((column) => !key.includes(column));
  moving.set(dataset, found);
  return found;
}

/** Follows the changes of one store (docs/decisions/0029). What it does not know counts as changed. */
export class KnownChanges {
  /** The version of the last known change of each part, for those since `#fromVersion`. */
  readonly #changed = new Map<Part, number>();
  /** The data that it knows. */
  #id: string | null = null;
  /** Changes are known after the first of these versions, and up to the second. */
  #fromVersion = Number.NaN;
  #version = Number.NaN;

  /** Names the data that were met last (`Versioned`); null before the first. */
  get id(): string | null {
    return this.#id;
  }

  /** The version that was met last; NaN before the first. */
  get version(): number {
    return this.#version;
  }

  /** Reads what has changed up to the version of a state, which it gives; null where damage hides it. */
  async follow(state: Versioned): Promise<number | null> {
    const version = await state.version();
    const { id } = state;
    if (version === null) return null;
    if (id !== this.#id) {
      this.#id = id;
      this.#begin(version);
      return version;
    }
    // An older snapshot may go on beside newer ones.
    if (version <= this.#version) return version;
    const changes = await state.changesAfter(this.#version, storeLimits.changedPartsMax);
    // Another request may have read further meanwhile, or other data.
    if (id !== this.#id || version <= this.#version) return version;
    if (changes === null || this.#changed.size > storeLimits.knownChangesMax) this.#begin(version);
    else for (const change of changes) this.#changed.set(change.part, change.version);
    this.#version = version;
    return version;
  }

  #begin(version: number): void {
    this.#changed.clear();
    this.#fromVersion = version;
    this.#version = version;
  }

  /** Whether parts are the same in two states. */
  isSame(
    parts: Iterable<Part>,
    { id, version: one }: DataState,
    { id: otherId, version: other }: DataState,
  ): boolean {
    if (id !== otherId) return false;
    if (one === other) return true;
    if (id !== this.#id) return false;
    const [from, to] = one < other ? [one, other] : [other, one];
    if (!(from >= this.#fromVersion && to <= this.#version)) return false;
    for (const part of parts)
      if (part === EVERYTHING || (this.#changed.get(part) ?? from) > from) return false;
    return true;
  }
}

/** A value and the parts that were read for it. */
export type Depending<T> = { readonly value: T; readonly parts: readonly Part[] };

/** So many parts, or everything. */
const bounded = (parts: ReadonlySet<Part>): readonly Part[] =>
  parts.size > storeLimits.dependedPartsMax ? [EVERYTHING] : [...parts];

type Reads = Omit<Reader, keyof Versioned>;

/** The part that each read depends on; null for rows that never change. */
const partsOfReads: { readonly [K in keyof Reads]: (...asked: Parameters<Reads[K]>) => Part | null } = {
  rows: (dataset, { where }) => partRead(dataset, where),
  group: (dataset, where) => partRead(dataset, where),
  rowsByKey: (dataset, keys) =>
    keys.length === 0 || dataset.neverChanges === true ? null : partRead(dataset, sharedBy(keys)),
  ranked: (dataset, { where }) => partRead(dataset, where),
  count: (dataset, where) => partRead(dataset, where),
  extent: ({ name }) => name,
  structure: (of) => (typeof of === 'number' ? barsOf(of) : of.name),
  blocks: ({ seriesId }) => barsOf(seriesId),
};

/** A reader of one snapshot that notes the part of every read. */
export class TrackedReader implements Reader {
  readonly #reader: Reader;
  /** All parts that were read. */
  readonly #noted = new Set<Part>();
  /** Of each work under way those that were read since its beginning, whichever work asked for them. */
  readonly #underWay = new Set<Set<Part>>();
  #version: Promise<number | null> | null = null;
  readonly rows = this.#noting('rows');
  readonly group = this.#noting('group');
  readonly rowsByKey = this.#noting('rowsByKey');
  readonly ranked = this.#noting('ranked');
  readonly count = this.#noting('count');
  readonly extent = this.#noting('extent');
  readonly structure = this.#noting('structure');
  readonly blocks = this.#noting('blocks');

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** The parts that were read so far. */
  get noted(): readonly Part[] {
    return bounded(this.#noted);
  }

  /** Runs `work` and gives what it gives, with the parts that were read meanwhile. */
  async noting<T>(work: () => Promise<T>): Promise<Depending<T>> {
    const notes = new Set<Part>();
    this.#underWay.add(notes);
    try {
      return { value: await work(), parts: bounded(notes) };
    } finally {
      this.#underWay.delete(notes);
    }
  }

  /** Notes parts that are used without a read, because a value was kept that depends on them. */
  note(parts: Iterable<Part>): void {
    for (const part of parts) this.#noteOne(part);
  }

  #noteOne(part: Part): void {
    this.#noted.add(part);
    for (const notes of this.#underWay) notes.add(part);
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

  /** Passes a read on, and notes its part. */
  #noting<K extends keyof Reads>(name: K): Reads[K] {
    const partOfRead = partsOfReads[name] as (...asked: unknown[]) => Part | null;
    const read = (...asked: unknown[]): unknown => {
      const part = partOfRead(...asked);
      if (part !== null) this.#noteOne(part);
      return (this.#reader[name] as (...given: unknown[]) => unknown).apply(this.#reader, asked);
    };
    return read as Reads[K];
  }
}
