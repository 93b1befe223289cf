// Periods made of sessions: a session itself, a week Monday to Sunday, a calendar month (contract 3.6).
import { dateOf, dayOf, weekdayOf } from '../base/instant.ts';
import type { Calendar } from './calendar.ts';
import type { SegmentScope, Session } from './session.ts';

/** The intervals that are built from sessions. */
export type PeriodInterval = 'DAY' | 'WEEK' | 'MON';

export function isPeriod(interval: string): interval is PeriodInterval {
  return interval === 'DAY' || interval === 'WEEK' || interval === 'MON';
}

/** The first calendar day of the period of a day: itself, its Monday, the first of its month. */
export function periodStart(interval: PeriodInterval, day: number): number {
  if (interval === 'DAY') return day;
  if (interval === 'WEEK') return day - weekdayOf(day) + 1;
  const { year, month } = dateOf(day);
  return dayOf(year, month, 1);
}

/** The first day after the period that begins on `start`. */
export function periodEnd(interval: PeriodInterval, start: number): number {
  if (interval === 'DAY') return start + 1;
  if (interval === 'WEEK') return start + 7;
  const { year, month } = dateOf(start);
  return month === 12 ? dayOf(year + 1, 1, 1) : dayOf(year, month + 1, 1);
}

/** The segments that bars of an interval are made of (contract 3.5, 3.13). */
export function segmentScope(interval: string, extended: boolean): SegmentScope {
  if (extended) return 'all';
  return isPeriod(interval) ? 'day' : 'regular';
}

/** The hours of a session's DAY bar: regular and closing auction, or first segment to last. */
export function hoursOf(session: Session, extended: boolean): { openMs: number; closeMs: number } {
  if (!extended) return { openMs: session.openMs, closeMs: session.dayCloseMs };
  const { segments } = session;
  return { openMs: segments[0]!.openMs, closeMs: segments[segments.length - 1]!.closeMs };
}

/** When a period trades: label date and open of its first session, close of its last. */
export type PeriodHours = { readonly day: number; readonly openMs: number; readonly closeMs: number };

/**
 * The hours of the period that begins on `start`. A period without any session has the hours of the session before it, and
 * keeps its own first day as label (contract 3.10).
 */
export function periodHours(
  calendar: Calendar,
  interval: PeriodInterval,
  start: number,
  extended: boolean,
): PeriodHours {
  const end = periodEnd(interval, start);
  const last = calendar.sessionOnOrBefore(end - 1) ?? calendar.sessionOnOrAfter(start);
  if (last === null) throw new Error(`the calendar ${calendar.market.key} has no session`);
  const isOwn = last.day >= start;
  const first = isOwn && interval !== 'DAY' ? (calendar.sessionOnOrAfter(start) ?? last) : last;
  const { openMs } = hoursOf(first, extended);
  return { day: isOwn ? first.day : start, openMs, closeMs: hoursOf(last, extended).closeMs };
}
