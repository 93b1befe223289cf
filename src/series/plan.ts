// Which stored series serves which part of a range: stored bars win, the rest is derived from the coarsest
// series that fits (contract 3.8); and about how many stored bars that reads, which decides the lane.
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { type Interval, intervalMinutes, interval as intervalOf } from '../contract/interval.ts';
import type { Cell } from '../market/bars/grid.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import {
  isPeriod,
  type PeriodInterval,
  periodEnd,
  periodHours,
  periodStart,
  segmentScope,
} from '../market/calendar/period.ts';
import { type SegmentScope, usualOf } from '../market/calendar/session.ts';
import type { StreamRange } from './cursor.ts';
import { coarseness, type Series, type StoredInstrument } from './series.ts';
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

export const DAY = intervalOf('DAY');

/**
 * True if bars of `base` can be folded into bars of `asked` without one straddling two (contract 3.8, 3.10).
 */
export function divides(base: Pick<Series, 'interval' | 'isOffGrid'>, asked: Interval): boolean {
  if (base.isOffGrid || base.interval === asked) return false;
  const baseMinutes = intervalMinutes(base.interval);
  const askedMinutes = intervalMinutes(asked);
  if (askedMinutes !== null)
    return baseMinutes !== null && baseMinutes < askedMinutes && askedMinutes % baseMinutes === 0;
  return baseMinutes !== null || (base.interval === DAY && asked !== DAY);
}

/** The series that can serve an interval, best first: the stored one, then from coarse to fine. */
export function candidates(found: Pick<StoredInstrument, 'series'>, asked: Interval): Series[] {
  const exact = found.series.filter((series) => series.interval === asked);
  const bases = found.series.filter((series) => divides(series, asked));
  return [...exact, ...bases.sort((a, b) => coarseness(b) - coarseness(a))];
}

/** The stored series of an interval. */
export const storedSeries = ({ series }: StoredInstrument, asked: Interval): Series | undefined =>
  series.find(({ interval }) => interval === asked);

/** The most days in one bar of a period. */
export const daysIn = (interval: string): number => (interval === 'MON' ? 31 : interval === 'WEEK' ? 7 : 1);

/** A range of keys widened to whole days, weeks or months. */
export function wholePeriods(interval: PeriodInterval, range: StreamRange): StreamRange {
  const startMs = periodStart(interval, Math.ceil(range.fromMs / DAY_MS)) * DAY_MS;
  const endMs = periodEnd(interval, periodStart(interval, Math.ceil(range.toMs / DAY_MS) - 1)) * DAY_MS;
  return { ...range, fromMs: startMs, toMs: endMs };
}

/**
 * A bar of a key begins at most so long before the first stored bar in it, or after the last: a month, and
 * two days of a label.
 */
const SLACK_MS = 33 * DAY_MS;

/** A range without what lies far from everything stored. */
export const clamped = ({ series }: StoredInstrument, range: StreamRange): StreamRange => ({
  ...range,
  fromMs: Math.max(range.fromMs, Math.min(...series.map(({ first_ms }) => first_ms)) - SLACK_MS),
  toMs: Math.min(range.toMs, Math.max(...series.map(({ last_ms }) => last_ms)) + SLACK_MS),
});

/**
 * The extent of a series: its first and last cell of the asked interval, and the instants of its first and
 * last bar.
 */
export type Reach = {
  readonly first: Cell;
  readonly last: Cell;
  readonly fromMs: number;
  readonly toMs: number;
};

/**
 * The cell of `interval` around a base bar's key; an instant between the segments of the scope is a cell of
 * its own.
 */
function cellAround(
  calendar: Calendar,
  interval: Interval,
  base: Interval,
  keyMs: number,
  scope: SegmentScope,
): Cell {
  if (isPeriod(interval)) {
    const label = isPeriod(base) ? keyMs / DAY_MS : (calendar.labelAt(keyMs) ?? calendar.zone.dayAt(keyMs));
    const start = periodStart(interval, label);
    const { openMs, closeMs } = periodHours(calendar, interval, start, scope === 'all');
    return { keyMs: start * DAY_MS, openMs, closeMs };
  }
  const stepMs = intervalMinutes(interval)! * MINUTE_MS;
  const segments = calendar.segments(keyMs, keyMs + 1, scope);
  if (segments.openMs.length === 0) return { keyMs, openMs: keyMs, closeMs: keyMs };
  const anchor = segments.openMs[0]!;
  const openMs = anchor + Math.floor((keyMs - anchor) / stepMs) * stepMs;
  return { keyMs: openMs, openMs, closeMs: Math.min(openMs + stepMs, segments.closeMs[0]!) };
}

/** Gives the extent of a series at an interval up to DAY. */
export function reachOf(context: StreamContext, series: Series): Reach {
  const { calendar, interval, extended } = context;
  const [firstMs, lastMs] = [series.first_ms, series.last_ms].map((keyMs) =>
    series.interval === DAY ? calendar.labelOfRow(keyMs / DAY_MS) * DAY_MS : keyMs,
  ) as [number, number];
  if (series.interval === interval) {
    const cellOf = (keyMs: number): Cell => ({ keyMs, openMs: keyMs, closeMs: keyMs });
    return { first: cellOf(firstMs), last: cellOf(lastMs), fromMs: firstMs, toMs: lastMs };
  }
  const around = (asked: Interval, keyMs: number): Cell =>
    cellAround(calendar, asked, series.interval, keyMs, segmentScope(interval, extended));
  const [first, last] = [around(interval, firstMs), around(interval, lastMs)];
  let fromMs = around(series.interval, firstMs).openMs;
  let toMs = around(series.interval, lastMs).closeMs;
  if (isPeriod(interval)) {
    // Bars outside the asked hours count only up to the hours of their session.
    fromMs = Math.max(fromMs, first.openMs);
    toMs = Math.min(toMs, last.closeMs);
  }
  return { first, last, fromMs, toMs };
}

/**
 * A range cut in three: before the first cell of a series, up to its last one, and after that. Each may be
 * empty.
 */
export function cutAtSpan({ first, last }: Reach, range: StreamRange) {
  const fromMs = Math.min(Math.max(first.keyMs, range.fromMs), range.toMs);
  const toMs = Math.max(Math.min(last.keyMs + 1, range.toMs), fromMs);
  return {
    before: { ...range, toMs: fromMs },
    inside: { ...range, fromMs, toMs },
    after: { ...range, fromMs: toMs },
  };
}

/** A part of a range and the series that is first asked for it. */
type Piece = { readonly series: Series; readonly range: StreamRange };

/** Splits a range among candidates by their spans: the best one first, the next ones before and after it. */
export function splitRange(context: StreamContext, best: readonly Series[], range: StreamRange): Piece[] {
  const [series, ...finer] = best;
  if (series === undefined || range.fromMs >= range.toMs) return [];
  if (finer.length === 0) return [{ series, range }];
  const { before, inside, after } = cutAtSpan(reachOf(context, series), range);
  return [
    ...splitRange(context, finer, before),
    ...(inside.fromMs < inside.toMs ? [{ series, range: inside }] : []),
    ...splitRange(context, finer, after),
  ];
}
