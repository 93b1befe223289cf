// About how many stored bars a request for derived bars reads: it decides in which lane the request is answered.
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { isPeriod, segmentScope } from '../calendar/period.ts';
import { clockMinutes, scopeKinds } from '../calendar/session.ts';
import { intervalMinutes } from '../contract/interval.ts';
import type { StreamRange } from './cursor.ts';
import { daysIn, wholePeriods } from './derived.ts';
import { candidates, DAY, type Piece, splitRange } from './plan.ts';
import type { Series, StoredInstrument } from './series.ts';
import type { StreamContext } from './stream.ts';

const DAYS_OF_A_WEEK = 7;

/** The usual sessions of a market: the share of days that have one, and the minutes of the longest in a scope. */
function sessionsOf({ calendar, interval, extended }: StreamContext) {
  const kinds = scopeKinds[segmentScope(interval, extended)];
  const minutes = calendar.market.hours.map(({ segments }) =>
    segments
      .filter(([kind]) => kinds.includes(kind))
      .reduce((sum, [, open, close]) => sum + clockMinutes(close) - clockMinutes(open), 0),
  );
  const weekdays = Math.max(...calendar.market.hours.map((hours) => hours.weekdays.length));
  return { shareOfDays: weekdays / DAYS_OF_A_WEEK, minutes: Math.max(...minutes) };
}

/** At most about how many bars of a series lie in a range: as many as its sessions there have room for. */
function barsWithin(context: StreamContext, series: Series, { fromMs, toMs }: StreamRange): number {
  const heldMs = Math.min(toMs, series.last_ms + MINUTE_MS) - Math.max(fromMs, series.first_ms);
  const { shareOfDays, minutes } = sessionsOf(context);
  const sessions = Math.max(0, heldMs / DAY_MS) * shareOfDays + 1;
  return Math.min(series.bar_count, (sessions * minutes) / (intervalMinutes(series.interval) ?? minutes));
}

/** At most about how many bars of a series make one bar of the asked interval. */
function barsPerCell(context: StreamContext, series: Series): number {
  const { interval } = context;
  const { shareOfDays, minutes } = sessionsOf(context);
  const base = intervalMinutes(series.interval) ?? minutes;
  const asked = intervalMinutes(interval) ?? Math.max(1, shareOfDays * daysIn(interval)) * minutes;
  return asked / base;
}

/** The parts of a range that are derived, and from which series. */
function derivedPieces(context: StreamContext, stored: StoredInstrument, range: StreamRange): Piece[] {
  const { interval, extended } = context;
  const all = candidates(stored, interval);
  if (extended && isPeriod(interval)) {
    const minutes = all.filter((series) => !isPeriod(series.interval));
    return splitRange({ ...context, interval: DAY }, minutes, wholePeriods(interval, range));
  }
  // Sessions that one finer series lacks may be in the others.
  if (all[0]?.off_grid) return all.slice(1).map((series) => ({ series, range }));
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
    Math.min(barsWithin(context, piece.series, piece.range), count * barsPerCell(context, piece.series)),
  );
  return costs.reduce((sum, cost) => sum + cost, 0);
}
