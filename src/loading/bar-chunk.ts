// Rows of a bars file in the shape that the load takes: moments, values, and runs of rows that name the same series.

import { seriesFields, valueFields } from '../datasets/bars.ts';
import { type ComputedColumn, UNMADE } from '../files/computed-column.ts';
import type { RowProblem } from '../files/file-problem.ts';
import type { Chunk } from '../files/read.ts';
import type { TextColumn } from '../files/text-column.ts';
import { type CellKind, InstantCell } from '../mapping/instant-cell.ts';
import { numberOf } from '../mapping/number-cell.ts';

/** What a moment's cell said, as a number: an index into this. */
export const momentKinds: readonly (CellKind | 'missing')[] = ['instant', 'local', 'date', 'bad', 'missing'];
export const INSTANT = 0;
const MISSING = 4;

/** The texts that name a series, in the order of `seriesFields`; null where the file has no such column or cell. */
export type Names = readonly (string | null)[];

/** Some rows of a file, in order. */
export type BarChunk = {
  readonly count: number;
  /** Of the first row, counted from 1. */
  readonly firstRow: number;
  /** What the cell of a moment said: `kinds` indexes `momentKinds`, `ms` is as `InstantCell` has it. */
  readonly ms: Float64Array;
  readonly kinds: Uint8Array;
  /** In the order of `valueFields`; NaN where there is none; null where the file has no such column. */
  readonly values: readonly (Float64Array | null)[];
  /** Of every row: which names it has, by their number in the file's order of first appearance. */
  readonly nameIds: Int32Array;
  /** Names that appear in this chunk for the first time; their numbers go on from those before. */
  readonly newNames: readonly Names[];
};

/** Which column of a file gives which field. */
export type BarColumns = ReadonlyMap<string, string>;

/** The columns of a fast reading: texts and numbers apart. */
export function columnsOf(columns: BarColumns): { texts: string[]; numbers: string[] } {
  const isValue = (field: string): boolean => (valueFields as readonly string[]).includes(field);
  const named = [...columns];
  return {
    texts: named.filter(([field]) => !isValue(field)).map(([, column]) => column),
    numbers: named.filter(([field]) => isValue(field)).map(([, column]) => column),
  };
}

/** Turns chunks of columns into chunks of bars. One is used for a whole file. */
export class BarChunker {
  readonly #cell = new InstantCell();
  readonly #names: readonly number[];
  readonly #values: readonly number[];
  readonly #datetime: number;
  readonly #texts: readonly string[];
  readonly #ids = new Map<string, number>();

  /** `texts` and `numbers` are the columns of the reading, in its order. */
  constructor(columns: BarColumns, texts: readonly string[], numbers: readonly string[]) {
    const locate = (field: string, among: readonly string[]): number =>
      among.indexOf(columns.get(field) ?? '\0');
    this.#texts = texts;
    this.#names = seriesFields.map((field) => locate(field, texts));
    this.#datetime = locate('datetime', texts);
    this.#values = valueFields.map((field) => locate(field, numbers));
  }

  /** The rows of a chunk. */
  take(chunk: Chunk): BarChunk {
    const ms = new Float64Array(chunk.count);
    const kinds = new Uint8Array(chunk.count);
    this.readMoments(chunk, ms, kinds, 0);
    const { count, firstRow } = chunk;
    const nameIds = new Int32Array(count);
    const newNames = this.readNames(chunk, nameIds, 0);
    return { count, firstRow, ms, kinds, values: this.valuesOf(chunk), nameIds, newNames };
  }

  /** The value columns of a chunk that was read as numbers. */
  valuesOf(chunk: Chunk): (Float64Array | null)[] {
    return this.#values.map((place) => (place < 0 ? null : chunk.numbers[place]!));
  }

  /** Writes the moments of a chunk's rows from `at` on. */
  readMoments(chunk: Chunk, ms: Float64Array, kinds: Uint8Array, at: number): void {
    const column = chunk.texts[this.#datetime]!;
    const cell = this.#cell;
    column.gather();
    for (let row = 0; row < chunk.count; row++) {
      if (column.isNull(row)) {
        kinds[at + row] = MISSING;
        continue;
      }
      cell.read(column.bytes, column.starts[row]!, column.starts[row + 1]!);
      ms[at + row] = cell.ms;
      kinds[at + row] = cell.kind === 'instant' ? INSTANT : momentKinds.indexOf(cell.kind);
    }
  }

  /** Writes the numbers of the names of a chunk's rows from `at` on; gives the names that are new. */
  readNames(chunk: Chunk, nameIds: Int32Array, at: number): Names[] {
    const columns = this.#names.map((place) => (place < 0 ? null : chunk.texts[place]!));
    const named = columns.filter((column) => column !== null);
    const newNames: Names[] = [];
    for (let row = 0; row < chunk.count; row++) {
      let repeats = row > 0;
      for (let index = 0; repeats && index < named.length; index++) repeats = named[index]!.repeats(row);
      if (repeats) {
        nameIds[at + row] = nameIds[at + row - 1]!;
        continue;
      }
      let key = '';
      for (const column of named) key += `${column.text(row) ?? '\0'}\n`;
      let id = this.#ids.get(key);
      if (id === undefined) {
        id = this.#ids.size;
        this.#ids.set(key, id);
        newNames.push(columns.map((column) => column?.text(row) ?? null));
      }
      nameIds[at + row] = id;
    }
    return newNames;
  }

  /** In a careful reading: the values as numbers, and the rows that have text which is none, or which gives none. */
  parseValues(
    chunk: Chunk,
    columns: BarColumns,
    derived: readonly ComputedColumn[],
  ): { chunk: BarChunk; strange: ReadonlyMap<number, RowProblem> } {
    const strange = new Map<number, RowProblem>();
    const values = valueFields.map((field) => {
      const place = this.#texts.indexOf(columns.get(field) ?? '\0');
      return place < 0
        ? null
        : parseNumbers(
            chunk.texts[place]!,
            chunk.count,
            (row) => void strange.set(row, { column: field, reason: 'is not a number' }),
          );
    });
    for (const { name, reason } of derived) {
      const column = chunk.texts[this.#texts.indexOf(name)]!;
      for (let row = 0; row < chunk.count; row++)
        if (column.text(row)?.startsWith(UNMADE) === true) strange.set(row, { column: name, reason });
    }
    return { chunk: { ...this.take(chunk), values }, strange };
  }
}

/** The numbers of a column of texts; NaN, and told, where a text is none. */
function parseNumbers(column: TextColumn, count: number, tell: (row: number) => void): Float64Array {
  const parsed = new Float64Array(count);
  for (let row = 0; row < count; row++) {
    const number = numberOf(column.text(row));
    parsed[row] = number ?? Number.NaN;
    if (number === null) tell(row);
  }
  return parsed;
}
