// Periods made of sessions: a session itself, a week Monday to Sunday, a calendar month (contract 3.6).
import { dateOf, dayOf, weekdayOf } from '../../base/instant.ts';
import type { BarLabel } from '../../contract/file-words.ts';
import type { Calendar } from './calendar.ts';
import { hoursOn } from './rules.ts';
import { patternHours, type SegmentScope, type Session } from './session.ts';

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

const SUNDAY = 7;

/**
 * True for a WEEK row dated Sunday: files date a week by the Sunday that ends it, or by the one before it.
 */
export const isSundayOfWeek = (interval: PeriodInterval, day: number): boolean =>
  interval === 'WEEK' && weekdayOf(day) === SUNDAY;

/**
 * The first day of the period that a row of a file is of, by its date. A week that is dated Sunday ends with
 * it, or with `open` begins the day after, in every market: a date does not say whether the week of forex
 * that opens on its evening is meant (contract 3.6).
 */
export const periodOfRow = (interval: PeriodInterval, day: number, label: BarLabel | undefined): number =>
  periodStart(interval, label === 'open' && isSundayOfWeek(interval, day) ? day + 1 : day);

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
type PeriodHours = { readonly day: number; readonly openMs: number; readonly closeMs: number };

/**
 * The hours of the period that begins on `start`. A DAY of a closed date keeps that date as label. Its hours
 * are those of the session that its evening opens, else the market's regular hours of the date. A WEEK or MON
 * without any session has the regular hours of its own weekdays (contract 3.10).
 */
export function periodHours(
  calendar: Calendar,
  interval: PeriodInterval,
  start: number,
  extended: boolean,
): PeriodHours {
  const end = periodEnd(interval, start);
  const last = calendar.sessionOnOrBefore(end - 1);
  if (last === null || last.day < start) {
    const evening = interval === 'DAY' ? calendar.sessionOn(calendar.labelOfRow(start)) : null;
    return evening === null
      ? closedHours(calendar, start, end)
      : { ...hoursOf(evening, extended), day: start };
  }
  const first = interval === 'DAY' ? last : (calendar.sessionOnOrAfter(start) ?? last);
  const { openMs } = hoursOf(first, extended);
  return { day: first.day, openMs, closeMs: hoursOf(last, extended).closeMs };
}

/**
 * The regular hours of the weekdays from `start` to `end` (not included), on none of which there is a
 * session.
 */
function closedHours({ market, zone }: Calendar, start: number, end: number): PeriodHours {
  const days = Array.from({ length: end - start }, (_, at) => start + at);
  const weekdays = days.filter((day) => hoursOn(market, day).weekdays.includes(weekdayOf(day)));
  // A single day may be of any weekday.
  const [first, last] = [weekdays[0] ?? start, weekdays.at(-1) ?? start];
  const { openMs } = patternHours(market, zone, first);
  return { day: first, openMs, closeMs: patternHours(market, zone, last).closeMs };
}
