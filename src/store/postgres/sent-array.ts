// Arrays that are sent to PostgreSQL as binary: a column of many rows, for `unnest` (array_recv in
// arrayfuncs.c, PostgreSQL 15).

/** A value in an array; null for none. */
export type Element = string | number | Uint8Array | null;

/** The types of elements (pg_type.dat). */
const types = { int4: 23, int8: 20, float8: 701, text: 25, bytea: 17 } as const;

export type ElementType = keyof typeof types;

/**
 * Dimensions, whether there are nulls, type of the elements; then the length and the lower bound of the only
 * dimension.
 */
const HEAD_BYTES = 20;
const LENGTH_BYTES = 4;
const TWO_TO_32 = 2 ** 32;

const fixedBytes: Partial<Readonly<Record<ElementType, number>>> = { int4: 4, int8: 8, float8: 8 };

/** An array of one type, as a parameter of a statement. */
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
