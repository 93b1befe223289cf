// Which keys a file has named so far, and with what values: digests of one size, so that long rows take no more memory than short ones.
import { hash } from 'node:crypto';

/** Of a digest of the key, then of one of the values. */
const KEY_WORDS = 4;
const WORDS = KEY_WORDS + 2;

const FIRST_SLOTS = 1024;

/** Above this share of slots in use there are twice as many. */
const FULL_SHARE = 0.7;

/** What a file had said of a key before. */
export type Seen = 'nothing' | 'the same' | 'something else';

/** A table of digests, open addressed. */
export class SeenRows {
  #words = new Uint32Array(FIRST_SLOTS * WORDS);
  #count = 0;

  /** Notes a row; what was noted of its key before. */
  note(key: string, values: string): Seen {
    const entry = Uint32Array.of(...wordsOf(key, KEY_WORDS), ...wordsOf(values, WORDS - KEY_WORDS));
    // An empty slot is told by its first word.
    entry[0]! ||= 1;
    const at = this.#slotOf(entry);
    if (this.#words[at] === 0) {
      this.#words.set(entry, at);
      if (++this.#count * WORDS > this.#words.length * FULL_SHARE) this.#grow();
      return 'nothing';
    }
    const isSame = entry.every((word, index) => word === this.#words[at + index]);
    return isSame ? 'the same' : 'something else';
  }

  /** Where an entry's key stands, or the empty place where it belongs. */
  #slotOf(entry: Uint32Array): number {
    const words = this.#words;
    const slots = words.length / WORDS;
    for (let slot = entry[0]! % slots; ; slot = (slot + 1) % slots) {
      const at = slot * WORDS;
      if (words[at] === 0) return at;
      let word = 0;
      while (word < KEY_WORDS && words[at + word] === entry[word]) word++;
      if (word === KEY_WORDS) return at;
    }
  }

  #grow(): void {
    const before = this.#words;
    this.#words = new Uint32Array(before.length * 2);
    for (let at = 0; at < before.length; at += WORDS) {
      if (before[at] === 0) continue;
      const entry = before.subarray(at, at + WORDS);
      this.#words.set(entry, this.#slotOf(entry));
    }
  }
}

function wordsOf(text: string, count: number): number[] {
  const digest = hash('sha256', text, 'buffer');
  return Array.from({ length: count }, (_, index) => digest.readUInt32LE(index * 4));
}
