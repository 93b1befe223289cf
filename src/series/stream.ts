// Bars of stored series as streams: with their instants, one series after the other, finished ones only.
import type { Bars } from '../bars/columns.ts';
import { sliceTimed, type TimedBars, timeMinutes, timePeriods } from '../bars/grid.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { isPeriod, type PeriodInterval, segmentScope } from '../calendar/period.ts';
import type { Segments } from '../calendar/session.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import type { Reader } from '../store/store.ts';
import { CannotAdjust } from './cannot-adjust.ts';
import { SeriesCursor, type StreamRange } from './cursor.ts';
import type { Series } from './series.ts';

/** Bars in steps: each step ascends in itself, the steps follow the direction. Null at the end. */
export type BarStream = { next(atLeast: number): Promise<TimedBars | null> };

/** What a stream is made for. `extended` is false where the bars are regular-hours data. */
export type StreamContext = {
  readonly reader: Reader;
  readonly calendar: Calendar;
  readonly interval: Interval;
  readonly extended: boolean;
  /** Whether a series of adjusted prices is an error (contract 9.4). */
  readonly rawOnly: boolean;
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
  return timeMinutes(bars, segmentsAround(context, bars), intervalMinutes(interval)!, offGrid);
}

/** The bars of a series at its own interval. */
export function storedStream(context: StreamContext, series: Series, range: StreamRange): BarStream {
  const cursor = new SeriesCursor(context.reader, series, range);
  return {
    async next(atLeast) {
      const bars = await cursor.next(atLeast);
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

/** Only bars that are finished at a moment: `close_datetime <= limitMs` (contract 3.9). */
export function finished(stream: BarStream, limitMs: number): BarStream {
  return {
    async next(atLeast) {
      for (;;) {
        const step = await stream.next(atLeast);
        if (step === null) return null;
        // Closes ascend with opens, so unfinished bars are at the end.
        let count = step.bars.count;
        while (count > 0 && step.closeMs[count - 1]! > limitMs) count--;
        if (count > 0) return count === step.bars.count ? step : sliceTimed(step, 0, count);
      }
    },
  };
}

/** The bars of a stream from one series. @throws CannotAdjust at the first bar where raw prices are needed and it has others */
export function checkBasis(context: StreamContext, series: Series, stream: BarStream): BarStream {
  const { interval, prices } = series;
  if (!context.rawOnly || prices === 'raw') return stream;
  return {
    async next(atLeast) {
      if ((await stream.next(atLeast)) === null) return null;
      throw new CannotAdjust({ kind: 'not-raw', interval, prices });
    },
  };
}
