// Two streams of DAY bars as one, session by session: where both have a bar, the first one's is given.
import { sliceTimed } from '../market/bars/grid.ts';
import { BARS_PER_BLOCK_GUESS } from './cursor.ts';
import type { Part, PartStream } from './stream.ts';

/** The front of a stream. */
class Head {
  readonly #stream: PartStream;
  readonly #descending: boolean;
  #part: Part | null = null;
  /** How many bars of the part are left. */
  #left = 0;
  #ended = false;
  /** Bars of the next step: few at first, because they may lie far from those that are wanted. */
  #wanted = 1;

  constructor(stream: PartStream, descending: boolean) {
    this.#stream = stream;
    this.#descending = descending;
  }

  /** How far the front bar is in the direction; infinite at the end. */
  async place(): Promise<number> {
    if (this.#left === 0 && !this.#ended) {
      this.#part = await this.#stream.next(this.#wanted);
      this.#wanted = Math.min(2 * this.#wanted, BARS_PER_BLOCK_GUESS);
      this.#ended = this.#part === null;
      this.#left = this.#part?.timed.bars.count ?? 0;
    }
    return this.#known();
  }

  /** The same without reading: from nowhere on where it is not known. */
  #known(): number {
    if (this.#left > 0) return this.#placeOf(0);
    return this.#ended ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }

  #rowOf(ahead: number): number {
    return this.#descending ? this.#left - 1 - ahead : this.#part!.timed.bars.count - this.#left + ahead;
  }

  #placeOf(ahead: number): number {
    const { day } = this.#part!.timed;
    return this.#descending ? -day[this.#rowOf(ahead)]! : day[this.#rowOf(ahead)]!;
  }

  /** Removes the front bar, and those after it in the part up to a place. */
  takeBefore(toPlace: number): Part {
    let count = 1;
    while (count < this.#left && this.#placeOf(count) < toPlace) count++;
    return this.#take(count);
  }

  /**
   * Removes the front bar, and those after it in the part up to one of another stream, which loses the bars
   * of the same sessions.
   */
  takeOver(other: Head): Part {
    let count = 0;
    do if (this.#placeOf(count++) === other.#known()) other.#left--;
    while (count < this.#left && this.#placeOf(count) <= other.#known());
    return this.#take(count);
  }

  #take(count: number): Part {
    const [one, last] = [this.#rowOf(0), this.#rowOf(count - 1)];
    this.#left -= count;
    const { series, timed } = this.#part!;
    return { series, timed: sliceTimed(timed, Math.min(one, last), Math.max(one, last) + 1) };
  }
}

/** The DAY bars of two streams. */
export function mergedDays(first: PartStream, second: PartStream, descending: boolean): PartStream {
  const [head, other] = [new Head(first, descending), new Head(second, descending)];
  return {
    async next() {
      const [place, otherPlace] = [await head.place(), await other.place()];
      if (Math.min(place, otherPlace) === Number.POSITIVE_INFINITY) return null;
      return otherPlace < place ? other.takeBefore(place) : head.takeOver(other);
    },
  };
}
