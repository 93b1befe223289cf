// Columns of Arrow: texts, numbers, instants and dates as the buffers of the format (Arrow's "Columnar
// Format"). A column without nulls has an empty bitmap.
import type { ArrowColumn } from './messages.ts';

const noBitmap = new Uint8Array(0);

/**
 * The bitmap of rows that are not null, from the lowest bit of each byte on: empty where `isNull` is 0 for
 * all.
 */
function bitmapOf(isNull: Uint8Array, nulls: number): Uint8Array {
  if (nulls === 0) return noBitmap;
  const bitmap = new Uint8Array(Math.ceil(isNull.length / 8));
  for (let row = 0; row < isNull.length; row++) if (isNull[row] === 0) bitmap[row >> 3]! |= 1 << (row & 7);
  return bitmap;
}

/** Numbers; NaN is null. */
export function doubles(values: Float64Array): ArrowColumn {
  const isNull = new Uint8Array(values.length);
  let nulls = 0;
  for (let row = 0; row < values.length; row++) {
    if (!Number.isNaN(values[row]!)) continue;
    isNull[row] = 1;
    nulls++;
  }
  return { nulls, buffers: [bitmapOf(isNull, nulls), values] };
}

const WORD = 2 ** 32;

/** Instants, from epoch milliseconds. */
export function instants(values: Float64Array): ArrowColumn {
  const words = new Int32Array(values.length * 2);
  for (let row = 0; row < values.length; row++) {
    const us = values[row]! * 1_000;
    const high = Math.floor(us / WORD);
    words[2 * row] = us - high * WORD;
    words[2 * row + 1] = high;
  }
  return { nulls: 0, buffers: [noBitmap, words] };
}

/** Dates, from days since 1970. */
export const dates = (values: Int32Array): ArrowColumn => ({ nulls: 0, buffers: [noBitmap, values] });

/** So many rows that have one text. */
export type TextRun = { readonly text: string | null; readonly rows: number };

const encoder = new TextEncoder();

/** Writes bytes so many times from `at` on: each copy doubles what is there. */
function repeat(target: Uint8Array, at: number, bytes: Uint8Array, times: number): void {
  const total = bytes.length * times;
  target.set(bytes, at);
  for (let done = bytes.length; done > 0 && done < total; done *= 2)
    target.copyWithin(at + done, at, at + Math.min(done, total - done));
}

/** Texts that repeat; each run has at least one row. */
export function texts(runs: readonly TextRun[]): ArrowColumn {
  const coded = runs.map(({ text, rows }) => ({
    rows,
    isNull: text === null,
    bytes: encoder.encode(text ?? ''),
  }));
  const rows = coded.reduce((sum, run) => sum + run.rows, 0);
  const ends = new Int32Array(rows + 1);
  const data = new Uint8Array(coded.reduce((sum, run) => sum + run.rows * run.bytes.length, 0));
  const absent = new Uint8Array(rows);
  let nulls = 0;
  let row = 0;
  for (const { rows: count, isNull, bytes } of coded) {
    const at = ends[row]!;
    repeat(data, at, bytes, count);
    if (isNull) {
      absent.fill(1, row, row + count);
      nulls += count;
    }
    for (let index = 1; index <= count; index++) ends[row + index] = at + index * bytes.length;
    row += count;
  }
  return { nulls, buffers: [bitmapOf(absent, nulls), ends, data] };
}
