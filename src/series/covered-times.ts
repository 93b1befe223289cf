// Which times of a series are covered for certain, by the facts of its own runs and of its instrument
// (contract 3.9 (1), (3), (4)).
import { DAY_MS, parseDay } from '../base/instant.ts';
import { barEnd } from '../market/calendar/bar-end.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { hoursOf, isPeriod } from '../market/calendar/period.ts';
import type { Instrument } from '../store/schema/reference.ts';
import { type BegunRun, fileSpan, type OwnRuns, type RunSpan } from './run-spans.ts';
import { lacking, type Series, type Span, united } from './series.ts';

/** An instrument that traded last so many sessions before its end, or fewer, has no later bar. */
const LAST_SESSIONS = 60;

/** Two sessions are never so far from each other. */
const LONGEST_PAUSE_MS = 31 * DAY_MS;

/**
 * When an instrument is traded: `endMs` is the end of the day on which it was delisted or expired, null where
 * none is known.
 */
export type Traded = Pick<Instrument, 'listing_date' | 'status'> & { readonly endMs: number | null };

/** True if no session is going on at any time from one moment to another. */
const isNothingBetween =
  (calendar: Calendar) =>
  (fromMs: number, toMs: number): boolean =>
    toMs - fromMs < LONGEST_PAUSE_MS && calendar.segments(fromMs, toMs, 'all').openMs.length === 0;

/** The first open, extended hours included, of sessions from a label date on; infinite after the last one. */
function openFrom(calendar: Calendar, day: number): number {
  const session = calendar.sessionOnOrAfter(day);
  return session === null ? Number.POSITIVE_INFINITY : hoursOf(session, true).openMs;
}

/** The times of the bars that a deletion takes away. */
export function deletedTimes(calendar: Calendar, { interval, from_ms, through_ms }: RunSpan): Span {
  const [fromMs, toMs] = [from_ms!, through_ms!];
  if (!isPeriod(interval)) return { fromMs, toMs };
  return {
    fromMs: openFrom(calendar, Math.ceil(fromMs / DAY_MS)),
    toMs: openFrom(calendar, Math.ceil(toMs / DAY_MS)),
  };
}

/** The times before an instrument was listed, and after it was traded last. */
function untradedTimes(
  calendar: Calendar,
  { interval, last_ms }: Pick<Series, 'interval' | 'last_ms'>,
  { listing_date, status, endMs }: Traded,
  files: readonly BegunRun[],
): Span[] {
  const found: Span[] = [];
  const listed = listing_date === null ? null : parseDay(listing_date);
  if (listed !== null) found.push({ fromMs: Number.NEGATIVE_INFINITY, toMs: openFrom(calendar, listed) });
  const { closeMs } = barEnd(calendar, interval, last_ms);
  if (endMs !== null) {
    // A session may begin on the evening before its date.
    const nextMs = openFrom(calendar, calendar.zone.dayAt(endMs - 1) + 1);
    found.push({ fromMs: Math.min(endMs, nextMs), toMs: Number.POSITIVE_INFINITY });
    const [fromDay, toDay] = [closeMs, endMs].map((ms) => calendar.zone.dayAt(ms));
    const isNear = closeMs <= endMs && calendar.sessions(fromDay! + 1, toDay!).length <= LAST_SESSIONS;
    if (isNear && files.some(({ run }) => run.started_ms >= endMs))
      found.push({ fromMs: closeMs, toMs: endMs });
  } else if (status === 'inactive') found.push({ fromMs: closeMs, toMs: Number.POSITIVE_INFINITY });
  return found;
}

/**
 * The times of a series that are covered for certain, ascending and apart; `runs` are those that hold it or
 * have deleted bars of it, `files` those of them that hold it. `last_ms` is the key of its last bar, finished
 * or not.
 */
export function coveredTimes(
  calendar: Calendar,
  series: Pick<Series, 'interval' | 'last_ms'>,
  traded: Traded,
  { runs, files }: OwnRuns,
): Span[] {
  const begun = new Map(files.map((file) => [file.run.run_id, file]));
  let spans: Span[] = [];
  for (const run of runs) {
    const file = begun.get(run.run_id);
    if (file === undefined) spans = lacking(spans, [deletedTimes(calendar, run)]);
    else {
      const span = fileSpan(file, calendar);
      if (span !== null) spans.push({ fromMs: span.late?.surelyMs ?? span.fromMs, toMs: span.toMs });
    }
  }
  spans.push(...untradedTimes(calendar, series, traded, files));
  return united(
    spans.filter(({ fromMs, toMs }) => fromMs < toMs),
    isNothingBetween(calendar),
  );
}
