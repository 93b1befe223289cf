// Chance that a seed repeats: the same seed and index give the same choices on every machine.

/** A stream of choices. */
export class Random {
  #state: number;

  constructor(seed: number, index = 0) {
    this.#state = (Math.imul(seed | 0, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) | 0;
  }

  /** A number from 0 (included) to 1 (not): mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from 0 (included) to `bound` (not). */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** The list in another order. */
  shuffle<T>(list: readonly T[]): T[] {
    const mixed = [...list];
    for (let last = mixed.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      [mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!];
    }
    return mixed;
  }

  /** The text with each ASCII letter in any case. */
  anyCase(text: string): string {
    return text.replace(/[a-z]/gi, (letter) =>
      this.chance(0.5) ? letter.toUpperCase() : letter.toLowerCase(),
    );
  }
}
