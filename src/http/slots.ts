// Memory that the query thread writes bodies into and the door sends them from: used again and again, copied by no message.

/** Bytes of one slot: a default page of bars and more. Larger bodies get memory of their own. */
export const SLOT_BYTES = 64 * 1024;

/** Slots: bodies in the thread, and those on their way to slow callers. With none free a body gets memory of its own. */
const SLOT_COUNT = 256;

/** A part of the memory. */
export function slotBytes(memory: SharedArrayBuffer, slot: number, length: number): Uint8Array {
  return new Uint8Array(memory, slot * SLOT_BYTES, length);
}

/** Which slots are free. */
export class Slots {
  readonly memory = new SharedArrayBuffer(SLOT_COUNT * SLOT_BYTES);
  readonly #free = Array.from({ length: SLOT_COUNT }, (_, slot) => slot);

  /** A slot that is now in use, or null. The one given back last is still in the processor's cache. */
  take(): number | null {
    return this.#free.pop() ?? null;
  }

  give(slot: number): void {
    this.#free.push(slot);
  }
}
