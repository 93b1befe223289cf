// Interval -> bucket: which block of its series a bar is stored in (docs/architecture.md, "How bars are
// stored").
import { DAY_MS } from '../../base/instant.ts';
import { type Interval, intervalMinutes } from '../../contract/interval.ts';

/** Days that one block of an interval spans; null where the whole series is one block. */
export function bucketDays(interval: Interval): number | null {
  const minutes = intervalMinutes(interval);
  if (minutes === null) return interval === 'DAY' ? 1024 : null;
  if (minutes < 5) return 1;
  return minutes < 30 ? 7 : 91;
}

/** The bucket of a bar's key: a whole number, ascending with time. */
export function bucketOf(interval: Interval, keyMs: number): number {
  const days = bucketDays(interval);
  return days === null ? 0 : Math.floor(keyMs / (days * DAY_MS));
}
