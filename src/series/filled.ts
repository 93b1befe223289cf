// Two streams as one: the gaps of one are filled from the other, or sessions that both have come from the
// first.
import { sliceTimed, type TimedBars } from '../market/bars/grid.ts';
import { BARS_PER_BLOCK_GUESS, type Stream } from './cursor.ts';
import type { Part, PartStream } from './stream.ts';

/**
 * Places in time where a stream may have bars, as day numbers: sessions by their label dates, or weeks or
 * months by their first day.
 */
export type Gaps<Step> = {
  /** The first place of all, and the first one behind the last. */
  readonly from: number;
  readonly to: number;
  readonly descending: boolean;
  readonly placeOf: (timed: TimedBars, row: number) => number;
  /** The next place behind one. */
  readonly after: (place: number) => number;
  /** The bars for the places from one up to another. */
  readonly fill: (from: number, to: number) => Promise<Stream<Step>> | Stream<Step>;
};

type Gap = { readonly from: number; readonly to: number };

class Filled<Step extends { readonly timed: TimedBars }> implements Stream<Step> {
  readonly #own: Stream<Step>;
  readonly #gaps: Gaps<Step>;
  readonly #waiting: (Step | Gap)[] = [];
  #filling: Stream<Step> | null = null;
  /** Between these the stream has not been read yet. */
  #from: number;
  #to: number;
  #ended = false;

  constructor(own: Stream<Step>, gaps: Gaps<Step>) {
    this.#own = own;
    this.#gaps = gaps;
    this.#from = gaps.from;
    this.#to = gaps.to;
  }

  async next(atLeast: number): Promise<Step | null> {
    for (;;) {
      const filling = await this.#filling?.next(atLeast);
      if (filling != null) return filling;
      this.#filling = null;
      const first = this.#waiting.shift();
      if (first === undefined) {
        if (this.#ended) return null;
        await this.#read(atLeast);
      } else if ('timed' in first) return first;
      else this.#filling = await this.#gaps.fill(first.from, first.to);
    }
  }

  async #read(atLeast: number): Promise<void> {
    const step = await this.#own.next(atLeast);
    if (step === null) {
      this.#ended = true;
      this.#add({ from: this.#from, to: this.#to });
    } else if (step.timed.bars.count > 0) this.#split(step);
  }

  #add(...items: readonly (Step | Gap)[]): void {
    for (const item of items) if ('timed' in item || item.from < item.to) this.#waiting.push(item);
  }

  /** Adds the bars of a step and the gaps before, between or behind them, in the direction. */
  #split(step: Step): void {
    const { placeOf, after, descending } = this.#gaps;
    const { timed } = step;
    const { count } = timed.bars;
    const [first, last] = [placeOf(timed, 0), placeOf(timed, count - 1)];
    const items = this.#between(step);
    if (descending) {
      this.#add({ from: last + 1 < this.#to ? after(last) : this.#to, to: this.#to }, ...items.reverse());
      this.#to = first;
    } else {
      this.#add({ from: this.#from, to: first }, ...items);
      this.#from = after(last);
    }
  }

  #between(step: Step): (Step | Gap)[] {
    const { placeOf, after } = this.#gaps;
    const { timed } = step;
    const { count } = timed.bars;
    const part = (from: number, to: number): Step => ({ ...step, timed: sliceTimed(timed, from, to) });
    const items: (Step | Gap)[] = [];
    let from = 0;
    for (let row = 1, before = placeOf(timed, 0); row < count; row++) {
      const place = placeOf(timed, row);
      const next = place > before + 1 ? after(before) : place;
      if (next < place) {
        items.push(part(from, row), { from: next, to: place });
        from = row;
      }
      before = place;
    }
    items.push(from === 0 ? step : part(from, count));
    return items;
  }
}

/** The bars of a stream, and for places where it has none those that fill its gaps. */
export const filled = <Step extends { readonly timed: TimedBars }>(
  own: Stream<Step>,
  gaps: Gaps<Step>,
): Stream<Step> => new Filled(own, gaps);

/** The front of a stream. */
class Head {
  readonly #stream: PartStream;
  readonly #descending: boolean;
  #part: Part | null = null;
  /** The number of bars of the part that are left. */
  #left = 0;
  #ended = false;
  /** Bars of the next step: few at first, because they may lie far from those that are wanted. */
  #wanted = 1;

  constructor(stream: PartStream, descending: boolean) {
    this.#stream = stream;
    this.#descending = descending;
  }

  /** The place of the front bar in the direction; infinite at the end. */
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
