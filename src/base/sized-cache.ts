// A cache by name that is bounded in bytes.
import { heapBytes, textBytes } from './heap-bytes.ts';

/** An entry beside the bytes of its name and its value, as measured: its place in the Map, its own object, and the name as it was made. */
const ENTRY_BYTES = 200;

/** Values by name. Where they take more than so many bytes, those that were added first go. */
export class SizedCache<T> {
  readonly #bytesMax: number;
  readonly #entries = new Map<string, { readonly value: T; readonly bytes: number }>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes that it holds, as `heapBytes` estimates them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The value of a name. */
  get(name: string): T | undefined {
    return this.#entries.get(name)?.value;
  }

  /** Adds a value in place of the one that has the name. A value above the bound is not kept. */
  set(name: string, value: T): void {
    this.delete(name);
    const bytes = ENTRY_BYTES + textBytes(name) + heapBytes(value);
    if (bytes > this.#bytesMax) return;
    this.#entries.set(name, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.delete(oldest);
    }
  }

  /** Forgets a value. */
  delete(name: string): void {
    this.#bytes -= this.#entries.get(name)?.bytes ?? 0;
    this.#entries.delete(name);
  }

  /** Forgets everything. */
  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }
}
