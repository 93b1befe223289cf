// About how many stored bars a request for derived bars reads: it decides in which lane the request is answered.
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { isPeriod, segmentScope } from '../calendar/period.ts';
import { clockMinutes, type SegmentScope, scopeKinds } from '../calendar/session.ts';
import { intervalMinutes } from '../contract/interval.ts';
import type { StreamRange } from './cursor.ts';
import { daysIn, wholePeriods } from './derived.ts';
import { candidates, DAY, type Piece, splitRange } from './plan.ts';
import type { Series, StoredInstrument } from './series.ts';
import type { StreamContext } from './stream.ts';

const DAYS_OF_A_WEEK = 7;

/** The minutes of the longest usual session of a market in a scope. */
const sessionMinutes = ({ market }: Calendar, scope: SegmentScope): number =>
  Math.max(
    ...market.hours.map(({ segments }) =>
      segments
        .filter(([kind]) => scopeKinds[scope].includes(kind))
        .reduce((sum, [, open, close]) => sum + clockMinutes(close) - clockMinutes(open), 0),
    ),
  );

/** The share of days that have a session. */
const sessionShare = ({ market }: Calendar): number =>
  Math.max(...market.hours.map(({ weekdays }) => weekdays.length)) / DAYS_OF_A_WEEK;

/** At most about how many bars of a series lie in a range: as many as its sessions there have room for, all hours included. */
function barsWithin({ calendar }: StreamContext, series: Series, { fromMs, toMs }: StreamRange): number {
  const heldMs = Math.min(toMs, series.last_ms + MINUTE_MS) - Math.max(fromMs, series.first_ms);
  const sessions = Math.max(0, heldMs / DAY_MS) * sessionShare(calendar) + 1;
  const minutes = sessionMinutes(calendar, 'all');
  return Math.min(series.bar_count, (sessions * minutes) / (intervalMinutes(series.interval) ?? minutes));
}

/** At most about how many bars of a series are read for one bar of the asked interval, those outside the asked hours included. */
function barsPerCell({ calendar, interval, extended }: StreamContext, series: Series): number {
  const minutes = sessionMinutes(calendar, 'all');
  const asked = intervalMinutes(interval);
  const share = asked === null ? 1 : minutes / sessionMinutes(calendar, segmentScope(interval, extended));
  const cellMinutes = asked ?? Math.max(1, sessionShare(calendar) * daysIn(interval)) * minutes;
  return (cellMinutes * share) / (intervalMinutes(series.interval) ?? minutes);
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
