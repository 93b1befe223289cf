// Rows of a bars file as arrays: moments, values, and the number of the names in each row.

import { numberOf, plainNumber } from '../../base/decimal.ts';
import { DAY_MS, END_MS, FIRST_MS } from '../../base/instant.ts';
import { seriesFields, valueFields } from '../../store/schema/bars.ts';
import { type CellKind, InstantCell } from '../map/instant-cell.ts';
import type { Chunk } from '../read/chunk.ts';
import { type ComputedColumn, UNMADE } from '../read/computed-column.ts';
import type { RowProblem } from '../read/file-problem.ts';
import { parquetMoment, parquetNumber } from '../read/parquet-columns.ts';
import type { ReadableFile } from '../read/scan.ts';
import { NameIds } from './name-ids.ts';

/**
 * The kinds of a moment's cell; chunks have an index into this. The last two are instants that are written as
 * the midnight of a date.
 */
export const momentKinds: readonly (CellKind | 'missing')[] = [
  ...(['instant', 'local', 'date', 'bad', 'missing'] as const),
  ...(['instant', 'instant'] as const),
];
export const INSTANT = 0;
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
};

/** Which column of a file gives which field. */
export type BarColumns = ReadonlyMap<string, string>;

/** The types by which a fast reading reads the columns of a file: as text, or as numbers. */
export type BarTypes = {
  readonly texts: readonly string[];
  readonly numbers: readonly string[];
  /** What the cells of the moment are, where they are numbers: milliseconds. Null where they are texts. */
  readonly moment: CellKind | null;
};

/**
 * The types by which a file is read fast; null where its types do not show what its cells are, or only a
 * careful reading computes a column.
 */
export function barTypesOf(
  { format, header, types }: Pick<ReadableFile, 'format' | 'header' | 'types'>,
  columns: BarColumns,
): BarTypes | null {
  if (format.kind === 'json') return null;
  const isParquet = format.kind === 'parquet';
  const texts: string[] = [];
  const numbers: string[] = [];
  let moment: CellKind | null = null;
  for (const [field, column] of columns) {
    const isValue = valueFields.some((name) => name === field);
    if (isParquet) {
      const type = types[header.indexOf(column)];
      if (type === undefined || (isValue && parquetNumber(column, type) === null)) return null;
      if (field === 'datetime') moment = parquetMoment(type);
    }
    (isValue || (field === 'datetime' && moment !== null) ? numbers : texts).push(column);
  }
  return { texts, numbers, moment };
}

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
  constructor(columns: BarColumns, { texts, numbers, moment }: BarTypes) {
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
   * The bars of a chunk that was read carefully, and its problems by row: text in place of a number, and
   * cells that could not be made.
   */
  parse(
    chunk: Chunk,
    columns: BarColumns,
    derived: readonly ComputedColumn[],
  ): { chunk: BarChunk; strange: ReadonlyMap<number, RowProblem> } {
    const { count, firstRow } = chunk;
    const strange = new Map<number, RowProblem>();
    const values = valueFields.map((field) => {
      const place = this.#texts.indexOf(columns.get(field) ?? '\0');
      if (place < 0) return null;
      const column = chunk.texts[place]!;
      column.gather();
      const numbers = new Float64Array(count);
      for (let row = 0; row < count; row++) {
        const plain = plainNumber(column.bytes, column.starts[row]!, column.ends[row]!);
        const number = Number.isNaN(plain) ? numberOf(column.text(row)) : plain;
        if (number === null) strange.set(row, { column: field, reason: 'is not a number' });
        numbers[row] = number ?? Number.NaN;
      }
      return numbers;
    });
    for (const { name, reason } of derived) {
      const column = chunk.texts[this.#texts.indexOf(name)]!;
      for (let row = 0; row < count; row++)
        if (column.text(row)?.startsWith(UNMADE) === true) strange.set(row, { column: name, reason });
    }
    const ms = new Float64Array(count);
    const kinds = new Uint8Array(count);
    const nameIds = new Int32Array(count);
    this.readMoments(chunk, ms, kinds, 0);
    const newNames = this.readNames(chunk, nameIds, 0);
    return { chunk: { count, firstRow, ms, kinds, values, nameIds, newNames }, strange };
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
