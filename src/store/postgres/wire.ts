// Frames of PostgreSQL's protocol: those of one execution of a statement, whose values may be arrays for
// `unnest`, and the frames of its answer (postgresql.org/docs/15/protocol-message-formats.html).
import type { StoredCell } from '../row-check.ts';

/** Types (pg_type.dat). */
const types = { bool: 16, bytea: 17, int8: 20, int4: 23, text: 25, float8: 701 } as const;

/** A value that a statement takes. */
export type Parameter = string | number | boolean | Uint8Array | SentArray | null | undefined;

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

/** Names a statement, and asks for the types of its columns. */
export const prepareFrames = (name: string, sql: string): Buffer =>
  Buffer.concat([
    typed('P', zeroEnded(name), zeroEnded(sql), short(0)),
    typed('D', Buffer.from('S'), zeroEnded(name)),
  ]);

/** Takes the rows that a statement gives, up to its end; then the answer is sent. */
const executeAndSync = Buffer.concat([typed('E', Buffer.from('\0\0\0\0\0')), typed('S')]);

const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;
const AS_TEXT = 0;
const AS_BINARY = 1;

/**
 * Executes a statement. Arrays go as binary, other values as text; the cells of the answer come as binary.
 */
export function executeFrames(name: string, values: readonly Parameter[]): Buffer {
  const sent = values.map(sentOf);
  const bytes = sent.reduce((sum, one) => sum + LENGTH_BYTES + (one?.byteLength ?? 0), 0);
  const head = Buffer.from(`\0${name}\0`);
  const formats = sent.map((one) => (one instanceof SentArray ? AS_BINARY : AS_TEXT));
  const frame = Buffer.allocUnsafe(1 + LENGTH_BYTES + head.length + 2 * (values.length + 4) + bytes);
  let at = frame.write('B', 0, 'latin1');
  at = frame.writeInt32BE(frame.length - 1, at);
  at += head.copy(frame, at);
  for (const word of [values.length, ...formats, values.length]) at = frame.writeInt16BE(word, at);
  for (const one of sent) {
    at = frame.writeInt32BE(one?.byteLength ?? NULL_LENGTH, at);
    if (one instanceof SentArray) at = one.write(frame, at);
    else if (one !== null) at += one.copy(frame, at);
  }
  for (const word of [1, AS_BINARY]) at = frame.writeInt16BE(word, at);
  return Buffer.concat([frame, executeAndSync]);
}

/** A value as it is sent. */
function sentOf(value: Parameter): Buffer | SentArray | null {
  if (value === null || value === undefined) return null;
  if (value instanceof SentArray) return value;
  if (value instanceof Uint8Array)
    return Buffer.from(`\\x${Buffer.from(value.buffer, value.byteOffset, value.length).toString('hex')}`);
  // Engines do not keep the sign of zero.
  return Buffer.from(Object.is(value, -0) ? '0' : String(value));
}

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

/** A value in an array; null for none. */
export type Element = string | number | Uint8Array | null;

export type ElementType = Exclude<keyof typeof types, 'bool'>;

/**
 * Dimensions, whether there are nulls, type of the elements; then the length and the lower bound of the only
 * dimension.
 */
const HEAD_BYTES = 20;
const TWO_TO_32 = 2 ** 32;

const fixedBytes: Partial<Readonly<Record<ElementType, number>>> = { int4: 4, int8: 8, float8: 8 };

/** An array of one type, as a parameter of a statement (array_recv in arrayfuncs.c, PostgreSQL 15). */
export class SentArray {
  readonly type: ElementType;
  readonly #elements: readonly Element[];
  readonly #lengths: Int32Array;
  /** Bytes of the whole. */
  readonly byteLength: number;

  constructor(type: ElementType, elements: readonly Element[]) {
    this.type = type;
    this.#elements = elements;
    this.#lengths = Int32Array.from(elements, (element) => lengthOf(type, element));
    this.byteLength = this.#lengths.reduce(
      (sum, length) => sum + LENGTH_BYTES + Math.max(length, 0),
      HEAD_BYTES,
    );
  }

  /** Writes it from a place on, and gives the place after it. */
  write(target: Buffer, from: number): number {
    const count = this.#elements.length;
    let at = from;
    for (const word of [1, 1, types[this.type], count, 1]) at = target.writeInt32BE(word, at);
    for (let index = 0; index < count; index++) {
      const length = this.#lengths[index]!;
      at = target.writeInt32BE(length, at);
      if (length < 0) continue;
      this.#writeElement(target, at, this.#elements[index]!);
      at += length;
    }
    return at;
  }

  #writeElement(target: Buffer, at: number, element: NonNullable<Element>): void {
    switch (this.type) {
      case 'text':
        target.write(element as string, at, 'utf8');
        return;
      case 'bytea':
        target.set(element as Uint8Array, at);
        return;
      case 'float8':
        // Engines do not keep the sign of zero.
        target.writeDoubleBE((element as number) + 0, at);
        return;
      case 'int4':
        target.writeInt32BE(element as number, at);
        return;
      case 'int8': {
        const high = Math.floor((element as number) / TWO_TO_32);
        target.writeInt32BE(high, at);
        target.writeUInt32BE((element as number) - high * TWO_TO_32, at + 4);
      }
    }
  }
}

/** Bytes of an element; -1 for null. @throws TypeError for a value of another type */
function lengthOf(type: ElementType, element: Element): number {
  if (element === null) return -1;
  const isFit =
    type === 'text'
      ? typeof element === 'string'
      : type === 'bytea'
        ? element instanceof Uint8Array
        : typeof element === 'number' && (type === 'float8' || Number.isSafeInteger(element));
  if (!isFit) throw new TypeError(`${String(element)} is no ${type}`);
  return (
    fixedBytes[type] ??
    (typeof element === 'string' ? Buffer.byteLength(element) : (element as Uint8Array).length)
  );
}
