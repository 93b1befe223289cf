// Rows of a bars file in the shape that the load takes: moments, values, and runs of rows that name the same series.
import { numberOf } from './check.ts';
import { type CellKind, InstantCell } from './instants.ts';
import type { Chunk } from './read.ts';
import type { TextColumn } from './text-column.ts';

/** The fields that name a series, and those that are its values: the order of both is that of the arrays below. */
export const nameFields = ['asset_schema', 'country_iso_code', 'symbol', 'interval', 'exchange'] as const;
export const valueFields = ['open', 'high', 'low', 'close', 'volume', 'vwap'] as const;

/** What a moment's cell said, as a number: an index into this. */
export const momentKinds: readonly (CellKind | 'missing')[] = ['instant', 'local', 'date', 'bad', 'missing'];
export const INSTANT = 0;
const MISSING = 4;

/** From row `at` on, rows have these names; null where the file has no such column or cell. */
export type NameRun = { readonly at: number; readonly names: readonly (string | null)[] };

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
  /** At least one; the first begins at row 0. */
  readonly runs: readonly NameRun[];
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

  /** `texts` and `numbers` are the columns of the reading, in its order. */
  constructor(columns: BarColumns, texts: readonly string[], numbers: readonly string[]) {
    const placeOf = (field: string, among: readonly string[]): number =>
      among.indexOf(columns.get(field) ?? '\0');
    this.#texts = texts;
    this.#names = nameFields.map((field) => placeOf(field, texts));
    this.#datetime = placeOf('datetime', texts);
    this.#values = valueFields.map((field) => placeOf(field, numbers));
  }

  /** The rows of a chunk. */
  take(chunk: Chunk): BarChunk {
    const ms = new Float64Array(chunk.count);
    const kinds = new Uint8Array(chunk.count);
    this.readMoments(chunk, ms, kinds, 0);
    const { count, firstRow } = chunk;
    return { count, firstRow, ms, kinds, values: this.valuesOf(chunk), runs: this.runsOf(chunk) };
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

  /** The runs of a chunk. */
  runsOf(chunk: Chunk): NameRun[] {
    const columns = this.#names.map((place) => (place < 0 ? null : chunk.texts[place]!));
    const named = columns.filter((column) => column !== null);
    const namesAt = (row: number): NameRun => ({
      at: row,
      names: columns.map((column) => column?.text(row) ?? null),
    });
    const runs = [namesAt(0)];
    for (let row = 1; row < chunk.count; row++) {
      for (let index = 0; index < named.length; index++) {
        if (named[index]!.repeats(row)) continue;
        runs.push(namesAt(row));
        break;
      }
    }
    return runs;
  }

  /** In a careful reading: the values as numbers, and the rows that have text which is none. */
  parseValues(chunk: Chunk, columns: BarColumns): { chunk: BarChunk; strange: ReadonlyMap<number, string> } {
    const strange = new Map<number, string>();
    const values = valueFields.map((field) => {
      const place = this.#texts.indexOf(columns.get(field) ?? '\0');
      return place < 0
        ? null
        : parseNumbers(chunk.texts[place]!, chunk.count, (row) => void strange.set(row, field));
    });
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
