// FlatBuffers, as far as the messages of Arrow have them (https://flatbuffers.dev/internals). All numbers are
// little-endian. They are written from front to back: what a table or a list points to follows it.

/** A number inside a table, of so many bytes: a boolean, an enumeration, or an integer below 2^53. */
export type FlatNumber = { readonly bytes: 1 | 2 | 8; readonly value: number };

/** A table: its fields by number; null for one that is left out, which then has its default. */
export type FlatTable = { readonly fields: readonly (FlatNumber | FlatNode | null)[] };

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
export const flatBuffer = (root: FlatTable): Uint8Array => new Writer().whole(root);
