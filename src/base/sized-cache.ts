// The one rule by which values are kept for later: by name, up to a bound.
import { heapBytes } from './heap-bytes.ts';

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
