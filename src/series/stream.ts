// Bars of stored series as streams: with their instants, one series after the other, finished ones only.
import type { Bars } from '../bars/columns.ts';
import {
  concatTimed,
  sliceTimed,
  type TimedBars,
  timeMinutes,
  timeOffGrid,
  timePeriods,
} from '../bars/grid.ts';
import { MINUTE_MS } from '../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { isPeriod, type PeriodInterval, segmentScope } from '../calendar/period.ts';
import type { Segments } from '../calendar/session.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { volumeBasis } from '../contract/price-basis.ts';
import type { Reader } from '../store/store.ts';
import { CannotAdjust } from './cannot-adjust.ts';
import type { Completeness } from './completeness.ts';
import type { StreamRange } from './cursor.ts';
import { rowsOf } from './day-rows.ts';
import type { Series } from './series.ts';

/** Bars in steps: each step ascends in itself, the steps follow the direction. Null at the end. */
export type BarStream = { next(atLeast: number): Promise<TimedBars | null> };

/** What a stream is made for. `extended` is false where the bars are regular-hours data. */
export type StreamContext = {
  readonly reader: Reader;
  readonly calendar: Calendar;
  readonly interval: Interval;
  readonly extended: boolean;
  /** Whether the bars will be adjusted: a series of adjusted prices is an error, and adjusted volumes are marked (contract 9.4). */
  readonly rawOnly: boolean;
  /** Called for each series whose bars are used; null where nobody asks (contract 9.8). */
  readonly onUse: ((series: Series) => void) | null;
};

/** The segments around bars, of which there is at least one. */
export function segmentsAround({ calendar, interval, extended }: StreamContext, bars: Bars): Segments {
  const scope = segmentScope(interval, extended);
  return calendar.segments(bars.keyMs[0]!, bars.keyMs[bars.count - 1]! + 1, scope);
}

/** Bars of the asked interval with their instants and label dates. */
export function withTimes(context: StreamContext, bars: Bars, offGrid: boolean): TimedBars {
  const { calendar, interval, extended } = context;
  if (isPeriod(interval) || bars.count === 0)
    return timePeriods(bars, calendar, interval as PeriodInterval, extended);
  const minutes = intervalMinutes(interval)!;
  if (!offGrid) return timeMinutes(bars, segmentsAround(context, bars), minutes);
  const endMs = bars.keyMs[bars.count - 1]! + minutes * MINUTE_MS;
  return timeOffGrid(bars, calendar.segments(bars.keyMs[0]!, endMs, 'all'), minutes, extended);
}

/** The bars of a series at its own interval. */
export function storedStream(context: StreamContext, series: Series, range: StreamRange): BarStream {
  const source = rowsOf(context, series, range);
  return {
    async next(atLeast) {
      const bars = await source.next(atLeast);
      return bars === null ? null : withTimes(context, bars, series.off_grid);
    },
  };
}

/** One stream after the other. */
export function sequence(streams: readonly BarStream[]): BarStream {
  let at = 0;
  return {
    async next(atLeast) {
      while (at < streams.length) {
        const step = await streams[at]!.next(atLeast);
        if (step !== null) return step;
        at++;
      }
      return null;
    },
  };
}

/** Only bars that have closed by a moment (contract 3.9). */
export function finished(stream: BarStream, nowMs: number): BarStream {
  return {
    async next(atLeast) {
      for (;;) {
        const step = await stream.next(atLeast);
        if (step === null) return null;
        const count = countClosed(step, nowMs);
        if (count > 0) return sliceTimed(step, 0, count);
      }
    },
  };
}

/** Only bars derived from a series that are complete (contract 3.9). */
export function completed(
  { interval, extended }: StreamContext,
  stream: BarStream,
  series: Series,
  completeness: Completeness,
): BarStream {
  return {
    async next(atLeast) {
      for (;;) {
        const step = await stream.next(atLeast);
        if (step === null) return null;
        // Only where bars are unfinished, one that closed long ago may be incomplete.
        const count = series.unfinished.length > 0 ? 0 : countClosed(step, completeness.throughMs(series));
        const parts = count === 0 ? [] : [sliceTimed(step, 0, count)];
        for (let bar = count; bar < step.bars.count; bar++) {
          const [keyMs, closeMs] = [step.bars.keyMs[bar]!, step.closeMs[bar]!];
          if (await completeness.isComplete(series, { interval, extended, keyMs, closeMs }))
            parts.push(sliceTimed(step, bar, bar + 1));
        }
        if (parts.length === 1) return parts[0]!;
        if (parts.length > 1) return concatTimed(parts);
      }
    },
  };
}

/** How many bars of a step have closed by a moment: closes ascend with opens. */
function countClosed({ bars, closeMs }: TimedBars, ms: number): number {
  let { count } = bars;
  while (count > 0 && closeMs[count - 1]! > ms) count--;
  return count;
}

/** Bars whose volumes were all adjusted for splits before the import. */
export const withSplitVolumes = (timed: TimedBars): TimedBars => ({
  ...timed,
  splitVolume: new Uint8Array(timed.bars.count).fill(1),
});

/**
 * Bars of one series, marked where their volumes are adjusted for splits already.
 * @throws CannotAdjust where raw prices are needed and it has others
 */
export function withBasis({ rawOnly, onUse }: StreamContext, series: Series, timed: TimedBars): TimedBars {
  const { interval, prices } = series;
  onUse?.(series);
  if (!rawOnly) return timed;
  if (prices !== 'raw') throw new CannotAdjust({ kind: 'not-raw', interval, prices });
  return volumeBasis(series) === 'split' ? withSplitVolumes(timed) : timed;
}

/** The bars of a stream from one series, each step as `withBasis` gives it. */
export const checkBasis = (context: StreamContext, series: Series, stream: BarStream): BarStream => ({
  async next(atLeast) {
    const step = await stream.next(atLeast);
    return step === null ? null : withBasis(context, series, step);
  },
});
