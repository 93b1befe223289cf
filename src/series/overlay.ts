// Two streams as one, bar by bar: where both have a bar, the upper one wins.
import { concatTimed, sliceTimed, type TimedBars } from '../bars/grid.ts';
import { BARS_PER_BLOCK_GUESS } from './cursor.ts';
import type { BarStream } from './stream.ts';

/** Whether a bar counts, by its key and its close. */
export type IsComplete = (keyMs: number, closeMs: number) => Promise<boolean>;

/** A stream, and which of its bars are complete. */
export type CheckedStream = { readonly stream: BarStream; readonly isComplete: IsComplete };

/** Merges two streams by key. An incomplete bar of `upper` still hides that of `lower`; neither is given. */
export function overlay(upper: CheckedStream, lower: CheckedStream, descending: boolean): BarStream {
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
        const head = heads[upperLeads ? 0 : 1];
        const row = head.take();
        if (await head.isComplete(row.bars.keyMs[0]!, row.closeMs[0]!)) rows.push(row);
      }
      return rows.length === 0 ? null : concatTimed(descending ? rows.reverse() : rows);
    },
  };
}

/** The bar at the front of a stream. */
class Head {
  readonly #stream: BarStream;
  readonly isComplete: IsComplete;
  readonly #descending: boolean;
  #step: TimedBars | null = null;
  #left = 0;

  constructor({ stream, isComplete }: CheckedStream, descending: boolean) {
    this.#stream = stream;
    this.isComplete = isComplete;
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

  /** Removes and gives the front bar, after `key`. */
  take(): TimedBars {
    const at = this.#at;
    const row = sliceTimed(this.#step!, at, at + 1);
    this.#left--;
    return row;
  }
}
