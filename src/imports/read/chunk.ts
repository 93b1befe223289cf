// The rows of a file in columns, and how a reading of them is asked for.
import type { ReadableFile, ReadPlan } from './scan.ts';

/** Some rows of a file. Columns have the order of the plan. */
export type Chunk = {
  readonly count: number;
  /** The number of the first row, counted from 1. */
  readonly firstRow: number;
  readonly texts: readonly TextCells[];
  /** A missing number is NaN. */
  readonly numbers: readonly Float64Array[];
  /** In a careful reading of a CSV: the first cell after the last column. */
  readonly surplus: TextCells | null;
};

/** A file whose columns are not known yet. */
export type DescribedFile = Pick<ReadableFile, 'name' | 'path' | 'format'>;

/** The names and types of the columns of a file. */
export type Columns = { readonly header: readonly string[]; readonly types: readonly string[] };

/** Reads rows of a file, the first of which has the number `firstRow`. */
export type ReadRows = (file: ReadableFile, plan: ReadPlan, firstRow: number) => AsyncGenerator<Chunk>;

/** The texts of one column of a chunk, read without making a string of every cell. */
export type TextCells = {
  /** After `gather`: cell `row` is the bytes `starts[row]` to `ends[row]`. */
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  gather(): void;
  isNull(row: number): boolean;
  /** True if a cell is surely the same short text as the one before it. */
  repeats(row: number): boolean;
  /** The cell as a string; null where the row has no such cell. */
  text(row: number): string | null;
};

// A byte order mark at the beginning of a cell is part of its text.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Bytes of a text for which a call of the decoder takes longer than its characters. */
const SHORT_MAX = 24;

/** The text of some bytes in UTF-8. Most are short, and ASCII. */
export function shortText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > SHORT_MAX) return decoder.decode(bytes.subarray(start, end));
  let text = '';
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte >= 0x80) return decoder.decode(bytes.subarray(start, end));
    text += String.fromCharCode(byte);
  }
  return text;
}
