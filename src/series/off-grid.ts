// A series off the session grid at its own interval: sessions with finer bars are derived from those, the others are as imported (contract
// 3.10).
import { concatTimed, sliceTimed, type TimedBars } from '../bars/grid.ts';
import { MINUTE_MS } from '../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { hoursOf } from '../calendar/period.ts';
import { intervalMinutes } from '../contract/interval.ts';
import type { Moment } from './completeness.ts';
import type { StreamRange } from './cursor.ts';
import { derivedFrom, within } from './derived.ts';
import { type CheckedStream, overlay } from './overlay.ts';
import { splitRange } from './plan.ts';
import type { Series } from './series.ts';
import {
  type BarStream,
  checkBasis,
  type StreamContext,
  sequence,
  storedStream,
  withBasis,
  withTimes,
} from './stream.ts';

/** A range of opens widened to the whole of the sessions that bars which open in it belong to. */
function wholeSessions(calendar: Calendar, stepMs: number, range: StreamRange): StreamRange {
  const lastMs = range.toMs - 1;
  const firstDay = calendar.labelAt(range.fromMs);
  // A bar may open before the session that it belongs to.
  const lastDay = calendar.labelAt(lastMs) ?? calendar.segments(lastMs, lastMs + stepMs, 'all').day[0];
  const [first, last] = [firstDay, lastDay].map((day) => (day == null ? null : calendar.sessionOn(day)));
  return {
    ...range,
    fromMs: first == null ? range.fromMs : hoursOf(first, true).openMs,
    toMs: last == null ? range.toMs : hoursOf(last, true).closeMs,
  };
}

/** The bars of a session that are in segments which the request is about. */
function inScope(context: StreamContext, session: TimedBars): TimedBars {
  const kept = withTimes(context, session.bars, false);
  if (kept.bars.count === session.bars.count) return session;
  const opens = new Set(kept.openMs.subarray(0, kept.bars.count));
  const rows = Array.from(session.openMs.subarray(0, session.bars.count), (openMs, row) =>
    opens.has(openMs) ? [sliceTimed(session, row, row + 1)] : [],
  );
  return concatTimed(rows.flat());
}

/**
 * The bars of an interval whose stored series is off the grid. Any bar of a finer series, also one of extended hours or an
 * incomplete one, makes its session derived: no session mixes both, whatever part of it is asked for.
 */
export function offGridStream(
  context: StreamContext,
  offGrid: Series,
  finer: readonly Series[],
  range: StreamRange,
  { nowMs, completeness }: Moment,
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
  const seriesOf = (keyMs: number): Series =>
    pieces.find(({ range: { fromMs, toMs } }) => fromMs <= keyMs && keyMs < toMs)!.series;
  const fromFiner = (stream: BarStream, seriesAt: (keyMs: number) => Series): CheckedStream => ({
    stream,
    isComplete: (keyMs, closeMs) =>
      completeness.isComplete(seriesAt(keyMs), { interval, extended: true, keyMs, closeMs }),
    choose: (session) => inScope(context, session),
  });
  const imported: CheckedStream = {
    stream: storedStream(context, offGrid, range),
    isComplete: async (_, closeMs) => closeMs <= nowMs,
    choose: (session) => withBasis(context, offGrid, session),
  };
  // A session that the coarsest of the finer series lacks may be in the others.
  const below = finer.slice(1).reduceRight<CheckedStream>((lower, series) => {
    const bars = checkBasis(context, series, derivedFrom(whole, series, sessions));
    const stream = overlay(
      fromFiner(bars, () => series),
      lower,
      descending,
    );
    return { stream, isComplete: async () => true };
  }, imported);
  const stream = overlay(fromFiner(derived, seriesOf), below, descending);
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
