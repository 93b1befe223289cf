// Numbers the names of rows by their bytes: no text is made of a name that was met before.
import type { TextCells } from '../read/text-cells.ts';

/** Bytes that no UTF-8 has: the end of a cell, and a missing cell. */
const [CELL_END, MISSING] = [0xff, 0xfe];

/** The prime of the hash FNV-1a. */
const FNV_PRIME = 0x0100_0193;

/** The numbers of names, in the order of their first appearance. */
export class NameIds {
  /** How many names there are. */
  count = 0;
  /**
   * The bytes of all names, one after the other; the name of a number begins where the one before it ends.
   */
  #bytes = new Uint8Array(16 * 1024);
  #ends = new Int32Array(1024);
  #hashes = new Int32Array(1024);
  /** By hash: a number and one, 0 for none. At most half of them are used. */
  #slots = new Int32Array(2048);
  /**
   * The number that came last, and by number the one that came after it, and one; 0 for none. Rows ordered by
   * time repeat their order.
   */
  #last = -1;
  #followers = new Int32Array(1024);

  /** The number of the cells of a row, which were gathered. A new one is the count before. */
  of(columns: readonly TextCells[], row: number): number {
    const guess = this.#last < 0 ? -1 : this.#followers[this.#last]! - 1;
    if (guess >= 0 && this.#isOf(guess, columns, row)) {
      this.#last = guess;
      return guess;
    }
    const id = this.#find(columns, row);
    if (this.#last >= 0) this.#followers[this.#last] = id + 1;
    this.#last = id;
    return id;
  }

  /** Whether the cells of a row are those of a number. */
  #isOf(id: number, columns: readonly TextCells[], row: number): boolean {
    const known = this.#bytes;
    let at = id === 0 ? 0 : this.#ends[id - 1]!;
    for (const column of columns) {
      const { bytes } = column;
      const end = column.ends[row]!;
      if (column.isNull(row)) {
        if (known[at++] !== MISSING) return false;
      } else
        for (let byte = column.starts[row]!; byte < end; byte++)
          if (known[at++] !== bytes[byte]) return false;
      if (known[at++] !== CELL_END) return false;
    }
    return at === this.#ends[id];
  }

  #find(columns: readonly TextCells[], row: number): number {
    const from = this.count === 0 ? 0 : this.#ends[this.count - 1]!;
    const to = this.#append(columns, row, from);
    const bytes = this.#bytes;
    let hash = 0;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, FNV_PRIME);
    const mask = this.#slots.length - 1;
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const id = this.#slots[slot]! - 1;
      if (id < 0) return this.#add(slot, hash, to);
      if (this.#hashes[id] === hash && this.#is(id, from, to)) return id;
    }
  }

  /** Copies cells behind the last name; where they end. */
  #append(columns: readonly TextCells[], row: number, from: number): number {
    let at = from;
    for (const column of columns) {
      const start = column.starts[row]!;
      const end = column.ends[row]!;
      if (at + end - start + 2 > this.#bytes.length) this.#growBytes(at + end - start + 2);
      const into = this.#bytes;
      const { bytes } = column;
      if (column.isNull(row)) into[at++] = MISSING;
      else for (let byte = start; byte < end; byte++) into[at++] = bytes[byte]!;
      into[at++] = CELL_END;
    }
    return at;
  }

  #is(id: number, from: number, to: number): boolean {
    const start = id === 0 ? 0 : this.#ends[id - 1]!;
    if (this.#ends[id]! - start !== to - from) return false;
    for (let at = from, other = start; at < to; at++, other++)
      if (this.#bytes[at] !== this.#bytes[other]) return false;
    return true;
  }

  #add(slot: number, hash: number, end: number): number {
    const id = this.count++;
    if (id === this.#ends.length) {
      this.#ends = grown(this.#ends, 2 * id);
      this.#hashes = grown(this.#hashes, 2 * id);
      this.#followers = grown(this.#followers, 2 * id);
    }
    this.#ends[id] = end;
    this.#hashes[id] = hash;
    this.#slots[slot] = id + 1;
    if (2 * this.count > this.#slots.length) this.#growSlots();
    return id;
  }

  #growSlots(): void {
    const slots = new Int32Array(2 * this.#slots.length);
    const mask = slots.length - 1;
    for (let id = 0; id < this.count; id++) {
      const hash = this.#hashes[id]!;
      let slot = (hash ^ (hash >>> 15)) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = id + 1;
    }
    this.#slots = slots;
  }

  #growBytes(needed: number): void {
    const bytes = new Uint8Array(2 * needed);
    bytes.set(this.#bytes);
    this.#bytes = bytes;
  }
}

function grown(values: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(length);
  longer.set(values);
  return longer;
}
