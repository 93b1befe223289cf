// Two streams as one, session by session: where both have bars, the upper one wins.
import { concatTimed, filterTimed, sliceTimed, type TimedBars } from '../bars/grid.ts';
import { BARS_PER_BLOCK_GUESS } from './cursor.ts';
import type { BarStream } from './stream.ts';

/** Whether a bar counts, by its key and its close. */
export type IsComplete = (keyMs: number, closeMs: number) => Promise<boolean>;

/** A stream, and which of its bars are served. */
export type CheckedStream = {
  readonly stream: BarStream;
  readonly isComplete: IsComplete;
  /** Chooses among bars of sessions that are served from this stream; all of them where there is none. */
  readonly choose?: (sessions: TimedBars) => TimedBars;
};

/**
 * Merges two streams by the label dates of their bars: a session, week or month with a bar in `upper` comes from it alone. An
 * incomplete bar of `upper` still hides those of `lower`; neither is given.
 */
export function overlay(upper: CheckedStream, lower: CheckedStream, descending: boolean): BarStream {
  const heads = [new Head(upper.stream, descending), new Head(lower.stream, descending)] as const;
  return {
    async next(atLeast) {
      const parts: TimedBars[] = [];
      for (let count = 0; count < atLeast; ) {
        const [first, second] = [await heads[0].day(), await heads[1].day()];
        if (first === null && second === null) break;
        const upperLeads =
          second === null || (first !== null && (descending ? first >= second : first <= second));
        const [leading, otherDay] = upperLeads ? [heads[0], second] : [heads[1], first];
        if (first === second) await heads[1].take();
        const taken = first === second ? await leading.take() : leading.takeBefore(otherDay);
        const part = await served(upperLeads ? upper : lower, taken);
        count += part.bars.count;
        if (part.bars.count > 0) parts.push(part);
      }
      return parts.length === 0 ? null : concatTimed(descending ? parts.reverse() : parts);
    },
  };
}

/** The complete bars of sessions among those that their stream chooses. */
async function served({ isComplete, choose }: CheckedStream, sessions: TimedBars): Promise<TimedBars> {
  const chosen = choose?.(sessions) ?? sessions;
  const { count, keyMs } = chosen.bars;
  const complete = new Uint8Array(count);
  for (let row = 0; row < count; row++)
    if (await isComplete(keyMs[row]!, chosen.closeMs[row]!)) complete[row] = 1;
  return filterTimed(chosen, (row) => complete[row] === 1);
}

/** The front of a stream: its sessions one after the other. */
class Head {
  readonly #stream: BarStream;
  readonly #descending: boolean;
  #step: TimedBars | null = null;
  #left = 0;
  #ended = false;
  /** Bars of the next step: few at first, because they may lie far from the bars that are wanted. */
  #wanted = 1;

  constructor(stream: BarStream, descending: boolean) {
    this.#stream = stream;
    this.#descending = descending;
  }

  /** Where the bar that is `ahead` of the front one stands in the step. */
  #at(ahead: number): number {
    return this.#descending ? this.#left - 1 - ahead : this.#step!.bars.count - this.#left + ahead;
  }

  /** The label date of the front bar; null at the end. */
  async day(): Promise<number | null> {
    // A step may be empty: its bars are outside all sessions.
    while (this.#left === 0 && !this.#ended) {
      this.#step = await this.#stream.next(this.#wanted);
      this.#wanted = Math.min(2 * this.#wanted, BARS_PER_BLOCK_GUESS);
      this.#ended = this.#step === null;
      this.#left = this.#step?.bars.count ?? 0;
    }
    return this.#ended ? null : this.#step!.day[this.#at(0)]!;
  }

  /** Removes the bars of the step that are before a day, as the front one is; all of them where it is null. After `day`. */
  takeBefore(otherDay: number | null): TimedBars {
    const { day } = this.#step!;
    const isBefore = (one: number): boolean =>
      otherDay === null || (this.#descending ? one > otherDay : one < otherDay);
    let count = 1;
    while (count < this.#left && isBefore(day[this.#at(count)]!)) count++;
    return this.#front(count);
  }

  /** Removes so many bars of the step. */
  #front(count: number): TimedBars {
    const [one, other] = [this.#at(0), this.#at(count - 1)];
    this.#left -= count;
    return sliceTimed(this.#step!, Math.min(one, other), Math.max(one, other) + 1);
  }

  /** Removes the bars of the front session, of which there is one: after `day`. */
  async take(): Promise<TimedBars> {
    const session = await this.day();
    const parts: TimedBars[] = [];
    while ((await this.day()) === session) {
      let count = 1;
      while (count < this.#left && this.#step!.day[this.#at(count)] === session) count++;
      parts.push(this.#front(count));
    }
    if (parts.length === 1) return parts[0]!;
    return concatTimed(this.#descending ? parts.reverse() : parts);
  }
}
