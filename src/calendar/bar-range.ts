// Bounds as they are written -> the keys of the bars that lie between them (contract 2.2, 2.3).
import { DAY_MS, type ParsedInstant } from '../base/instant.ts';
import type { Calendar } from './calendar.ts';
import { isPeriod, periodEnd, periodStart } from './period.ts';

/** Inclusive bounds as half-open bounds of keys, and what a key alone cannot tell. */
export type BarRange = {
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether a bar with this open and label lies in the range; null where its key has said so. */
  readonly holds: ((openMs: number, day: number) => boolean) | null;
};

/** Days by which the open of a bar may lie from the day its key names: the longest closing, generously. */
const KEY_SLACK_DAYS = 20;

/** Whether a bound speaks of a label date: a date alone, or midnight without an offset (contract 2.3). */
function isLabel(bound: ParsedInstant): boolean {
  return bound.kind === 'date' || (!bound.hasOffset && bound.ms === bound.day * DAY_MS);
}

const startOfDay = (calendar: Calendar, day: number): number => calendar.dateZone.instantOf(day, 0);

/** The first and the last instant that bounds mean on intraday bars. */
function instantBounds(
  calendar: Calendar,
  from: ParsedInstant,
  to: ParsedInstant,
): { fromMs: number; toMs: number } {
  return {
    fromMs: from.kind === 'date' ? startOfDay(calendar, from.day) : from.ms,
    toMs: to.kind === 'date' ? startOfDay(calendar, to.day + 1) : to.ms + 1,
  };
}

/** The range of an interval's bars from one bound to another, both included. */
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

/** Whether the first bound does not lie after the last. */
export function inOrder(
  interval: string,
  calendar: Calendar,
  from: ParsedInstant,
  to: ParsedInstant,
): boolean {
  if (isPeriod(interval) && isLabel(from) && isLabel(to)) return from.day <= to.day;
  const { fromMs, toMs } = instantBounds(calendar, from, to);
  return fromMs < toMs;
}
