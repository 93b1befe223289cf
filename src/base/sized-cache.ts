// The one rule by which values are kept for later: by name, up to a bound.

/**
 * An entry beside the bytes of its name and its value, as measured: its place in the Map, its own object, and
 * the name as it was made.
 */
const ENTRY_BYTES = 200;

type Entry<T> = { readonly value: T; bytes: number; isUsed: boolean };

/**
 * Values by name, bounded in bytes. To make room, entries are looked at from the oldest on: one that was read
 * since the last look is passed over, any other goes (the clock algorithm). A read costs one assignment.
 */
export class SizedCache<T, K extends string | number = string> {
  readonly #bytesMax: number;
  readonly #entries = new Map<K, Entry<T>>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes that it holds. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Tells that a name has a value; that is no use of it. */
  has(name: K): boolean {
    return this.#entries.has(name);
  }

  /** The value of a name. */
  get(name: K): T | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    entry.isUsed = true;
    return entry.value;
  }

  /**
   * Adds a value in place of the one that has the name. A value above the bound is not kept.
   * @param bytes what it takes: by default as `heapBytes` estimates; 1 where the bound is a number of values
   */
  set(name: K, value: T, bytes: number = ENTRY_BYTES + heapBytes(name) + heapBytes(value)): void {
    this.delete(name);
    if (bytes > this.#bytesMax) return;
    this.#makeRoom(bytes);
    this.#entries.set(name, { value, bytes, isUsed: false });
    this.#bytes += bytes;
  }

  /** Counts bytes that a value takes more than before, if it is still kept under the name. */
  grow(name: K, value: T, bytes: number): void {
    const entry = this.#entries.get(name);
    if (entry?.value !== value) return;
    entry.bytes += bytes;
    entry.isUsed = true;
    this.#bytes += bytes;
    this.#makeRoom(0);
  }

  #makeRoom(bytes: number): void {
    for (const [name, entry] of this.#entries) {
      if (this.#bytes + bytes <= this.#bytesMax) return;
      this.delete(name);
      if (!entry.isUsed) continue;
      entry.isUsed = false;
      this.#entries.set(name, entry);
      this.#bytes += entry.bytes;
    }
  }

  /** Forgets a value. */
  delete(name: K): void {
    this.#bytes -= this.#entries.get(name)?.bytes ?? 0;
    this.#entries.delete(name);
  }

  /** Forgets everything. */
  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  /** Names and values, the oldest first; those that are added meanwhile too. */
  entries(): MapIterator<[K, { readonly value: T }]> {
    return this.#entries.entries();
  }
}

const WORD_BYTES = 8;
/**
 * Of an object with the room that V8 leaves for more fields, an array, a string or a boxed number, before
 * what they hold.
 */
const OBJECT_BYTES = 5 * WORD_BYTES;
const ARRAY_BYTES = 6 * WORD_BYTES;
const STRING_BYTES = 2 * WORD_BYTES;
const NUMBER_BYTES = 2 * WORD_BYTES;
/** An entry of a Map or a Set: key, value and chain, in a table that is half empty at the most. */
const MAP_ENTRY_BYTES = 7 * WORD_BYTES;
/**
 * An object without a prototype, as SQLite's rows are, is a hash table: key, value and details of twice as
 * many places as it has fields.
 */
const FIELD_OF_TABLE_BYTES = 2 * 3 * WORD_BYTES;
/** A typed array with its buffer, before its bytes. */
const TYPED_ARRAY_BYTES = 200;
/** Integers up to this one need no box. */
const UNBOXED_MAX = 2 ** 31;

/** A character above U+00FF makes V8 store two bytes for each character of the text. */
const WIDE = /[\u0100-\uffff]/;

/** Bytes of a text. */
const textBytes = (text: string): number =>
  STRING_BYTES + (WIDE.test(text) ? 2 : 1) * text.length + WORD_BYTES / 2;

/**
 * Bytes of memory that a value takes: of objects, arrays, maps, sets, typed arrays and texts, each once.
 * Instances of other classes are not counted: they are shared, and whoever made them counts them.
 */
export function heapBytes(value: unknown): number {
  return bytesOf(value, new Set());
}

function bytesOf(value: unknown, seen: Set<object>): number {
  if (typeof value === 'string') return textBytes(value);
  if (typeof value === 'number')
    return Number.isInteger(value) && Math.abs(value) < UNBOXED_MAX ? 0 : NUMBER_BYTES;
  if (typeof value !== 'object' || value === null || seen.has(value)) return 0;
  seen.add(value);
  if (ArrayBuffer.isView(value)) return TYPED_ARRAY_BYTES + value.byteLength;
  if (Array.isArray(value))
    return value.reduce((sum: number, one) => sum + WORD_BYTES + bytesOf(one, seen), ARRAY_BYTES);
  if (value instanceof Map || value instanceof Set) {
    let sum = OBJECT_BYTES + MAP_ENTRY_BYTES;
    for (const [key, of] of value.entries()) sum += MAP_ENTRY_BYTES + bytesOf(key, seen) + bytesOf(of, seen);
    return sum;
  }
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype !== null && prototype !== Object.prototype) return 0;
  const fieldBytes = prototype === null ? FIELD_OF_TABLE_BYTES : WORD_BYTES;
  return Object.values(value).reduce(
    (sum: number, one) => sum + fieldBytes + bytesOf(one, seen),
    OBJECT_BYTES,
  );
}
