// When a stored bar closes, when its session ends, which sessions are over, and which keys their bars have.
import { DAY_MS, END_DAY, FIRST_DAY, MINUTE_MS } from '../../base/instant.ts';
import type { BarLabel } from '../../contract/file-words.ts';
import { type Interval, intervalMinutes } from '../../contract/interval.ts';
import type { Calendar } from './calendar.ts';
import { hoursOf, isPeriod, type PeriodInterval, periodEnd, periodHours } from './period.ts';
import type { Session } from './session.ts';

/**
 * The close of a bar, and the end of its session: with extended hours, of DAY and above without; both in
 * milliseconds.
 */
type BarEnd = { readonly closeMs: number; readonly sessionEndMs: number };

/** A session ends at most so many days after its label date, in UTC. */
const LABEL_SLACK_DAYS = 2;

/**
 * The ends of a bar by its key. A bar outside every session ends when it closes; a DAY row that is merged
 * into the session which its evening opens is whole at the end of its date (contract 3.2, 3.3, 3.6, 3.9,
 * 3.10).
 */
export function barEnd(calendar: Calendar, interval: Interval, keyMs: number): BarEnd {
  const minutes = intervalMinutes(interval);
  if (minutes === null) {
    const [period, start] = [interval as PeriodInterval, keyMs / DAY_MS];
    // Stored bars of DAY and above are regular-hours data: the post-market changes none.
    const { closeMs: sessionEndMs } = periodHours(calendar, period, start, false);
    const isEvening = period === 'DAY' && calendar.labelOfRow(start) !== start;
    return { closeMs: isEvening ? calendar.zone.instantOf(start + 1, 0) : sessionEndMs, sessionEndMs };
  }
  const closeMs = minuteClose(calendar, minutes * MINUTE_MS, keyMs);
  const label = calendar.labelAt(keyMs);
  const sessionEndMs = label === null ? closeMs : hoursOf(calendar.sessionOnOrBefore(label)!, true).closeMs;
  return { closeMs, sessionEndMs };
}

/** The nominal end of a bar, cut at the end of its segment where it is on the segment's grid. */
function minuteClose(calendar: Calendar, stepMs: number, keyMs: number): number {
  const { openMs, closeMs, late } = calendar.segments(keyMs, keyMs + 1, 'all');
  const isOnGrid = openMs.length > 0 && (late[0] === 1 || (keyMs - openMs[0]!) % stepMs === 0);
  return isOnGrid ? Math.min(keyMs + stepMs, closeMs[0]!) : keyMs + stepMs;
}

/**
 * The open of the bar of some minutes that closes at an instant; null if no cell of the session grid does
 * (contract 3.3).
 */
export function openBefore(calendar: Calendar, minutes: number, closeMs: number): number | null {
  const { openMs, closeMs: ends } = calendar.segments(closeMs - 1, closeMs, 'all');
  if (openMs.length === 0) return null;
  const stepMs = minutes * MINUTE_MS;
  const cells = Math.ceil((closeMs - openMs[0]!) / stepMs);
  const open = openMs[0]! + (cells - 1) * stepMs;
  return Math.min(open + stepMs, ends[0]!) === closeMs ? open : null;
}

/** So many sessions whose minutes are dated by their close show that all are. */
export const CLOSE_SESSIONS_MIN = 5;

/**
 * The end of the bar by which a session's bars of minutes are dated, as the first and the last of them show;
 * null where they do not. Dated by their close they begin one step after an open and end with the close of
 * the regular hours or later, through the auction; or they do so in all hours.
 */
export function datedBy(session: Session, stepMs: number, firstMs: number, lastMs: number): BarLabel | null {
  const all = hoursOf(session, true);
  const { closeMs } = session.segments.findLast(({ kind }) => kind === 'regular') ?? session;
  const hours = [
    { openMs: session.openMs, closeMs, endMs: session.dayCloseMs },
    { ...all, endMs: all.closeMs },
  ];
  if (hours.some(({ openMs }) => openMs === firstMs)) return 'open';
  const isShifted = hours.some(
    (one) => firstMs === one.openMs + stepMs && lastMs >= one.closeMs && lastMs <= one.endMs,
  );
  return isShifted ? 'close' : null;
}

/**
 * The label date of a bar's session, or of its period, as a day number; outside every session that of its
 * clock.
 */
export function labelOfBar(calendar: Calendar, interval: Interval, keyMs: number): number {
  if (intervalMinutes(interval) === null) return keyMs / DAY_MS;
  return calendar.labelAt(keyMs) ?? calendar.zone.dayAt(keyMs);
}

/**
 * As `labelOfBar`, of the session that serves the bar: the DAY row of an evening is part of the one that it
 * opens (contract 3.10).
 */
export const sessionOfBar = (calendar: Calendar, interval: Interval, keyMs: number): number =>
  interval === 'DAY' ? calendar.labelOfRow(keyMs / DAY_MS) : labelOfBar(calendar, interval, keyMs);

/** An instant by which a bar has closed, whatever its calendar. */
function closedForCertain(interval: Interval, keyMs: number): number {
  const minutes = intervalMinutes(interval);
  if (minutes !== null) return keyMs + minutes * MINUTE_MS;
  return (periodEnd(interval as PeriodInterval, keyMs / DAY_MS) + LABEL_SLACK_DAYS) * DAY_MS;
}

/** Tells if a bar has closed by a moment: `yes` and `no` hold for every calendar, `maybe` depends on it. */
export function hasClosed(interval: Interval, keyMs: number, ms: number): 'yes' | 'maybe' | 'no' {
  if (closedForCertain(interval, keyMs) <= ms) return 'yes';
  const slackMs = isPeriod(interval) ? LABEL_SLACK_DAYS * DAY_MS : 0;
  return keyMs - slackMs <= ms ? 'maybe' : 'no';
}

/**
 * True if a bar closes after a moment. A bar of a series off the session grid closes at its nominal end
 * (contract 3.10).
 */
export function closesAfter(
  calendar: Calendar,
  { interval, isOffGrid }: { readonly interval: Interval; readonly isOffGrid: boolean },
  keyMs: number,
  ms: number,
): boolean {
  if (isOffGrid) return closedForCertain(interval, keyMs) > ms;
  const closed = hasClosed(interval, keyMs, ms);
  return closed === 'maybe' ? barEnd(calendar, interval, keyMs).closeMs > ms : closed === 'no';
}

/**
 * The label date of the last session that is over at a moment: its DAY bar closes by then. Before every
 * session `FIRST_DAY`; in the end every session is over.
 */
export function lastOverDay(calendar: Calendar, ms: number): number {
  if (ms === Number.POSITIVE_INFINITY) return END_DAY;
  let session = calendar.sessionOnOrBefore(calendar.zone.dayAt(ms) + 1);
  while (session !== null && session.dayCloseMs > ms) session = calendar.sessionOnOrBefore(session.day - 1);
  return session?.day ?? FIRST_DAY;
}

/**
 * The instant up to which a moment has sessions that are over alone: the beginning of the one that is going
 * on, else the moment itself.
 */
export function overThroughMs(calendar: Calendar, ms: number): number {
  if (ms === Number.POSITIVE_INFINITY) return ms;
  const next = calendar.sessionOnOrAfter(lastOverDay(calendar, ms) + 1);
  return next === null ? ms : Math.min(ms, next.segments[0]!.openMs);
}

/**
 * The keys that bars of an interval up to DAY have in a session, extended hours and the row of its evening
 * included.
 */
export function keysInSession(calendar: Calendar, interval: Interval, session: Session) {
  if (!isPeriod(interval)) {
    const { openMs: fromMs, closeMs: toMs } = hoursOf(session, true);
    return { fromMs, toMs };
  }
  const evening = calendar.labelOfRow(session.day - 1) === session.day ? 1 : 0;
  return { fromMs: (session.day - evening) * DAY_MS, toMs: (session.day + 1) * DAY_MS };
}
