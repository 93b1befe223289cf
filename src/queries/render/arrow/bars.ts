// Bars as an Arrow stream: columns as the contract declares the fields of a bar, each as the buffers of its
// type (Arrow's "Columnar Format"). A column without nulls has an empty bitmap.
import { type BarField, barRecord } from '../../../contract/bars.ts';
import { fieldsOf } from '../../../contract/endpoint.ts';
import type { ValueColumn } from '../../../market/bars/columns.ts';
import type { TimedBars } from '../../../market/bars/grid.ts';
import type { BarConstants, RowForm, Step, StepPart } from '../bar-records.ts';
import {
  type ArrowColumn,
  type ArrowField,
  type ArrowType,
  batchMessage,
  endOfStream,
  schemaMessage,
} from './messages.ts';

const noBitmap = new Uint8Array(0);

/** The bitmap of rows that are not null, from the lowest bit of each byte on: empty if no row is null. */
function bitmapOf(rows: number, nulls: number, isNull: (row: number) => boolean): Uint8Array {
  if (nulls === 0) return noBitmap;
  const bitmap = new Uint8Array(Math.ceil(rows / 8));
  for (let row = 0; row < rows; row++) if (!isNull(row)) bitmap[row >> 3]! |= 1 << (row & 7);
  return bitmap;
}

/** Numbers; NaN is null. */
function doubles(values: Float64Array): ArrowColumn {
  let nulls = 0;
  for (let row = 0; row < values.length; row++) if (Number.isNaN(values[row]!)) nulls++;
  return { nulls, buffers: [bitmapOf(values.length, nulls, (row) => Number.isNaN(values[row]!)), values] };
}

const WORD = 2 ** 32;

/** Instants, from epoch milliseconds. */
function instants(values: Float64Array): ArrowColumn {
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
const dates = (values: Int32Array): ArrowColumn => ({ nulls: 0, buffers: [noBitmap, values] });

/** So many rows that have one text. */
type TextRun = { readonly text: string | null; readonly rows: number };

const encoder = new TextEncoder();

/** Writes bytes so many times from `at` on: each copy doubles what is there. */
function repeat(target: Uint8Array, at: number, bytes: Uint8Array, times: number): void {
  const total = bytes.length * times;
  target.set(bytes, at);
  for (let done = bytes.length; done > 0 && done < total; done *= 2)
    target.copyWithin(at + done, at, at + Math.min(done, total - done));
}

/** Texts that repeat; each run has at least one row. */
function texts(runs: readonly TextRun[]): ArrowColumn {
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
    const [{ length }, after] = [bytes, row + count];
    for (let end = at + length; row < after; end += length) ends[++row] = end;
  }
  return { nulls, buffers: [bitmapOf(rows, nulls, (at) => absent[at] === 1), ends, data] };
}

type Declared = { readonly type?: string; readonly format?: string; readonly anyOf?: readonly Declared[] };

function typeOf({ type, format }: Declared): ArrowType {
  if (type === 'number') return 'double';
  if (format === 'date-time') return 'instant';
  return format === 'date' ? 'date' : 'utf8';
}

function fieldOf(name: string): ArrowField {
  const declared = barRecord.properties[name] as Declared;
  const nullable = declared.anyOf !== undefined;
  return { name, type: typeOf(declared.anyOf?.[0] ?? declared), nullable };
}

const allFields = fieldsOf(barRecord).map(fieldOf);

/** The columns of bars: arrays of their own types, whatever the form of texts is. */
export const arrowFields = ({ fields }: Pick<RowForm, 'fields'>): readonly ArrowField[] =>
  allFields.filter(({ name }) => fields.includes(name as BarField));

/** The values of all parts, one after the other: of a single part a view. `whole` has their length. */
function joined<T extends Float64Array | Int32Array>(
  parts: readonly StepPart[],
  makeWhole: () => T,
  valuesOf: (timed: TimedBars) => T,
): T {
  const views = parts.map(({ timed }) => valuesOf(timed).subarray(0, timed.bars.count) as T);
  if (views.length === 1) return views[0]!;
  const whole = makeWhole();
  let at = 0;
  for (const view of views) {
    whole.set(view, at);
    at += view.length;
  }
  return whole;
}

function columnOf({ name, type }: ArrowField, parts: readonly StepPart[], rows: number): ArrowColumn {
  const numbers = (valuesOf: (timed: TimedBars) => Float64Array): Float64Array =>
    joined(parts, () => new Float64Array(rows), valuesOf);
  if (type === 'double') return doubles(numbers(({ bars }) => bars[name as ValueColumn]));
  if (type === 'instant')
    return instants(numbers(name === 'datetime' ? ({ openMs }) => openMs : ({ closeMs }) => closeMs));
  if (type === 'date')
    return dates(
      joined(
        parts,
        () => new Int32Array(rows),
        ({ day }) => day,
      ),
    );
  return texts(
    parts.map(({ timed, constants }) => ({
      text: constants[name as keyof BarConstants],
      rows: timed.bars.count,
    })),
  );
}

/**
 * One step as messages, in pieces that follow each other: the schema before the first rows, and what ends the
 * stream after the last.
 */
export function arrowBars({ parts, isFirst, isLast, form }: Step): Uint8Array[] {
  const fields = arrowFields(form);
  const rows = parts.reduce((sum, { timed }) => sum + timed.bars.count, 0);
  const columns = (): ArrowColumn[] => fields.map((field) => columnOf(field, parts, rows));
  return [
    ...(isFirst ? [schemaMessage(fields)] : []),
    ...(rows > 0 ? batchMessage(rows, columns()) : []),
    ...(isLast ? [endOfStream()] : []),
  ];
}
