// Shared buffers: the query thread writes bodies into them and the HTTP thread sends them from there, so that
// no message copies a body.

/** Bytes of one buffer: enough for a default page of bars. A larger body gets memory of its own. */
export const BUFFER_BYTES = 64 * 1024;

/**
 * About as many as short requests are in the query thread at a time. With none free, because there are more
 * or slow clients still read, a body gets memory of its own.
 */
const BUFFER_COUNT = 256;

/** The first bytes of one buffer. */
export function bufferBytes(memory: SharedArrayBuffer, buffer: number, length: number): Uint8Array {
  return new Uint8Array(memory, buffer * BUFFER_BYTES, length);
}

/** The buffers, by number, and which of them are free. */
export class SharedBuffers {
  readonly memory = new SharedArrayBuffer(BUFFER_COUNT * BUFFER_BYTES);
  readonly #free = Array.from({ length: BUFFER_COUNT }, (_, buffer) => buffer);

  /**
   * A buffer that is now in use, or null. The one released last comes first: the processor still caches it.
   */
  take(): number | null {
    return this.#free.pop() ?? null;
  }

  /** Frees a buffer; null is none. */
  release(buffer: number | null): void {
    if (buffer !== null) this.#free.push(buffer);
  }
}
