// Which stored series serves which part of a range: stored bars win, the rest is derived from the coarsest
// series that fits (contract 3.8).

import { DAY_MS } from '../base/instant.ts';
import { type Interval, intervalMinutes, interval as intervalOf } from '../contract/interval.ts';
import { type Cell, cellAround } from '../market/bars/grid.ts';
import {
  isPeriod,
  type PeriodInterval,
  periodEnd,
  periodStart,
  segmentScope,
} from '../market/calendar/period.ts';
import type { StreamRange } from './cursor.ts';
import { coarseness, type Series, type StoredInstrument } from './series.ts';
import type { StreamContext } from './stream.ts';

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
export type Piece = { readonly series: Series; readonly range: StreamRange };

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
