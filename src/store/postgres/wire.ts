// Frames of PostgreSQL's protocol: those of one execution of a statement, and the frames of its answer (postgresql.org/docs/15/protocol-message-formats.html).
import type { StoredCell } from '../row-check.ts';

/** A value that a statement takes: an array for `unnest`. */
export type Parameter =
  | string
  | number
  | boolean
  | Uint8Array
  | null
  | undefined
  | readonly (string | number | boolean | Uint8Array | null)[];

const typed = (type: string, ...parts: readonly Uint8Array[]): Buffer => {
  const head = Buffer.allocUnsafe(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(4 + parts.reduce((sum, part) => sum + part.length, 0), 1);
  return Buffer.concat([head, ...parts]);
};

const zeroEnded = (text: string): Buffer => Buffer.from(`${text}\0`);

const short = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.allocUnsafe(2 * values.length);
  for (const [at, value] of values.entries()) bytes.writeInt16BE(value, 2 * at);
  return bytes;
};

const NONE = Buffer.from([255, 255, 255, 255]);

/** Names a statement, and asks for the types of its columns. */
export const prepareFrames = (name: string, sql: string): Buffer =>
  Buffer.concat([
    typed('P', zeroEnded(name), zeroEnded(sql), short(0)),
    typed('D', Buffer.from('S'), zeroEnded(name)),
  ]);

/** Executes a statement. Values go as text, the cells of the answer come as binary. */
export function executeFrames(name: string, values: readonly Parameter[]): Buffer {
  const parts: Uint8Array[] = [Buffer.from('\0'), zeroEnded(name), short(0, values.length)];
  for (const value of values) {
    const text = value === null || value === undefined ? null : Buffer.from(textOf(value));
    if (text === null) {
      parts.push(NONE);
      continue;
    }
    const length = Buffer.allocUnsafe(4);
    length.writeInt32BE(text.length);
    parts.push(length, text);
  }
  parts.push(short(1, 1));
  return Buffer.concat([typed('B', ...parts), typed('E', Buffer.from('\0\0\0\0\0')), typed('S')]);
}

/** A value as PostgreSQL reads it. */
function textOf(value: NonNullable<Parameter>): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return `{${value.map(elementOf).join()}}`;
  if (value instanceof Uint8Array)
    return `\\x${Buffer.from(value.buffer, value.byteOffset, value.length).toString('hex')}`;
  return numberText(value as number | boolean);
}

const numberText = (value: number | boolean): string => (Object.is(value, -0) ? '0' : String(value));

function elementOf(value: string | number | boolean | Uint8Array | null): string {
  if (value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return numberText(value);
  return `"${textOf(value).replace(/["\\]/g, '\\$&')}"`;
}

/** Types of columns that the tables have (pg_type.dat). */
const types = { bool: 16, bytea: 17, int8: 20, int4: 23, float8: 701 } as const;

/** A mark of byte order is part of a text. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

function cellOf(type: number, bytes: Buffer): StoredCell {
  switch (type) {
    case types.int8:
      return Number(bytes.readBigInt64BE());
    case types.int4:
      return bytes.readInt32BE();
    case types.float8:
      return bytes.readDoubleBE();
    case types.bool:
      return bytes[0]!;
    // A copy of its own: the socket's buffer holds much more, and would stay as long as the cell.
    case types.bytea:
      return new Uint8Array(bytes);
    default:
      return utf8.decode(bytes);
  }
}

/** The cells of a data row. */
export function cellsOf(columnTypes: readonly number[], body: Buffer): StoredCell[] {
  const cells: StoredCell[] = [];
  for (let at = 2, column = 0; column < columnTypes.length; column++) {
    const length = body.readInt32BE(at);
    at += 4;
    cells.push(length < 0 ? null : cellOf(columnTypes[column]!, body.subarray(at, at + length)));
    at += Math.max(length, 0);
  }
  return cells;
}

/** The types of the columns of a row description. */
export function columnTypesOf(body: Buffer): number[] {
  const found: number[] = [];
  for (let at = 2, column = body.readInt16BE(0); column > 0; column--) {
    const name = body.indexOf(0, at);
    found.push(body.readInt32BE(name + 7));
    at = name + 19;
  }
  return found;
}

/** The fields of an error: its code (`C`) and its message (`M`) among them. */
export function errorFields(body: Buffer): Readonly<Record<string, string>> {
  const fields = body.toString('utf8').split('\0').filter(Boolean);
  return Object.fromEntries(fields.map((field) => [field[0]!, field.slice(1)]));
}

/** Cuts a stream of bytes into frames. */
export class Frames {
  #parts: Buffer[] = [];
  #length = 0;
  #needed = 5;

  /** Takes bytes, and gives each whole frame to `onFrame`. */
  take(chunk: Buffer, onFrame: (type: number, body: Buffer) => void): void {
    this.#parts.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#needed) return;
    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
    let at = 0;
    this.#needed = 5;
    while (bytes.length - at >= 5) {
      const length = 1 + bytes.readInt32BE(at + 1);
      if (bytes.length - at < length) {
        this.#needed = length;
        break;
      }
      onFrame(bytes[at]!, bytes.subarray(at + 5, at + length));
      at += length;
    }
    const rest = bytes.subarray(at);
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
  }
}
