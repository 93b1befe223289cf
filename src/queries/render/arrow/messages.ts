// The messages of an Arrow stream: a schema, record batches, the end
// (https://arrow.apache.org/docs/format/Columnar.html, "IPC Streaming Format"). The numbers of fields and
// kinds are those of Schema.fbs and Message.fbs of Apache Arrow.
import { type FlatNumber, type FlatTable, flatBuffer } from './flat-buffer.ts';

/**
 * The types that columns have here: texts, doubles, dates of 32 bits in days, and instants in microseconds in
 * UTC.
 */
export type ArrowType = 'utf8' | 'double' | 'date' | 'instant';

/** A column of a schema. */
export type ArrowField = { readonly name: string; readonly type: ArrowType; readonly nullable: boolean };

/** The rows of one column: how many are null, and its buffers in the order of its type. */
export type ArrowColumn = { readonly nulls: number; readonly buffers: readonly ArrayBufferView[] };

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
export const schemaMessage = (fields: readonly ArrowField[]): Uint8Array =>
  message(SCHEMA, { fields: [null, { tables: fields.map(fieldTable) }] }, 0);

/** The bytes that end a stream. */
export const endOfStream = (): Uint8Array => {
  const bytes = new Uint8Array(PREFIX_BYTES);
  bytes.fill(0xff, 0, 4);
  return bytes;
};

/** The message of some rows, in pieces that follow each other. */
export function batchMessage(rows: number, columns: readonly ArrowColumn[]): Uint8Array[] {
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
