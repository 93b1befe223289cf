// Bars derived from those of a finer interval, cell by cell (contract 3.8).
import { type Bars, concatBars, emptyBars, lowerBound, sliceBars } from '../bars/columns.ts';
import {
  type CellBars,
  dayCells,
  minuteCells,
  periodCells,
  sliceTimed,
  type TimedBars,
} from '../bars/grid.ts';
import { resample } from '../bars/resample.ts';
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { isPeriod, type PeriodInterval, periodEnd, periodStart } from '../calendar/period.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { limits } from '../contract/limits.ts';
import { type BarSource, type StreamRange, servedBars } from './cursor.ts';
import type { Series } from './series.ts';
import { type BarStream, type StreamContext, segmentsAround, withTimes } from './stream.ts';

/** The bars whose keys are in the range. */
function within(timed: TimedBars, range: StreamRange): TimedBars {
  const from = lowerBound(timed.bars, range.fromMs);
  const to = lowerBound(timed.bars, range.toMs);
  return from === 0 && to === timed.bars.count ? timed : sliceTimed(timed, from, to);
}

/** A range of keys widened to whole days, weeks or months. */
export function wholePeriods(interval: PeriodInterval, range: StreamRange): StreamRange {
  const startMs = periodStart(interval, Math.ceil(range.fromMs / DAY_MS)) * DAY_MS;
  const endMs = periodEnd(interval, periodStart(interval, Math.ceil(range.toMs / DAY_MS) - 1)) * DAY_MS;
  return { ...range, fromMs: startMs, toMs: endMs };
}

/** The keys of the base bars of a range of cells. */
function baseRange(context: StreamContext, base: Interval, range: StreamRange): StreamRange {
  const { interval } = context;
  if (!isPeriod(interval)) return { ...range, toMs: range.toMs + intervalMinutes(interval)! * MINUTE_MS };
  const { fromMs, toMs } = wholePeriods(interval, range);
  // A session may be up to two UTC days away from its label date.
  const slack = isPeriod(base) ? 0 : 2 * DAY_MS;
  return { ...range, fromMs: fromMs - slack, toMs: toMs + slack };
}

/** An upper bound of the base bars in one bar of the asked interval. */
function basePerBar(interval: Interval, base: Interval): number {
  const baseMinutes = intervalMinutes(base);
  const days = interval === 'MON' ? 31 : interval === 'WEEK' ? 7 : 1;
  const askedMinutes = intervalMinutes(interval) ?? days * 1440;
  return baseMinutes === null ? days : Math.ceil(askedMinutes / baseMinutes);
}

/** The bars of a range of the asked interval, derived from those of one series. */
export const derivedFrom = (context: StreamContext, series: Series, range: StreamRange): BarStream =>
  derivedStream(
    context,
    servedBars(context.reader, series, baseRange(context, series.interval, range)),
    series.interval,
    range,
  );

function cellsOf(context: StreamContext, base: Interval, bars: Bars): CellBars {
  const { interval } = context;
  if (isPeriod(interval) && isPeriod(base)) return dayCells(bars, interval);
  const segments = segmentsAround(context, bars);
  if (isPeriod(interval)) return periodCells(bars, segments, interval);
  return minuteCells(bars, segments, intervalMinutes(interval)!, intervalMinutes(base)!);
}

/** Separates whole cells from the last one of the step, which the next step may still add to. */
function splitCells({ bars, cellMs }: CellBars, descending: boolean): { whole: CellBars; rest: Bars } {
  const { count } = bars;
  let at = descending ? 0 : count;
  const last = cellMs[descending ? 0 : count - 1];
  if (descending) while (at < count && cellMs[at] === last) at++;
  else while (at > 0 && cellMs[at - 1] === last) at--;
  const [before, after] = [sliceBars(bars, 0, at), sliceBars(bars, at, count)];
  if (!descending) return { whole: { bars: before, cellMs }, rest: after };
  return { whole: { bars: after, cellMs: cellMs.subarray(at) }, rest: before };
}

/**
 * Bars of a coarser interval made from the bars of `source`, cell by cell; a step never ends inside a cell. `complete` adds base
 * bars to those of whole cells before they become one bar.
 */
export function derivedStream(
  context: StreamContext,
  source: BarSource,
  base: Interval,
  range: StreamRange,
  complete?: (bars: Bars) => Promise<Bars>,
): BarStream {
  const perBar = basePerBar(context.interval, base);
  let carried: Bars = emptyBars();
  let ended = false;
  return {
    async next(atLeast) {
      while (!ended) {
        const step = await source.next(Math.min((atLeast + 1) * perBar, limits.barsPerStepMax));
        ended = step === null;
        const bars =
          step === null ? carried : concatBars(range.descending ? [step, carried] : [carried, step]);
        if (bars.count === 0) continue;
        const cells = cellsOf(context, base, bars);
        const { whole, rest } = ended
          ? { whole: cells, rest: emptyBars() }
          : splitCells(cells, range.descending);
        carried = rest;
        const filled = complete === undefined ? whole : cellsOf(context, base, await complete(whole.bars));
        const timed = within(withTimes(context, resample(filled), false), range);
        if (timed.bars.count > 0) return timed;
      }
      return null;
    },
  };
}
