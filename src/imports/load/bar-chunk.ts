// Rows of a bars file as arrays: moments, values, and the number of the names in each row. Names are numbered
// by their bytes: no text is made of one that was met before.
import { cellText, numberOf, plainNumber } from '../../base/decimal.ts';
import { DAY_MS, END_MS, FIRST_MS } from '../../base/instant.ts';
import { seriesFields, valueFields } from '../../store/schema/bars.ts';
import type { FieldSources } from '../map/column-mapping.ts';
import { type CellKind, InstantCell } from '../map/instant-cell.ts';
import type { Chunk, TextCells } from '../read/chunk.ts';
import type { Format } from '../read/format.ts';
import { isInfinite, oddFinding, UNMADE } from '../read/scan.ts';
import type { RowProblem } from './refused-rows.ts';

/**
 * The kinds of a moment's cell; chunks have an index into this. The last two are instants that are written as
 * the midnight of a date.
 */
export const momentKinds: readonly (CellKind | 'missing')[] = [
  ...(['instant', 'local', 'date', 'bad', 'missing'] as const),
  ...(['instant', 'instant'] as const),
];
const INSTANT = 0;
const BAD = 3;
const MISSING = 4;
/** The offset is that of UTC or east of it, or west of it. */
const EASTERN_MIDNIGHT = 5;
const WESTERN_MIDNIGHT = 6;

/** The kind of an instant that is written as the midnight of a date, as its index. */
const midnightKind = (day: number, ms: number): number =>
  ms <= day * DAY_MS ? EASTERN_MIDNIGHT : WESTERN_MIDNIGHT;

/**
 * The date that a moment names in a row of DAY, WEEK or MON; null if it is an instant within a day (contract
 * 3.10). `kind` is an index into `momentKinds`. Every offset is less than a day.
 */
export function writtenDay(kind: number, ms: number): number | null {
  if (kind === EASTERN_MIDNIGHT) return Math.ceil(ms / DAY_MS);
  if (kind === WESTERN_MIDNIGHT) return Math.floor(ms / DAY_MS);
  return kind !== INSTANT && ms % DAY_MS === 0 ? ms / DAY_MS : null;
}

/**
 * The texts that name a series, in the order of `seriesFields`; null where the file has no such column or
 * cell.
 */
export type Names = readonly (string | null)[];

/** Some rows of a file, in order. */
export type BarChunk = {
  readonly count: number;
  /** Of the first row, counted from 1. */
  readonly firstRow: number;
  /** Of every row's moment: `ms` as `InstantCell` has it, and its kind as an index into `momentKinds`. */
  readonly ms: Float64Array;
  readonly kinds: Uint8Array;
  /** In the order of `valueFields`; NaN for an empty cell; null where the file has no such column. */
  readonly values: readonly (Float64Array | null)[];
  /** Of every row: the number of its names, in the order of their first appearance in the file. */
  readonly nameIds: Int32Array;
  /** Names that first appear in this chunk; their numbers continue those before. */
  readonly newNames: readonly Names[];
  /** Of a careful reading. */
  readonly care?: Care;
};

/**
 * A careful reading adds to a chunk: its cells, the problems of rows by their number, and how many
 * columns the file has.
 */
export type Care = {
  readonly read: Chunk;
  readonly strange: ReadonlyMap<number, RowProblem>;
  /** The computed columns of which cells were left out: what is said of it, and the number of cells. */
  readonly odd: ReadonlyMap<string, readonly [finding: string, count: number]>;
  readonly width: number;
};

/** The types by which a fast reading reads the columns of a file: as text, or as numbers. */
export type BarTypes = {
  readonly texts: readonly string[];
  readonly numbers: readonly string[];
  /** What the cells of the moment are, where they are numbers: milliseconds. Null where they are texts. */
  readonly moment: CellKind | null;
};

/** Makes chunks of bars from chunks of columns. One is used for a whole file. */
export class BarChunker {
  readonly #cell = new InstantCell();
  readonly #names: readonly number[];
  readonly #values: readonly number[];
  readonly #datetime: number;
  readonly #moment: CellKind | null;
  readonly #texts: readonly string[];
  readonly #ids = new NameIds();

  /** `texts` and `numbers` are the columns of the reading, in its order. */
  constructor(columns: FieldSources['columns'], { texts, numbers, moment }: BarTypes) {
    const locate = (field: string, among: readonly string[]): number =>
      among.indexOf(columns.get(field) ?? '\0');
    this.#texts = texts;
    this.#names = seriesFields.map((field) => locate(field, texts));
    this.#datetime = locate('datetime', moment === null ? texts : numbers);
    this.#moment = moment;
    this.#values = valueFields.map((field) => locate(field, numbers));
  }

  /** Whether the file has a value, by its index in `valueFields`. */
  hasValue(index: number): boolean {
    return this.#values[index]! >= 0;
  }

  /** The value columns of a chunk that was read as numbers. */
  valuesOf(chunk: Chunk): (Float64Array | null)[] {
    return this.#values.map((place) => (place < 0 ? null : chunk.numbers[place]!));
  }

  /** Writes the moments of a chunk's rows from `at` on. */
  readMoments(chunk: Chunk, ms: Float64Array, kinds: Uint8Array, at: number): void {
    if (this.#moment !== null) {
      const kind = momentKinds.indexOf(this.#moment);
      typedMoments(chunk.numbers[this.#datetime]!, kind, ms.subarray(at), kinds.subarray(at));
      return;
    }
    const column = chunk.texts[this.#datetime]!;
    const cell = this.#cell;
    column.gather();
    for (let row = 0; row < chunk.count; row++) {
      if (row > 0 && column.repeats(row)) {
        ms[at + row] = ms[at + row - 1]!;
        kinds[at + row] = kinds[at + row - 1]!;
        continue;
      }
      if (column.isNull(row)) {
        kinds[at + row] = MISSING;
        continue;
      }
      cell.read(column.bytes, column.starts[row]!, column.ends[row]!);
      ms[at + row] = cell.ms;
      const { kind, day } = cell;
      if (kind !== 'instant') kinds[at + row] = momentKinds.indexOf(kind);
      else kinds[at + row] = day === null ? INSTANT : midnightKind(day, cell.ms);
    }
  }

  /** Writes the numbers of the names of a chunk's rows from `at` on, and gives the new names. */
  readNames(chunk: Chunk, nameIds: Int32Array, at: number): Names[] {
    const columns = this.#names.map((place) => (place < 0 ? null : chunk.texts[place]!));
    const named = columns.filter((column) => column !== null);
    const newNames: Names[] = [];
    let isGathered = false;
    for (let row = 0; row < chunk.count; row++) {
      let repeats = row > 0;
      for (let index = 0; repeats && index < named.length; index++) repeats = named[index]!.repeats(row);
      if (repeats) {
        nameIds[at + row] = nameIds[at + row - 1]!;
        continue;
      }
      if (!isGathered) for (const column of named) column.gather();
      isGathered = true;
      const { count } = this.#ids;
      const id = this.#ids.of(named, row);
      if (id === count) newNames.push(columns.map((column) => column?.text(row) ?? null));
      nameIds[at + row] = id;
    }
    return newNames;
  }

  /**
   * The bars of a chunk that was read carefully, with its problems by row: text in place of a number, and
   * cells that could not be made.
   */
  parse(
    chunk: Chunk,
    { columns, derived, leftOut }: Pick<FieldSources, 'columns' | 'derived' | 'leftOut'>,
    format: Format,
  ): BarChunk {
    const { count, firstRow } = chunk;
    const strange = new Map<number, RowProblem>();
    const odd = new Map<string, readonly [finding: string, count: number]>();
    const values = valueFields.map((field) => {
      const name = columns.get(field) ?? '\0';
      const place = this.#texts.indexOf(name);
      if (place < 0) return null;
      const column = chunk.texts[place]!;
      const said = leftOut.get(name);
      column.gather();
      const numbers = new Float64Array(count);
      for (let row = 0; row < count; row++) {
        const plain = plainNumber(column.bytes, column.starts[row]!, column.ends[row]!);
        const text = Number.isNaN(plain) ? (column.text(row) ?? '') : '';
        const number = text === '' || isInfinite(format, text) ? plain : numberOf(cellText(text));
        if (number === null && said !== undefined && said.takes(text)) {
          const [finding, sofar] = odd.get(name) ?? [oddFinding(said.finding, text), 0];
          odd.set(name, [finding, sofar + 1]);
        } else if (number === null) strange.set(row, { column: field, reason: 'is not a number' });
        numbers[row] = number ?? Number.NaN;
      }
      return numbers;
    });
    for (const { name, reason } of derived) {
      if (leftOut.has(name)) continue;
      const column = chunk.texts[this.#texts.indexOf(name)]!;
      for (let row = 0; row < count; row++)
        if (column.text(row)?.startsWith(UNMADE) === true && !isInfinite(format, column.text(row)!))
          strange.set(row, { column: name, reason });
    }
    const ms = new Float64Array(count);
    const kinds = new Uint8Array(count);
    const nameIds = new Int32Array(count);
    this.readMoments(chunk, ms, kinds, 0);
    const newNames = this.readNames(chunk, nameIds, 0);
    const care = { read: chunk, strange, odd, width: this.#texts.length - derived.length };
    return { count, firstRow, ms, kinds, values, nameIds, newNames, care };
  }
}

/** Writes moments that are numbers: `kind` is that of each that is there and in the years of instants. */
function typedMoments(numbers: Float64Array, kind: number, ms: Float64Array, kinds: Uint8Array): void {
  for (let row = 0; row < numbers.length; row++) {
    const value = numbers[row]!;
    ms[row] = value;
    const isMidnight = kind === INSTANT && value % DAY_MS === 0;
    if (Number.isNaN(value)) kinds[row] = MISSING;
    else if (value < FIRST_MS || value >= END_MS) kinds[row] = BAD;
    else kinds[row] = isMidnight ? EASTERN_MIDNIGHT : kind;
  }
}

/** Bytes that no UTF-8 has: the end of a cell, and a missing cell. */
const [CELL_END, NO_CELL] = [0xff, 0xfe];

/** The prime of the hash FNV-1a. */
const FNV_PRIME = 0x0100_0193;

/** The numbers of names, in the order of their first appearance. */
export class NameIds {
  /** The number of names. */
  count = 0;
  /**
   * The bytes of all names, one after the other; the name of a number begins where the one before it ends.
   */
  #bytes = new Uint8Array(16 * 1024);
  #ends = new Int32Array(1024);
  #hashes = new Int32Array(1024);
  /** By hash: a number and one, 0 for none. At most half of them are used. */
  #slots = new Int32Array(2048);
  /**
   * The number that came last, and by number the one that came after it, and one; 0 for none. Rows ordered by
   * time repeat their order.
   */
  #last = -1;
  #followers = new Int32Array(1024);

  /** The number of the cells of a row, which were gathered. A new one is the count before. */
  of(columns: readonly TextCells[], row: number): number {
    const guess = this.#last < 0 ? -1 : this.#followers[this.#last]! - 1;
    if (guess >= 0 && this.#isOf(guess, columns, row)) {
      this.#last = guess;
      return guess;
    }
    const id = this.#find(columns, row);
    if (this.#last >= 0) this.#followers[this.#last] = id + 1;
    this.#last = id;
    return id;
  }

  /** True if the cells of a row are those of a number. */
  #isOf(id: number, columns: readonly TextCells[], row: number): boolean {
    const known = this.#bytes;
    let at = id === 0 ? 0 : this.#ends[id - 1]!;
    for (const column of columns) {
      const { bytes } = column;
      const end = column.ends[row]!;
      if (column.isNull(row)) {
        if (known[at++] !== NO_CELL) return false;
      } else
        for (let byte = column.starts[row]!; byte < end; byte++)
          if (known[at++] !== bytes[byte]) return false;
      if (known[at++] !== CELL_END) return false;
    }
    return at === this.#ends[id];
  }

  #find(columns: readonly TextCells[], row: number): number {
    const from = this.count === 0 ? 0 : this.#ends[this.count - 1]!;
    const to = this.#append(columns, row, from);
    const bytes = this.#bytes;
    let hash = 0;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, FNV_PRIME);
    const mask = this.#slots.length - 1;
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const id = this.#slots[slot]! - 1;
      if (id < 0) return this.#add(slot, hash, to);
      if (this.#hashes[id] === hash && this.#isOf(id, columns, row)) return id;
    }
  }

  /** Copies cells behind the last name; where they end. */
  #append(columns: readonly TextCells[], row: number, from: number): number {
    let at = from;
    for (const column of columns) {
      const start = column.starts[row]!;
      const end = column.ends[row]!;
      const needed = at + end - start + 2;
      if (needed > this.#bytes.length) this.#bytes = new Uint8Array(this.#bytes.buffer.transfer(2 * needed));
      const into = this.#bytes;
      const { bytes } = column;
      if (column.isNull(row)) into[at++] = NO_CELL;
      else for (let byte = start; byte < end; byte++) into[at++] = bytes[byte]!;
      into[at++] = CELL_END;
    }
    return at;
  }

  #add(slot: number, hash: number, end: number): number {
    const id = this.count++;
    if (id === this.#ends.length) {
      this.#ends = grown(this.#ends);
      this.#hashes = grown(this.#hashes);
      this.#followers = grown(this.#followers);
    }
    this.#ends[id] = end;
    this.#hashes[id] = hash;
    this.#slots[slot] = id + 1;
    if (2 * this.count > this.#slots.length) this.#growSlots();
    return id;
  }

  #growSlots(): void {
    const slots = new Int32Array(2 * this.#slots.length);
    const mask = slots.length - 1;
    for (let id = 0; id < this.count; id++) {
      const hash = this.#hashes[id]!;
      let slot = (hash ^ (hash >>> 15)) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = id + 1;
    }
    this.#slots = slots;
  }
}

/** The same numbers, with room for as many more. */
const grown = ({ buffer }: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> =>
  new Int32Array(buffer.transfer(2 * buffer.byteLength));
