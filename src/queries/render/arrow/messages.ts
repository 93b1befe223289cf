// The messages of an Arrow stream: a schema, record batches, the end
// (https://arrow.apache.org/docs/format/Columnar.html, "IPC Streaming Format"). The numbers of fields and
// kinds are those of Schema.fbs and Message.fbs of Apache Arrow. They are FlatBuffers
// (https://flatbuffers.dev/internals): little-endian, written from front to back, so that what a table or a
// list points to follows it.

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
