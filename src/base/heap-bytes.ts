// Estimates the memory that a plain value takes, so that caches can be bounded in bytes: within a third of
// what V8 takes.

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
const ENTRY_BYTES = 7 * WORD_BYTES;
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
    let sum = OBJECT_BYTES + ENTRY_BYTES;
    for (const [key, of] of value.entries()) sum += ENTRY_BYTES + bytesOf(key, seen) + bytesOf(of, seen);
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
