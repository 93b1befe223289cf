// The steps of bars in bulk as bytes, in each format that is streamed: what begins the answer, its rows,
// what ends it (contract 9.11). An Arrow stream has columns as the contract declares the fields of a bar,
// each as the buffers of its type; a column without nulls has an empty bitmap. Its messages are a schema,
// record batches, the end (https://arrow.apache.org/docs/format/Columnar.html, "IPC Streaming Format"); the
// numbers of fields and kinds are those of Schema.fbs and Message.fbs of Apache Arrow. They are FlatBuffers
// (https://flatbuffers.dev/internals): little-endian, written from front to back, so that what a table or a
// list points to follows it.
import { type BarField, barRecord, bulkTypes } from '../../contract/bars.ts';
import { fieldsOf } from '../../contract/endpoint.ts';
import type { ValueColumn } from '../../market/bars/columns.ts';
import type { TimedBars } from '../../market/bars/grid.ts';
import type { Allocate } from '../query.ts';
import {
  type BarConstants,
  plainForm,
  type RowForm,
  type Step,
  type StepPart,
  writeCsvHeader,
  writeCsvRows,
} from './bar-records.ts';
import { CSV_TYPE } from './list.ts';
import { Sink } from './sink.ts';

/** A number inside a table, of so many bytes: a boolean, an enumeration, or an integer below 2^53. */
type FlatNumber = { readonly bytes: 1 | 2 | 8; readonly value: number };

/** A table: its fields by number; null for one that is left out, which then has its default. */
type FlatTable = { readonly fields: readonly (FlatNumber | FlatNode | null)[] };

/**
 * A value that is pointed to: a table, a text, a list of tables, or a list of structs of two integers of
 * eight bytes.
 */
type FlatNode =
  | FlatTable
  | string
  | { readonly tables: readonly FlatTable[] }
  | { readonly pairs: readonly (readonly [number, number])[] };

/** Bytes of the largest buffer: a schema of a hundred columns. */
const BYTES_MAX = 16_384;

/** Bytes of a pointer, and of the length before a list. */
const POINTER_BYTES = 4;

const encoder = new TextEncoder();

const roundUp = (at: number, to: number): number => Math.ceil(at / to) * to;

const isNumber = (field: FlatNumber | FlatNode): field is FlatNumber =>
  typeof field === 'object' && 'bytes' in field;

/** Writes one buffer. */
class Writer {
  readonly #bytes = new Uint8Array(BYTES_MAX);
  readonly #view = new DataView(this.#bytes.buffer);
  #at = 0;

  /** The buffer of a root table. @throws RangeError where it is too large */
  whole(root: FlatTable): Uint8Array {
    this.#at = POINTER_BYTES;
    this.#point(0, root);
    return this.#bytes.slice(0, this.#at);
  }

  /** Writes a node, and its distance into the pointer at `from`. */
  #point(from: number, node: FlatNode): void {
    this.#view.setUint32(from, this.#node(node) - from, true);
  }

  /** Writes a node behind all others; where it is. */
  #node(node: FlatNode): number {
    if (typeof node === 'string') return this.#text(node);
    if ('fields' in node) return this.#table(node);
    return 'tables' in node ? this.#tables(node.tables) : this.#pairs(node.pairs);
  }

  #text(text: string): number {
    const bytes = encoder.encode(text);
    const start = this.#list(bytes.length, POINTER_BYTES);
    this.#bytes.set(bytes, this.#at);
    // A zero ends it, which its length does not count.
    this.#at += bytes.length + 1;
    return start;
  }

  #tables(tables: readonly FlatTable[]): number {
    const start = this.#list(tables.length, POINTER_BYTES);
    const first = this.#at;
    this.#at += tables.length * POINTER_BYTES;
    for (const [index, table] of tables.entries()) this.#point(first + index * POINTER_BYTES, table);
    return start;
  }

  #pairs(pairs: readonly (readonly [number, number])[]): number {
    const start = this.#list(pairs.length, 8);
    for (const value of pairs.flat()) {
      this.#view.setBigInt64(this.#at, BigInt(value), true);
      this.#at += 8;
    }
    return start;
  }

  /** Begins a list whose items are aligned; where it is. */
  #list(length: number, alignment: number): number {
    const start = roundUp(this.#at + POINTER_BYTES, alignment) - POINTER_BYTES;
    this.#view.setUint32(start, length, true);
    this.#at = start + POINTER_BYTES;
    return start;
  }

  /** Writes the places of a table's fields, then the table, then what it points to. */
  #table({ fields }: FlatTable): number {
    const places = roundUp(this.#at, 2);
    const start = roundUp(places + 4 + fields.length * 2, 8);
    this.#at = start + POINTER_BYTES;
    const pointers: [from: number, node: FlatNode][] = [];
    for (const [index, field] of fields.entries()) {
      if (field === null) continue;
      const bytes = isNumber(field) ? field.bytes : POINTER_BYTES;
      const at = roundUp(this.#at, bytes);
      this.#view.setUint16(places + 4 + index * 2, at - start, true);
      this.#at = at + bytes;
      if (isNumber(field)) this.#number(at, field);
      else pointers.push([at, field]);
    }
    this.#view.setUint16(places, 4 + fields.length * 2, true);
    this.#view.setUint16(places + 2, this.#at - start, true);
    this.#view.setInt32(start, start - places, true);
    for (const [from, node] of pointers) this.#point(from, node);
    return start;
  }

  #number(at: number, { bytes, value }: FlatNumber): void {
    if (bytes === 1) this.#view.setUint8(at, value);
    else if (bytes === 2) this.#view.setInt16(at, value, true);
    else this.#view.setBigInt64(at, BigInt(value), true);
  }
}

/** The bytes of a root table. @throws RangeError above 16 KiB */
const flatBuffer = (root: FlatTable): Uint8Array => new Writer().whole(root);

/**
 * The types that columns have here: texts, doubles, dates of 32 bits in days, and instants in microseconds in
 * UTC.
 */
type ArrowType = 'utf8' | 'double' | 'date' | 'instant';

/** A column of a schema. */
type ArrowField = { readonly name: string; readonly type: ArrowType; readonly nullable: boolean };

/** The rows of one column: how many are null, and its buffers in the order of its type. */
type ArrowColumn = { readonly nulls: number; readonly buffers: readonly ArrayBufferView[] };

const flag = (value: boolean): FlatNumber => ({ bytes: 1, value: value ? 1 : 0 });
const kind = (value: number): FlatNumber => ({ bytes: 1, value });
const word = (value: number): FlatNumber => ({ bytes: 2, value });
const long = (value: number): FlatNumber => ({ bytes: 8, value });

const VERSION_5 = word(4);
const SCHEMA = kind(1);
const RECORD_BATCH = kind(3);

/** Each type with its number among types, and its table. */
const types: Readonly<Record<ArrowType, readonly [FlatNumber, FlatTable]>> = {
  utf8: [kind(5), { fields: [] }],
  double: [kind(3), { fields: [word(2)] }],
  date: [kind(8), { fields: [word(0)] }],
  instant: [kind(10), { fields: [word(2), 'UTC'] }],
};

const fieldTable = ({ name, type, nullable }: ArrowField): FlatTable => ({
  fields: [name, flag(nullable), ...types[type], null, { tables: [] }],
});

/** Buffers and messages begin at multiples of this. */
const ALIGNMENT = 8;
const padded = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/** Before each message: this mark, and the bytes of its table. */
const CONTINUATION = 0xff_ff_ff_ff;
const PREFIX_BYTES = 8;

/** A message without its body. */
function message(header: FlatNumber, table: FlatTable, bodyBytes: number): Uint8Array {
  const head = flatBuffer({ fields: [VERSION_5, header, table, long(bodyBytes)] });
  const bytes = new Uint8Array(PREFIX_BYTES + padded(head.length));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, CONTINUATION, true);
  view.setInt32(4, padded(head.length), true);
  bytes.set(head, PREFIX_BYTES);
  return bytes;
}

/** The message that begins a stream: its columns. */
const schemaMessage = (fields: readonly ArrowField[]): Uint8Array =>
  message(SCHEMA, { fields: [null, { tables: fields.map(fieldTable) }] }, 0);

/** The bytes that end a stream. */
const endOfStream = (): Uint8Array => {
  const bytes = new Uint8Array(PREFIX_BYTES);
  bytes.fill(0xff, 0, 4);
  return bytes;
};

/** The message of some rows, in pieces that follow each other. */
function batchMessage(rows: number, columns: readonly ArrowColumn[]): Uint8Array[] {
  const buffers = columns.flatMap((column) => column.buffers);
  const places: [from: number, bytes: number][] = [];
  let bodyBytes = 0;
  for (const { byteLength } of buffers) {
    places.push([bodyBytes, byteLength]);
    bodyBytes += padded(byteLength);
  }
  const nodes = columns.map(({ nulls }) => [rows, nulls] as const);
  const table = { fields: [long(rows), { pairs: nodes }, { pairs: places }] };
  const pieces = [message(RECORD_BATCH, table, bodyBytes)];
  for (const { buffer, byteOffset, byteLength } of buffers)
    pieces.push(
      new Uint8Array(buffer, byteOffset, byteLength),
      new Uint8Array(padded(byteLength) - byteLength),
    );
  return pieces;
}

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
const arrowFields = ({ fields }: Pick<RowForm, 'fields'>): readonly ArrowField[] =>
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
function arrowBars({ parts, isFirst, isLast, form }: Step): Uint8Array[] {
  const fields = arrowFields(form);
  const rows = parts.reduce((sum, { timed }) => sum + timed.bars.count, 0);
  const columns = (): ArrowColumn[] => fields.map((field) => columnOf(field, parts, rows));
  return [
    ...(isFirst ? [schemaMessage(fields)] : []),
    ...(rows > 0 ? batchMessage(rows, columns()) : []),
    ...(isLast ? [endOfStream()] : []),
  ];
}

/** How steps are written in one format. */
type StepFormat = {
  readonly contentType: string;
  readonly write: (step: Step, allocate: Allocate) => Uint8Array;
};

/** Shared: a thread writes one step at a time. */
const sink = new Sink();

function writeCsv({ parts, isFirst, form }: Step, allocate: Allocate): Uint8Array {
  sink.start();
  if (isFirst) writeCsvHeader(sink, form);
  for (const { timed, constants } of parts) writeCsvRows(sink, timed, constants, form);
  return sink.take(allocate);
}

/** The forms of what Parquet files are made of: instants in seconds, dates in days. */
const parquetForms = [false, true].map(
  (withSessionDate): RowForm => ({
    ...plainForm(withSessionDate),
    timestamps: 'unix',
    hasDayNumbers: true,
  }),
);

const writeParquetRows = (step: Step, allocate: Allocate): Uint8Array =>
  writeCsv(
    { ...step, isFirst: false, form: parquetForms[step.form.fields.includes('session_date') ? 1 : 0]! },
    allocate,
  );

/** Copies pieces into one body. */
function bodyOf(pieces: readonly Uint8Array[], allocate: Allocate): Uint8Array {
  const body = allocate(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    body.set(piece, at);
    at += piece.length;
  }
  return body;
}

/** The type of a column, in the words of Arrow. */
export type ColumnType = ArrowType;

/** The columns of rows, with their types. */
export const bulkColumns = (withSessionDate: boolean): readonly { name: string; type: ColumnType }[] =>
  arrowFields(plainForm(withSessionDate));

/** The formats that are streamed; of Parquet what a file is made of, by another process. */
export const stepFormats = {
  csv: { contentType: CSV_TYPE, write: writeCsv },
  parquet: { contentType: bulkTypes.parquet, write: writeParquetRows },
  arrow: { contentType: bulkTypes.arrow, write: (step, allocate) => bodyOf(arrowBars(step), allocate) },
} as const satisfies Record<string, StepFormat>;
