// Whether a stored series has bars off the session grid (contract 3.10): read from its bars, by its calendar.

import { MINUTE_MS } from '../base/instant.ts';
import { firstWhere } from '../base/search.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { bucketOf } from '../market/bars/bucket.ts';
import { type Bars, sliceBars } from '../market/bars/columns.ts';
import { countOffGrid } from '../market/bars/grid.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { soundBlocks } from '../store/all-blocks.ts';
import type { Reader } from '../store/store.ts';

/** True if bars, of which there is at least one, are off the session grid. */
function areOffGrid(calendar: Calendar, bars: Bars, minutes: number): boolean {
  // The last bar may reach into a session that opens late.
  const endMs = bars.keyMs[bars.count - 1]! + minutes * MINUTE_MS;
  return countOffGrid(bars, calendar.segments(bars.keyMs[0]!, endMs, 'all'), minutes) > 0;
}

/**
 * The key of the first bar of a series off the session grid; infinite where it has none. A minute is never
 * off it. Damaged blocks are left out.
 */
export async function firstOffGrid(
  reader: Reader,
  calendar: Calendar,
  { series_id, interval, first_ms, last_ms }: SeriesKeys,
): Promise<number> {
  const minutes = intervalMinutes(interval);
  if (minutes === null || minutes === 1) return Number.POSITIVE_INFINITY;
  const buckets = { fromBucket: bucketOf(interval, first_ms), toBucket: bucketOf(interval, last_ms) };
  for await (const { bars } of soundBlocks(reader, { seriesId: series_id, ...buckets })) {
    if (bars.count === 0 || !areOffGrid(calendar, bars, minutes)) continue;
    return bars.keyMs[
      firstWhere(bars.count, (at) => areOffGrid(calendar, sliceBars(bars, 0, at + 1), minutes))
    ]!;
  }
  return Number.POSITIVE_INFINITY;
}

/** A stored series by the keys of its first and its last bar. */
type SeriesKeys = {
  readonly series_id: number;
  readonly interval: Interval;
  readonly first_ms: number;
  readonly last_ms: number;
};
