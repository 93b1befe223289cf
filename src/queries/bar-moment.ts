// From which moment a request sees bars, and until when later ones get the same answer (contract 3.9, 4.1).
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import type { Interval } from '../contract/interval.ts';

/**
 * All bars with keys before the end of a range have closed so many days after it: weeks and months at the end
 * of their last session.
 */
const daysToClose = (interval: Interval): number => (interval === 'MON' ? 40 : interval === 'WEEK' ? 14 : 5);

/** What the moment of a request for bars depends on. */
type AskedBars = {
  readonly interval: Interval;
  /** The clock. */
  readonly nowMs: number;
  /** The end of the range of keys; infinite for the newest bars. */
  readonly toMs: number;
  /** When the instrument ends: its bars are complete from then on. Null while it is traded. */
  readonly endedMs: number | null;
  readonly isAdjusted: boolean;
};

/**
 * The moment of a request, and until when one has the same. Its answer is the same for so long, unless what
 * it depends on is changed.
 */
export type BarMoment = { readonly nowMs: number; readonly goodUntilMs: number };

/**
 * The moment of a request. Bars close at whole minutes, and so do the sessions that adjustments go by: the
 * clock counts in minutes. Where all bars of the range have closed, the moment is the same whenever it is
 * asked for.
 */
export function barMoment({ interval, nowMs, toMs, endedMs, isAdjusted }: AskedBars): BarMoment {
  const minuteMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  const closedMs = toMs + daysToClose(interval) * DAY_MS;
  const hasEnded = endedMs !== null && endedMs <= minuteMs;
  const endsMs = endedMs === null || hasEnded ? Number.POSITIVE_INFINITY : endedMs;
  if (isAdjusted || closedMs > minuteMs)
    return { nowMs: minuteMs, goodUntilMs: Math.min(minuteMs + MINUTE_MS, endsMs) };
  return { nowMs: hasEnded ? Math.max(closedMs, endedMs) : closedMs, goodUntilMs: endsMs };
}

/** The moment that a page key pins: that of its walk. */
export const pinnedMoment = (nowMs: number): BarMoment => ({ nowMs, goodUntilMs: Number.POSITIVE_INFINITY });
