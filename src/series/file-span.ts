// Which times a file covers by its own bars and by what its caller said (contract 3.9 (1)).
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/instant.ts';
import type { Interval } from '../contract/interval.ts';
import { barEnd, closesAfter } from '../market/calendar/bar-end.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { hoursOf, isPeriod, periodEnd } from '../market/calendar/period.ts';
import type { Session } from '../market/calendar/session.ts';
import { zoneOf } from '../market/calendar/zone.ts';
import type { BegunRun, RunSpan } from './run-spans.ts';
import type { Span } from './series.ts';

/**
 * A first bar that opens at most so long after the regular hours does not show that its file began in the
 * middle of a session.
 */
export const LATE_MS = 15 * MINUTE_MS;

/** A session of so many hours contains a midnight, at which files are cut. */
const LONG_MS = 20 * HOUR_MS;

/** The span that a file covers. */
export type FileSpan = Span & {
  /**
   * Up to its first bar it covers `[fromMs, surelyMs)` only where nothing shows that it began in the middle
   * of the session; null where that makes no difference.
   */
  readonly late: { readonly session: Session; readonly surelyMs: number } | null;
};

/** The first or the last session of a bar's time, by its key; null for a bar outside every session. */
function sessionOf(calendar: Calendar, interval: Interval, keyMs: number, isFirst: boolean): Session | null {
  if (!isPeriod(interval)) {
    const label = calendar.labelAt(keyMs);
    return label === null ? null : calendar.sessionOn(label);
  }
  const day = keyMs / DAY_MS;
  if (interval === 'DAY') return calendar.sessionOn(calendar.labelOfRow(day));
  return isFirst ? calendar.sessionOnOrAfter(day) : calendar.sessionOnOrBefore(periodEnd(interval, day) - 1);
}

/** The close of a bar. */
const closeOf = (calendar: Calendar, interval: Interval, keyMs: number): number =>
  barEnd(calendar, interval, keyMs).closeMs;

/** The keys of the last bars of a run that may have closed after it began. */
const lastKeysOf = ({ last_keys }: RunSpan): readonly number[] => last_keys as readonly number[];

/**
 * The key of a run's last bar that had closed when it began; null without one. A bar that closes later counts
 * for nothing.
 */
function lastClosed({ run, begunMs }: BegunRun, calendar: Calendar): number | null {
  const { interval } = run;
  return lastKeysOf(run).findLast((keyMs) => closeOf(calendar, interval, keyMs) <= begunMs) ?? null;
}

/** The end of the session of that bar, extended hours included; null without one. */
export function sessionEnd(begun: BegunRun, calendar: Calendar): number | null {
  const keyMs = lastClosed(begun, calendar);
  const session = keyMs === null ? null : sessionOf(calendar, begun.run.interval, keyMs, false);
  if (session === null) return null;
  return isPeriod(begun.run.interval) ? session.dayCloseMs : hoursOf(session, true).closeMs;
}

/**
 * The midnights of UTC and of a file's zone around an instant: the last one that is not after it, and the
 * first one that is not before.
 */
function midnights(zone: string | null, ms: number, isAfter: boolean): number[] {
  const zones = ['UTC', ...(zone === null ? [] : [zone])].map(zoneOf);
  return zones.map((one) => one.instantOf(isAfter ? one.dayAt(ms - 1) + 1 : one.dayAt(ms), 0));
}

/** Whether a cut at a midnight inside a session shows in a bar that is so far from it. */
function isCut(session: Session, midnightMs: number, distanceMs: number, isOfSeveral: boolean): boolean {
  const { openMs, closeMs } = hoursOf(session, true);
  if (midnightMs <= openMs || midnightMs >= closeMs) return false;
  return closeMs - openMs >= LONG_MS ? distanceMs <= HOUR_MS : distanceMs === 0 && isOfSeveral;
}

/** What a run covers by its bars alone; null where none had closed. */
function spanOfBars(begun: BegunRun, calendar: Calendar): FileSpan | null {
  const { run, begunMs } = begun;
  const { interval, first_ms: firstMs, zone, series_count } = run;
  const lastMs = lastClosed(begun, calendar);
  if (firstMs === null || lastMs === null) return null;
  const [first, last] = [
    sessionOf(calendar, interval, firstMs, true),
    sessionOf(calendar, interval, lastMs, false),
  ];
  const closeMs = closeOf(calendar, interval, lastMs);
  const startMs = first === null ? firstMs : hoursOf(first, true).openMs;
  const endMs = last === null ? closeMs : Math.max(closeMs, hoursOf(last, true).closeMs);
  const wholeMs = begunMs < endMs ? closeMs : endMs;
  if (isPeriod(interval)) return { fromMs: startMs, toMs: Math.min(wholeMs, begunMs), late: null };
  const isOfSeveral = series_count > 1 || first?.day !== last?.day;
  let fromMs = startMs;
  if (first !== null)
    for (const midnight of midnights(zone, firstMs, false))
      if (isCut(first, midnight, firstMs - midnight, isOfSeveral)) fromMs = Math.max(fromMs, midnight);
  const cuts =
    last === null
      ? []
      : midnights(zone, closeMs, true)
          .filter((midnight) => midnight <= begunMs && isCut(last, midnight, midnight - closeMs, isOfSeveral))
          .sort((a, b) => a - b);
  const toMs = cuts[0] ?? wholeMs;
  // A file that was cut at a midnight did not begin with its first bar.
  const isLate = first !== null && firstMs > first.openMs + LATE_MS && fromMs === startMs;
  return {
    fromMs,
    toMs: Math.min(toMs, begunMs),
    late: isLate ? { session: first, surelyMs: firstMs } : null,
  };
}

/** The span that a run covers; null where that is nothing. */
export function fileSpan(begun: BegunRun, calendar: Calendar): FileSpan | null {
  const { started_ms, from_ms, through_ms } = begun.run;
  const own = spanOfBars(begun, calendar);
  const fromMs = from_ms ?? own?.fromMs;
  const toMs = through_ms === null ? own?.toMs : Math.min(through_ms, started_ms);
  if (fromMs === undefined || toMs === undefined || fromMs >= toMs) return null;
  return { fromMs, toMs, late: from_ms === null ? own!.late : null };
}

/** What was found of a run on the grid of a calendar: the series of a market have their runs in common. */
const foundLate = new WeakMap<RunSpan, { readonly calendar: Calendar; readonly fromMs: number | null }>();

/**
 * The key from which on bars of a run close after it began; null where all had closed. `isOffGrid` is that of
 * the series (contract 3.10).
 */
export function lateFrom(begun: BegunRun, calendar: Calendar, isOffGrid: boolean): number | null {
  if (isOffGrid) return findLateFrom(begun, calendar, true);
  const known = foundLate.get(begun.run);
  if (known?.calendar === calendar) return known.fromMs;
  const fromMs = findLateFrom(begun, calendar, false);
  foundLate.set(begun.run, { calendar, fromMs });
  return fromMs;
}

function findLateFrom({ run, begunMs }: BegunRun, calendar: Calendar, isOffGrid: boolean): number | null {
  const { interval, first_ms } = run;
  const keys = lastKeysOf(run);
  const at = keys.findIndex((keyMs) => closesAfter(calendar, { interval, isOffGrid }, keyMs, begunMs));
  if (at === -1) return null;
  return at === 0 ? first_ms : keys[at - 1]! + 1;
}
