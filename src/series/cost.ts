// About how many stored bars a request for derived bars reads: it decides in which lane the request is answered.
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { isPeriod } from '../calendar/period.ts';
import { intervalMinutes } from '../contract/interval.ts';
import type { StreamRange } from './cursor.ts';
import { daysIn, wholePeriods } from './derived.ts';
import { candidates, DAY, type Piece, splitRange } from './plan.ts';
import type { Series, StoredInstrument } from './series.ts';
import type { StreamContext } from './stream.ts';

const DAYS_OF_A_WEEK = 7;

/** The part of a series' bars that lies in a range, as if they lay evenly. */
function barsWithin({ first_ms, last_ms, bar_count }: Series, { fromMs, toMs }: StreamRange): number {
  const heldMs = Math.min(toMs, last_ms + MINUTE_MS) - Math.max(fromMs, first_ms);
  const share = heldMs / (last_ms + MINUTE_MS - first_ms);
  return bar_count * Math.min(Math.max(share, 0), 1);
}

/** About how many bars of a series make one bar of the asked interval. */
function barsPerCell({ interval, calendar }: StreamContext, series: Series): number {
  const asked = intervalMinutes(interval);
  const base = intervalMinutes(series.interval);
  if (asked !== null) return base === null ? 0 : asked / base;
  const weekdays = calendar.market.hours[0]!.weekdays.length / DAYS_OF_A_WEEK;
  const sessions = Math.max(1, (weekdays * (series.last_ms - series.first_ms)) / DAY_MS);
  const cellSessions = Math.max(1, weekdays * daysIn(interval));
  return (series.bar_count / sessions) * cellSessions;
}

/** The parts of a range that are derived, and from which series. */
function derivedPieces(context: StreamContext, stored: StoredInstrument, range: StreamRange): Piece[] {
  const { interval, extended } = context;
  const all = candidates(stored, interval);
  if (extended && isPeriod(interval)) {
    const minutes = all.filter((series) => !isPeriod(series.interval));
    return splitRange({ ...context, interval: DAY }, minutes, wholePeriods(interval, range));
  }
  if (all[0]?.off_grid) return splitRange(context, all.slice(1), range);
  return splitRange(context, all, range).filter(({ series }) => series.interval !== interval);
}

/** About how many bars of finer series are read to make up to `count` bars of a range; 0 where they are stored. */
export function baseBarsFor(
  context: StreamContext,
  stored: StoredInstrument,
  range: StreamRange,
  count: number,
): number {
  const costs = derivedPieces(context, stored, range).map((piece) =>
    Math.min(barsWithin(piece.series, piece.range), count * barsPerCell(context, piece.series)),
  );
  return costs.reduce((sum, cost) => sum + cost, 0);
}
