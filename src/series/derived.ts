// Bars derived from those of a finer interval, cell by cell (contract 3.8).
import { appendBars, type Bars, emptyBars, lowerBound, sliceBars } from '../bars/bars.ts';
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
import { type BarSource, SeriesCursor, type StreamRange } from './cursor.ts';
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

/** The keys between which the base bars of a range of asked cells are. */
function baseRange(context: StreamContext, base: Interval, range: StreamRange): StreamRange {
  const { interval } = context;
  if (!isPeriod(interval)) {
    const stepMs = intervalMinutes(interval)! * MINUTE_MS;
    return { ...range, toMs: range.toMs + stepMs };
  }
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

/** The stored bars that a range of the asked interval is derived from. */
export function baseSource(context: StreamContext, series: Series, range: StreamRange): BarSource {
  return new SeriesCursor(context.reader, series, baseRange(context, series.interval, range));
}

function cellsOf(context: StreamContext, base: Interval, bars: Bars): CellBars {
  const { interval } = context;
  if (!isPeriod(interval))
    return minuteCells(
      bars,
      segmentsAround(context, bars),
      intervalMinutes(interval)!,
      intervalMinutes(base)!,
    );
  return isPeriod(base)
    ? dayCells(bars, interval)
    : periodCells(bars, segmentsAround(context, bars), interval);
}

/** Separates whole cells from the last one of the step, which the next step may still add to. */
function splitCells({ bars, cellMs }: CellBars, descending: boolean): { whole: CellBars; rest: Bars } {
  let at = descending ? 0 : bars.count - 1;
  const far = cellMs[at];
  if (descending) {
    while (at < bars.count && cellMs[at] === far) at++;
    return {
      whole: { bars: sliceBars(bars, at, bars.count), cellMs: cellMs.subarray(at) },
      rest: sliceBars(bars, 0, at),
    };
  }
  while (at >= 0 && cellMs[at] === far) at--;
  return { whole: { bars: sliceBars(bars, 0, at + 1), cellMs }, rest: sliceBars(bars, at + 1, bars.count) };
}

/** What a derived stream is made of. */
export type Derivation = {
  readonly source: BarSource;
  readonly base: Interval;
  readonly range: StreamRange;
  /** Adds base bars to those of whole cells before they become one bar. */
  readonly complete?: (bars: Bars) => Promise<Bars>;
};

/** Bars of a coarser interval made from base bars, cell by cell; a step never ends inside a cell. */
export function derivedStream(
  context: StreamContext,
  { source, base, range, complete }: Derivation,
): BarStream {
  const perBar = basePerBar(context.interval, base);
  let carried: Bars = emptyBars();
  let ended = false;
  return {
    async next(atLeast) {
      while (!ended) {
        const step = await source.next(Math.min((atLeast + 1) * perBar, limits.barsPerStepMax));
        ended = step === null;
        const bars = joinStep(carried, step, range.descending);
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

function joinStep(carried: Bars, step: Bars | null, descending: boolean): Bars {
  if (step === null) return carried;
  if (carried.count === 0) return step;
  const joined = emptyBars(carried.count + step.count);
  appendBars(joined, descending ? step : carried);
  appendBars(joined, descending ? carried : step);
  return joined;
}
