// How far apart the bars of a file are: bars of a coarser interval than the one given show by it.

import { DAY_MS, MINUTE_MS } from '../../base/instant.ts';
import { type Interval, intervalMinutes } from '../../contract/interval.ts';
import type { Bars } from '../../market/bars/columns.ts';

/** So many bars have a common multiple of minutes, or a least distance of days, by more than chance. */
const BARS_OF_MINUTES = 20;
const BARS_OF_DAYS = 4;

/** Any file of several DAY or WEEK bars has two that are fewer days apart. */
const DAYS_APART: Readonly<Record<string, number>> = { DAY: 5, WEEK: 28 };

const DOUBT = 'so that the interval may be wrong (--interval)';

type Gaps = { count: number; measureMs: number; leastMs: number };

const measureOf = (one: number, other: number): number => (other === 0 ? one : measureOf(other, one % other));

/** The gaps between the bars of one import, by interval. */
export class Spacing {
  readonly #gaps = new Map<Interval, Gaps>();

  /** Adds ascending bars of one series, so many of which were not added before. */
  add(interval: Interval, { keyMs, count }: Bars, added: number): void {
    const gaps = this.#gaps.get(interval) ?? { count: 0, measureMs: 0, leastMs: Number.POSITIVE_INFINITY };
    this.#gaps.set(interval, gaps);
    const usualMs = (intervalMinutes(interval) ?? 0) * MINUTE_MS;
    // Most files show the usual distance at once.
    for (let at = 1; at < count && (usualMs === 0 || gaps.measureMs !== usualMs); at++) {
      const gapMs = keyMs[at]! - keyMs[at - 1]!;
      gaps.measureMs = measureOf(gapMs, gaps.measureMs);
      gaps.leastMs = Math.min(gaps.leastMs, gapMs);
    }
    gaps.count += added;
  }

  /** Warnings, each with its number of bars. */
  findings(): Record<string, number> {
    const found: Record<string, number> = {};
    for (const [interval, { count, measureMs, leastMs }] of this.#gaps) {
      const minutes = intervalMinutes(interval);
      const isCoarse = minutes !== null && measureMs > minutes * MINUTE_MS && count >= BARS_OF_MINUTES;
      const isRare = measureMs > 0 && leastMs >= (DAYS_APART[interval] ?? Number.POSITIVE_INFINITY) * DAY_MS;
      if (isCoarse) found[`a multiple of ${measureMs / MINUTE_MS} minutes apart, ${DOUBT}`] = count;
      if (isRare && count >= BARS_OF_DAYS) found[`at least ${leastMs / DAY_MS} days apart, ${DOUBT}`] = count;
    }
    return found;
  }
}
