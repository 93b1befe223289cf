// The bars of an instrument at any interval: stored, derived, or both over a range (contract 3.6, 3.8, 3.9);
// and why there are none (contract 9.18).

import { DAY_MS, formatDay, MINUTE_MS } from '../base/instant.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { concatTimed, sliceTimed, type TimedBars } from '../market/bars/grid.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { hoursOf, isPeriod, periodHours, periodStart, segmentScope } from '../market/calendar/period.ts';
import { bestParts, dayParts, filtered, keysOf, partsOf, sessionGaps } from './best-series.ts';
import { Completeness } from './completeness.ts';
import { mapped, type StreamRange } from './cursor.ts';
import { within } from './derived.ts';
import { filled } from './filled.ts';
import { periodStream } from './periods.ts';
import { candidates, clamped, DAY, wholePeriods } from './plan.ts';
import { coarseness, type Series, type StoredInstrument } from './series.ts';
import { type BarStream, type PartStream, type StreamContext, servedParts, withTimes } from './stream.ts';

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
 * The bars of an interval whose stored series is off the grid. Any bar of a finer series, also one of
 * extended hours or an incomplete one, makes its session derived: no session mixes both, whatever part of it
 * is asked for.
 */
function offGridParts(
  context: StreamContext,
  offGrid: Series,
  finer: readonly Series[],
  range: StreamRange,
): PartStream {
  const stepMs = intervalMinutes(context.interval)! * MINUTE_MS;
  const whole = { ...context, extended: true };
  const sessions = wholeSessions(context.calendar, stepMs, range);
  const parts = filled(
    bestParts(whole, finer, sessions),
    sessionGaps(whole, sessions, (from, to) => {
      const keys = keysOf(whole, from, to, sessions);
      // A bar may open before the session that it belongs to.
      const imported = partsOf(context, offGrid, { ...keys, fromMs: keys.fromMs - stepMs });
      return filtered(imported, (_, day) => from <= day && day < to);
    }),
  );
  return mapped(parts, ({ series, timed }) => {
    const held = within(series === offGrid ? timed : inScope(context, timed), range);
    return held.bars.count === 0 ? null : { series, timed: held };
  });
}

/** The bars of an interval up to DAY, each from the series that serves it, finished or not. */
export function barParts(context: StreamContext, stored: StoredInstrument, range: StreamRange): PartStream {
  const held = clamped(stored, range);
  if (context.interval === DAY) return dayParts(context, stored.series, held);
  const best = candidates(stored, context.interval);
  const [series, ...finer] = best;
  return series?.isOffGrid ? offGridParts(context, series, finer, held) : bestParts(context, best, held);
}

/**
 * The bars of an instrument at an interval, finished at `nowMs`, from one end of a range of keys to the
 * other.
 */
export function barStream(
  context: StreamContext,
  stored: StoredInstrument,
  range: StreamRange,
  nowMs: number,
): BarStream {
  const moment = { nowMs, completeness: new Completeness(context.reader, stored, nowMs) };
  if (isPeriod(context.interval) && context.interval !== DAY)
    return periodStream(context, stored, range, moment);
  return mapped(servedParts(context, barParts(context, stored, range), moment), ({ timed }) => timed);
}

/** Says whether a bar, by its open and its label date, is in a range; null where its key says it. */
type Holds = ((openMs: number, day: number) => boolean) | null;

function isAnyHeld({ bars, openMs, day }: TimedBars, holds: Holds): boolean {
  if (holds === null) return bars.count > 0;
  for (let row = 0; row < bars.count; row++) if (holds(openMs[row]!, day[row]!)) return true;
  return false;
}

/** True if any bar of a range is stored or can be derived, finished or not. */
async function hasAny(parts: PartStream, holds: Holds): Promise<boolean> {
  for (let part = await parts.next(1); part !== null; part = await parts.next(1))
    if (isAnyHeld(part.timed, holds)) return true;
  return false;
}

/** Each series with the dates of its first and its last bar. */
function spansOf({ calendar }: StreamContext, all: readonly Series[]): string {
  const dateOf = (interval: Interval, keyMs: number): string =>
    formatDay(isPeriod(interval) ? keyMs / DAY_MS : (calendar.labelAt(keyMs) ?? calendar.zone.dayAt(keyMs)));
  return all
    .toSorted((a, b) => coarseness(a) - coarseness(b))
    .map(
      ({ interval, first_ms, last_ms }) =>
        `${interval} ${dateOf(interval, first_ms)} to ${dateOf(interval, last_ms)}`,
    )
    .join(', ');
}

/** True if bars of a finer interval, at any hour, open in the range of one. */
async function hasFiner(
  context: StreamContext,
  stored: StoredInstrument,
  range: NamedRange,
  finer: Interval,
): Promise<boolean> {
  if (finer === context.interval) return false;
  const slackMs = isPeriod(context.interval) ? 2 * DAY_MS : 0;
  const keys = { ...range, fromMs: range.fromMs - slackMs, toMs: range.toMs + slackMs };
  return hasAny(barParts({ ...context, interval: finer, extended: true }, stored, keys), range.holds);
}

/** The range that a request names. */
type NamedRange = StreamRange & { readonly holds: Holds };

/**
 * The context to read the bars of a range with, and what says in a few words why that found none; `where`
 * names the range, and is empty for all time (contract 9.18).
 */
export function explained(
  context: StreamContext,
  stored: StoredInstrument,
  range: NamedRange,
): { readonly context: StreamContext; readonly whyNone: (where: string) => Promise<string> } {
  let isUnfinished = false;
  const onUnfinished = (timed: TimedBars): void => {
    isUnfinished ||= isAnyHeld(timed, range.holds);
  };
  return {
    context: { ...context, onUnfinished },
    whyNone: (where) => whyNone(context, stored, range, isUnfinished, where),
  };
}

async function whyNone(
  context: StreamContext,
  stored: StoredInstrument,
  range: NamedRange,
  isUnfinished: boolean,
  where: string,
): Promise<string> {
  const { interval, extended, calendar } = context;
  const { series } = stored;
  if (series.length === 0) return 'no finished bar is stored';
  const finest = series.reduce((one, other) => (coarseness(other) < coarseness(one) ? other : one));
  const from = candidates(stored, interval);
  const spans = spansOf(context, series);
  if (from.length === 0)
    return coarseness({ interval }) < coarseness(finest)
      ? `finest stored interval is ${finest.interval}`
      : `no stored interval makes ${interval}; stored: ${spans}`;
  const isLong = isPeriod(interval) && interval !== DAY;
  // The read before has counted the bars that are skipped.
  const { onSkipped: _, ...plain } = context;
  const held = (hours: boolean): Promise<boolean> => {
    if (!isLong) return hasAny(barParts({ ...plain, extended: hours }, stored, range), range.holds);
    const days = barParts(
      { ...plain, interval: DAY, extended: hours },
      stored,
      wholePeriods(interval, clamped(stored, range)),
    );
    return hasAny(days, (_, label) => {
      const { openMs, day } = periodHours(calendar, interval, periodStart(interval, label), hours);
      return range.holds === null || range.holds(openMs, day);
    });
  };
  if (isUnfinished && !isLong) return 'not finished yet';
  if (isLong && (await held(extended))) {
    const isMixed = new Set(from.map(({ prices }) => prices)).size > 1;
    return `not finished yet: a ${interval} needs all its sessions${isMixed ? ', on one price basis' : ''}`;
  }
  if (!extended && calendar.hasBeyond(segmentScope(interval, false)) && (await held(true)))
    return 'only extended hours have bars: is_eth=true';
  if (where !== '' && (await hasFiner(plain, stored, range, finest.interval)))
    return `no ${interval} bar opens ${where}`;
  return `nothing is stored${where === '' ? ' in the hours of the market' : ` ${where}`}; stored: ${spans}`;
}
