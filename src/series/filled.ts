// A stream whose gaps are filled from another one, gap by gap.
import { sliceTimed, type TimedBars } from '../market/bars/grid.ts';
import type { Stream } from './steps.ts';

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
