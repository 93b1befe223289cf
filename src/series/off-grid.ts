// A series off the session grid at its own interval: sessions with finer bars are derived from those, the others are as imported (contract 3.10).
import type { TimedBars } from '../bars/grid.ts';
import { MINUTE_MS } from '../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { hoursOf } from '../calendar/period.ts';
import { intervalMinutes } from '../contract/interval.ts';
import type { StreamRange } from './cursor.ts';
import { derivedFrom, within } from './derived.ts';
import { overlay } from './overlay.ts';
import { splitRange } from './plan.ts';
import type { Series } from './series.ts';
import {
  type BarStream,
  checkBasis,
  requireBasis,
  type StreamContext,
  sequence,
  storedStream,
  withTimes,
} from './stream.ts';

/** A range of opens widened to the whole of the sessions that bars which open in it belong to. */
function wholeSessions(calendar: Calendar, stepMs: number, range: StreamRange): StreamRange {
  const lastMs = range.toMs - 1;
  const firstDay = calendar.labelAt(range.fromMs);
  // A bar may open before the session that it belongs to.
  const lastDay = calendar.labelAt(lastMs) ?? calendar.segments(lastMs, lastMs + stepMs, true).day[0];
  const [first, last] = [firstDay, lastDay].map((day) => (day == null ? null : calendar.sessionOn(day)));
  return {
    ...range,
    fromMs: first == null ? range.fromMs : hoursOf(first, true).openMs,
    toMs: last == null ? range.toMs : hoursOf(last, true).closeMs,
  };
}

/**
 * The bars of an interval whose stored series is off the grid. Any bar of a finer series, also one of extended hours or an
 * unfinished one, makes its session derived: no session mixes both, whatever part of it is asked for.
 */
export function offGridStream(
  context: StreamContext,
  offGrid: Series,
  finer: readonly Series[],
  range: StreamRange,
  nowMs: number,
): BarStream {
  const { calendar, interval } = context;
  const { descending } = range;
  const whole = { ...context, extended: true };
  const sessions = wholeSessions(calendar, intervalMinutes(interval)! * MINUTE_MS, range);
  const pieces = splitRange(whole, finer, sessions);
  const derived = sequence(
    (descending ? pieces.toReversed() : pieces).map(({ series, range: part }) =>
      checkBasis(context, series, derivedFrom(whole, series, part)),
    ),
  );
  const limitOf = (keyMs: number): number => {
    const piece = pieces.find(({ range: { fromMs, toMs } }) => fromMs <= keyMs && keyMs < toMs)!;
    return Math.min(nowMs, piece.series.coveredMs);
  };
  const upper = {
    stream: derived,
    limitOf,
    choose: ({ bars }: TimedBars) => withTimes(context, bars, false),
  };
  const imported = {
    stream: storedStream(context, offGrid, range),
    limitOf: () => nowMs,
    choose: (session: TimedBars) => {
      requireBasis(context, offGrid);
      return session;
    },
  };
  const stream = overlay(upper, imported, descending);
  return {
    async next(atLeast) {
      for (;;) {
        const step = await stream.next(atLeast);
        if (step === null) return null;
        const held = within(step, range);
        if (held.bars.count > 0) return held;
      }
    },
  };
}
