// Which stored series serves which part of a range: stored bars win, the rest is derived from the coarsest series that fits (contract 3.8).
import { type Cell, cellAround } from '../bars/grid.ts';
import { DAY_MS } from '../base/instant.ts';
import { isPeriod, segmentScope } from '../calendar/period.ts';
import { type Interval, intervalMinutes, interval as intervalOf } from '../contract/interval.ts';
import type { StreamRange } from './cursor.ts';
import { coarseness, type Series, type StoredInstrument } from './series.ts';
import type { StreamContext } from './stream.ts';

export const DAY = intervalOf('DAY');

/** Whether bars of `base` can be folded into bars of `asked` without one straddling two (contract 3.8, 3.10). */
export function divides(base: Pick<Series, 'interval' | 'off_grid'>, asked: Interval): boolean {
  if (base.off_grid || base.interval === asked) return false;
  const baseMinutes = intervalMinutes(base.interval);
  const askedMinutes = intervalMinutes(asked);
  if (askedMinutes !== null)
    return baseMinutes !== null && baseMinutes < askedMinutes && askedMinutes % baseMinutes === 0;
  return baseMinutes !== null || (base.interval === DAY && asked !== DAY);
}

/** The series that can serve an interval, best first: the stored one, then from coarse to fine. */
export function candidates(found: StoredInstrument, asked: Interval): Series[] {
  const exact = found.series.filter((series) => series.interval === asked);
  const bases = found.series.filter((series) => divides(series, asked));
  return [...exact, ...bases.sort((a, b) => coarseness(b) - coarseness(a))];
}

/** How far a series reaches: its first and last cell of the asked interval, and the instants of its first and last bar. */
export type Reach = {
  readonly first: Cell;
  readonly last: Cell;
  readonly fromMs: number;
  readonly toMs: number;
};

/** How far a series reaches at the asked interval. */
export function reachOf(context: StreamContext, series: Series): Reach {
  const { calendar, interval, extended } = context;
  const [firstMs, lastMs] = [series.first_ms, series.last_ms].map((keyMs) =>
    series.interval === DAY ? calendar.labelOfRow(keyMs / DAY_MS) * DAY_MS : keyMs,
  ) as [number, number];
  if (series.interval === interval) {
    const cellOf = (keyMs: number): Cell => ({ keyMs, openMs: keyMs, closeMs: keyMs });
    // A last row that has the evening of its session alone ends before it: a finer series may have the whole of it.
    return { first: cellOf(firstMs), last: cellOf(lastMs), fromMs: firstMs, toMs: series.last_ms };
  }
  const around = (asked: Interval, keyMs: number): Cell =>
    cellAround(calendar, asked, series.interval, keyMs, segmentScope(interval, extended));
  // The key of a DAY bar is a label date: its hours come from the calendar.
  let fromMs = around(series.interval, firstMs).openMs;
  let toMs = around(series.interval, lastMs).closeMs;
  if (isPeriod(interval)) {
    // Bars outside the asked hours count only up to the hours of their session.
    fromMs = Math.max(fromMs, around(DAY, firstMs).openMs);
    toMs = Math.min(toMs, around(DAY, lastMs).closeMs);
  }
  return { first: around(interval, firstMs), last: around(interval, lastMs), fromMs, toMs };
}

const covers = ({ first, last }: Reach, { keyMs }: Cell): boolean =>
  first.keyMs <= keyMs && keyMs <= last.keyMs;

/** A part of a range and the series that serves it. */
export type Piece = { readonly series: Series; readonly range: StreamRange };

/**
 * Splits a range among candidates. The best one serves the cells from its first to its last bar, holes included; the next
 * ones serve the range before and after. Where a finer series has more of the first or last cell, it serves the whole cell:
 * one bar never mixes series.
 */
export function splitRange(context: StreamContext, best: readonly Series[], range: StreamRange): Piece[] {
  const [series, ...finer] = best;
  if (series === undefined || range.fromMs >= range.toMs) return [];
  if (finer.length === 0) return [{ series, range }];
  const reach = reachOf(context, series);
  const finerReaches = finer.map((candidate) => reachOf(context, candidate));
  const firstYields =
    reach.fromMs > reach.first.openMs &&
    finerReaches.some((other) => covers(other, reach.first) && other.fromMs < reach.fromMs);
  const lastYields =
    reach.toMs < reach.last.closeMs &&
    finerReaches.some((other) => covers(other, reach.last) && other.toMs > reach.toMs);
  const from = firstYields ? reach.first.keyMs + 1 : reach.first.keyMs;
  const to = lastYields ? reach.last.keyMs : reach.last.keyMs + 1;
  const fromMs = Math.min(Math.max(from, range.fromMs), range.toMs);
  const toMs = Math.max(Math.min(to, range.toMs), fromMs);
  const middle = fromMs < toMs ? [{ series, range: { ...range, fromMs, toMs } }] : [];
  return [
    ...splitRange(context, finer, { ...range, toMs: fromMs }),
    ...middle,
    ...splitRange(context, finer, { ...range, fromMs: toMs }),
  ];
}
