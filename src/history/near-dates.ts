// Which bars a change of sessions may concern, by the label dates of these.
import { bucketOf } from '../bars/bucket.ts';
import { DAY_MS } from '../base/instant.ts';
import { type PeriodInterval, periodEnd } from '../calendar/period.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import type { BucketRange } from './stored-series.ts';

/** A bar of a session opens within 3 UTC days of its label date. */
const DAYS_AROUND = 3;

/** The buckets of an interval that may have bars of the sessions of some days: ascending, and apart from each other. */
export function bucketsAround(interval: Interval, days: Iterable<number>): BucketRange[] {
  const ranges: { fromBucket: number; toBucket: number }[] = [];
  for (const day of [...days].sort((a, b) => a - b)) {
    const fromBucket = bucketOf(interval, (day - DAYS_AROUND) * DAY_MS);
    const toBucket = bucketOf(interval, (day + DAYS_AROUND) * DAY_MS);
    const last = ranges.at(-1);
    if (last !== undefined && fromBucket <= last.toBucket + 1) last.toBucket = toBucket;
    else ranges.push({ fromBucket, toBucket });
  }
  return ranges;
}

/** Of some days those with sessions that bars between two keys may be of, or end with. */
export function daysWithin(
  interval: Interval,
  { first_ms, last_ms }: { readonly first_ms: number; readonly last_ms: number },
  days: Iterable<number>,
): number[] {
  const fromDay = Math.floor(first_ms / DAY_MS) - DAYS_AROUND;
  const toDay = endDayOf(interval, last_ms) + DAYS_AROUND;
  return [...days].filter((day) => fromDay <= day && day <= toDay);
}

/** Whether a bar may be of the sessions of some days, or end with one. */
export function isNear(interval: Interval, keyMs: number, days: ReadonlySet<number>): boolean {
  const fromDay = Math.floor(keyMs / DAY_MS) - DAYS_AROUND;
  const toDay = endDayOf(interval, keyMs) + DAYS_AROUND;
  for (let day = fromDay; day <= toDay; day++) if (days.has(day)) return true;
  return false;
}

/** The last UTC day of a bar's period. */
function endDayOf(interval: Interval, keyMs: number): number {
  const day = Math.floor(keyMs / DAY_MS);
  return intervalMinutes(interval) === null ? periodEnd(interval as PeriodInterval, day) : day;
}
