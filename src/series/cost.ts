// About how many stored bars a request for derived bars reads: it decides in which lane the request is
// answered.
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { intervalMinutes } from '../contract/interval.ts';
import { isPeriod, segmentScope } from '../market/calendar/period.ts';
import { usualOf } from '../market/calendar/trading-hours.ts';
import type { StreamRange } from './cursor.ts';
import { candidates, DAY, daysIn, type Piece, splitRange, storedSeries, wholePeriods } from './plan.ts';
import type { Series, StoredInstrument } from './series.ts';
import type { StreamContext } from './stream.ts';

/**
 * At most about how many bars of a series lie in a range: as many as its sessions there have room for, all
 * hours included.
 */
function barsWithin({ calendar }: StreamContext, series: Series, { fromMs, toMs }: StreamRange): number {
  const heldMs = Math.min(toMs, series.last_ms + MINUTE_MS) - Math.max(fromMs, series.first_ms);
  const sessions = Math.max(0, heldMs / DAY_MS) * usualOf(calendar.market).sessionShare + 1;
  const minutes = usualOf(calendar.market).minutes.all;
  return Math.min(series.bar_count, (sessions * minutes) / (intervalMinutes(series.interval) ?? minutes));
}

/**
 * At most about how many bars of a series are read for one bar of the asked interval, those outside the asked
 * hours included.
 */
function barsPerCell({ calendar, interval, extended }: StreamContext, series: Series): number {
  const minutes = usualOf(calendar.market).minutes.all;
  const asked = intervalMinutes(interval);
  const share =
    asked === null ? 1 : minutes / usualOf(calendar.market).minutes[segmentScope(interval, extended)];
  const cellMinutes =
    asked ?? Math.max(1, usualOf(calendar.market).sessionShare * daysIn(interval)) * minutes;
  return (cellMinutes * share) / (intervalMinutes(series.interval) ?? minutes);
}

/** The parts of a range that are derived, from which series, and at most how many bars they make. */
type DerivedPiece = Piece & { readonly barsMax: number };

/**
 * The sessions that a series lacks at least: those are in finer series. Of a series of DAY it is about their
 * number.
 */
function sessionsLacking({ calendar }: StreamContext, { first_ms, last_ms, bar_count }: Series): number {
  const [from, to] = [first_ms, last_ms].map((keyMs) => Math.floor(keyMs / DAY_MS)) as [number, number];
  const days = to - from + 1;
  if (days * usualOf(calendar.market).sessionShare <= bar_count) return 0;
  return calendar.countSessions(from, to + 1) - bar_count;
}

/** Pieces of an interval up to DAY. */
function dayPieces(context: StreamContext, stored: StoredInstrument, range: StreamRange): DerivedPiece[] {
  const { interval, extended } = context;
  const all = candidates(stored, interval);
  const any = Number.POSITIVE_INFINITY;
  if (extended && interval === DAY) {
    const minutes = all.filter((series) => series.interval !== DAY);
    return splitRange(context, minutes, range).map((piece) => ({ ...piece, barsMax: any }));
  }
  // A series of minutes, off the grid or not, may have nothing of sessions that are in finer ones.
  if (all[0]?.isOffGrid) return all.slice(1).map((series) => ({ series, range, barsMax: any }));
  return splitRange(context, all, range).flatMap((piece) => {
    const finer = all[all.indexOf(piece.series) + 1];
    const lacking = finer === undefined ? 0 : sessionsLacking(context, piece.series);
    return [
      ...(piece.series.interval === interval ? [] : [{ ...piece, barsMax: any }]),
      ...(lacking > 0 ? [{ series: finer!, range: piece.range, barsMax: lacking }] : []),
    ];
  });
}

/** Pieces of an interval, those of WEEK and MON by the days that they are made of. */
function derivedPieces(context: StreamContext, stored: StoredInstrument, range: StreamRange): DerivedPiece[] {
  const { interval, extended } = context;
  if (!isPeriod(interval) || interval === DAY) return dayPieces(context, stored, range);
  const imported = storedSeries(stored, interval);
  const days = { ...context, interval: DAY };
  const derived = imported === undefined || extended ? [range] : outside(imported, range);
  return derived.flatMap((some) => {
    const keys = wholePeriods(interval, some);
    const rows = stored.series.filter((series) => series.interval === DAY);
    return [
      ...dayPieces(days, stored, keys),
      ...rows.map((series) => ({ series, range: keys, barsMax: Number.POSITIVE_INFINITY })),
    ];
  });
}

/** The parts of a range before and after a series. */
const outside = ({ first_ms, last_ms }: Series, range: StreamRange): StreamRange[] =>
  [
    { ...range, toMs: Math.min(range.toMs, first_ms) },
    { ...range, fromMs: Math.max(range.fromMs, last_ms + 1) },
  ].filter(({ fromMs, toMs }) => fromMs < toMs);

/**
 * About how many bars of finer series are read to make up to `count` bars of a range; 0 where they are
 * stored.
 */
export function baseBarsFor(
  context: StreamContext,
  stored: StoredInstrument,
  range: StreamRange,
  count: number,
): number {
  const costs = derivedPieces(context, stored, range).map(({ series, range: part, barsMax }) =>
    Math.min(barsWithin(context, series, part), Math.min(count, barsMax) * barsPerCell(context, series)),
  );
  return costs.reduce((sum, cost) => sum + cost, 0);
}
