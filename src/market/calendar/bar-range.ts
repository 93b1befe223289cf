// The bounds of a request -> the keys of the bars between them (contract 2.2, 2.3).
import { areInOrder, DAY_MS, endOf, type ParsedInstant, startOf } from '../../base/instant.ts';
import type { Calendar } from './calendar.ts';
import { isPeriod, periodEnd, periodStart } from './period.ts';

/** Inclusive bounds as a half-open range of keys, and the test that keys alone cannot answer. */
export type BarRange = {
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether a bar with this open and label date is in the range; null where its key decides. */
  readonly holds: ((openMs: number, day: number) => boolean) | null;
};

/** The open of a bar is at most so many days from the day of its key: more than any market was closed. */
const KEY_SLACK_DAYS = 20;

/** Whether a bound means a label date: a date, or midnight without an offset (contract 2.3). */
function isLabel(bound: ParsedInstant): boolean {
  return bound.kind === 'date' || (!bound.hasOffset && !bound.isLater && bound.ms === bound.day * DAY_MS);
}

/**
 * The market's date of a bound: of a date, and on bars of DAY and above of midnight without an offset, as
 * written; else the date of its instant (contract 2.3).
 */
export function dayOfBound({ zone }: Calendar, bound: ParsedInstant, interval: string | null): number {
  const isWritten = interval !== null && isPeriod(interval) && isLabel(bound);
  return bound.kind === 'date' || isWritten ? bound.day : zone.dayAt(bound.ms);
}

const startOfDay = (calendar: Calendar, day: number): number => calendar.dateZone.instantOf(day, 0);

/** The instants that bounds mean on intraday bars, as a half-open range. */
function instantBounds(
  calendar: Calendar,
  from: ParsedInstant,
  to: ParsedInstant,
): { fromMs: number; toMs: number } {
  return {
    fromMs: from.kind === 'date' ? startOfDay(calendar, from.day) : startOf(from, 'instant'),
    toMs: to.kind === 'date' ? startOfDay(calendar, to.day + 1) : endOf(to, 'instant'),
  };
}

/** The range of an interval's bars between two bounds, both included. */
export function barRange(
  interval: string,
  calendar: Calendar,
  from: ParsedInstant,
  to: ParsedInstant,
): BarRange {
  const { fromMs, toMs } = instantBounds(calendar, from, to);
  if (!isPeriod(interval)) return { fromMs, toMs, holds: null };
  const fromLabel = isLabel(from);
  const toLabel = isLabel(to);
  const firstDay = fromLabel ? from.day : calendar.zone.dayAt(fromMs) - KEY_SLACK_DAYS;
  const lastDay = toLabel ? to.day : calendar.zone.dayAt(toMs) + KEY_SLACK_DAYS;
  return {
    fromMs: periodStart(interval, firstDay) * DAY_MS,
    toMs: periodEnd(interval, periodStart(interval, lastDay)) * DAY_MS,
    holds: (openMs, day) =>
      (fromLabel ? day >= from.day : openMs >= fromMs) && (toLabel ? day <= to.day : openMs < toMs),
  };
}

/** True if `from` is not after `to`. */
export function inOrder(
  interval: string,
  calendar: Calendar,
  from: ParsedInstant,
  to: ParsedInstant,
): boolean {
  if (isPeriod(interval) && isLabel(from) && isLabel(to)) return from.day <= to.day;
  const { fromMs, toMs } = instantBounds(calendar, from, to);
  return areInOrder(from, fromMs, toMs, 'instant');
}
