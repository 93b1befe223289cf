// A column of texts in DuckDB's own layout, read without making a string of every cell.
import duckdb, { type Vector } from '@duckdb/node-bindings';
import { shortText, type TextCells } from './chunk.ts';

/** A text is 16 bytes: its length, then up to 12 bytes of its own, or 4 of them and the address of all. */
const ENTRY_BYTES = 16;
const INLINE_MAX = 12;

/** The texts of one chunk of DuckDB. */
export class TextColumn implements TextCells {
  bytes = new Uint8Array(0);
  readonly starts = new Int32Array(duckdb.vector_size() + 1);
  /** Each cell ends where the next one begins. */
  readonly ends = this.starts.subarray(1);
  #raw: Uint8Array = new Uint8Array(0);
  #entries: Int32Array = new Int32Array(0);
  #validity: Uint8Array | null = null;

  /** Uses a vector of `count` rows. Keep its chunk while cells are read. */
  load(vector: Vector, count: number): void {
    this.#raw = duckdb.vector_get_data(vector, count * ENTRY_BYTES);
    this.#validity = duckdb.vector_get_validity(vector, Math.ceil(count / 64) * 8);
    this.#entries = new Int32Array(this.#raw.buffer, this.#raw.byteOffset, count * 4);
  }

  /**
   * Copies the bytes of all cells, or of some, to `bytes`, one after the other: the first has the index 0.
   */
  gather(from = 0, to = this.#entries.length / 4): void {
    const words = new Uint32Array(this.#entries.buffer, this.#entries.byteOffset, this.#entries.length);
    let at = 0;
    let row = from;
    while (row < to) {
      this.starts[row - from] = at;
      const first = row;
      const length = this.isNull(row) ? 0 : words[row * 4]!;
      row++;
      if (length <= INLINE_MAX) {
        this.#reserve(at + length);
        const place = first * ENTRY_BYTES + 4;
        for (let byte = 0; byte < length; byte++) this.bytes[at++] = this.#raw[place + byte]!;
        continue;
      }
      // Texts that follow each other in memory are copied at once: DuckDB packs those of a chunk.
      const high = words[first * 4 + 3]!;
      let end = words[first * 4 + 2]! + length;
      let total = length;
      for (; row < to && !this.isNull(row); row++) {
        const next = words[row * 4]!;
        if (next <= INLINE_MAX || words[row * 4 + 2] !== end || words[row * 4 + 3] !== high) break;
        this.starts[row - from] = at + total;
        total += next;
        end += next;
      }
      this.#reserve(at + total);
      this.bytes.set(this.#copy(first, total), at);
      at += total;
    }
    this.starts[to - from] = at;
  }

  /** Bytes of a long text, and of those that follow it in memory. */
  #copy(row: number, count: number): Uint8Array {
    return duckdb.get_data_from_pointer(
      this.#raw.buffer as ArrayBuffer,
      this.#raw.byteOffset + row * ENTRY_BYTES + 8,
      count,
    );
  }

  /** Bytes of a cell. */
  lengthOf(row: number): number {
    return this.isNull(row) ? 0 : this.#entries[row * 4]!;
  }

  /** 1 for each row from `from` to `to` without a text; null where all rows have one. */
  nulls(from: number, to: number): Uint8Array | null {
    if (this.#validity === null) return null;
    let nulls: Uint8Array | null = null;
    for (let row = from; row < to; row++) {
      // Most columns have a text in each of eight rows.
      if ((row & 7) === 0 && this.#validity[row >> 3] === 0xff) row += 7;
      else if (this.isNull(row)) {
        nulls ??= new Uint8Array(to - from);
        nulls[row - from] = 1;
      }
    }
    return nulls;
  }

  isNull(row: number): boolean {
    return this.#validity !== null && (this.#validity[row >> 3]! & (1 << (row & 7))) === 0;
  }

  repeats(row: number): boolean {
    const entries = this.#entries;
    const at = row * 4;
    return (
      row > 0 &&
      entries[at]! <= INLINE_MAX &&
      entries[at + 1] === entries[at - 3] &&
      entries[at + 2] === entries[at - 2] &&
      entries[at + 3] === entries[at - 1] &&
      entries[at] === entries[at - 4] &&
      (this.#validity === null || (!this.isNull(row) && !this.isNull(row - 1)))
    );
  }

  text(row: number): string | null {
    if (this.isNull(row)) return null;
    const length = this.#entries[row * 4]!;
    const from = row * ENTRY_BYTES + 4;
    return length > INLINE_MAX
      ? shortText(this.#copy(row, length), 0, length)
      : shortText(this.#raw, from, from + length);
  }

  #reserve(needed: number): void {
    if (needed <= this.bytes.length) return;
    this.bytes = new Uint8Array(this.bytes.buffer.transfer(Math.max(needed * 2, 64 * 1024)));
  }
}
