// Two streams as one, bar by bar: where both have a bar, the upper one wins.
import { concatTimed, sliceTimed, type TimedBars } from '../bars/grid.ts';
import { BARS_PER_BLOCK_GUESS } from './cursor.ts';
import type { BarStream } from './stream.ts';

/** A stream, and for each key the moment by which its bar must have closed to count. */
export type LimitedStream = { readonly stream: BarStream; readonly limitOf: (keyMs: number) => number };

/** Merges two streams by key. An unfinished bar of `upper` still hides that of `lower`; neither is given. */
export function overlay(upper: LimitedStream, lower: LimitedStream, descending: boolean): BarStream {
  const heads = [new Head(upper, descending), new Head(lower, descending)] as const;
  return {
    async next(atLeast) {
      const rows: TimedBars[] = [];
      while (rows.length < atLeast) {
        const [first, second] = [await heads[0].key(), await heads[1].key()];
        if (first === null && second === null) break;
        const upperLeads =
          second === null || (first !== null && (descending ? first >= second : first <= second));
        if (first === second) heads[1].take();
        const { row, done } = heads[upperLeads ? 0 : 1].take();
        if (done) rows.push(row);
      }
      return rows.length === 0 ? null : concatTimed(descending ? rows.reverse() : rows);
    },
  };
}

/** The bar at the front of a stream. */
class Head {
  readonly #stream: BarStream;
  readonly #limitOf: (keyMs: number) => number;
  readonly #descending: boolean;
  #step: TimedBars | null = null;
  #left = 0;

  constructor({ stream, limitOf }: LimitedStream, descending: boolean) {
    this.#stream = stream;
    this.#limitOf = limitOf;
    this.#descending = descending;
  }

  get #at(): number {
    return this.#descending ? this.#left - 1 : this.#step!.bars.count - this.#left;
  }

  async key(): Promise<number | null> {
    if (this.#left === 0) {
      this.#step = await this.#stream.next(BARS_PER_BLOCK_GUESS);
      this.#left = this.#step?.bars.count ?? 0;
    }
    return this.#step === null ? null : this.#step.bars.keyMs[this.#at]!;
  }

  /** Removes the front bar, after `key`; whether it is finished. */
  take(): { row: TimedBars; done: boolean } {
    const at = this.#at;
    const row = sliceTimed(this.#step!, at, at + 1);
    this.#left--;
    return { row, done: row.closeMs[0]! <= this.#limitOf(row.bars.keyMs[0]!) };
  }
}
