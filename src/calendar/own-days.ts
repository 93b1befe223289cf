// Days of an operator's own -> a market's calendar with them: closings, shortened days, cancellations (contract 8.6).
import { DAY_MS, formatDay, MINUTE_MS } from '../base/instant.ts';
import { Calendar } from './calendar.ts';
import type { Clock, HolidayRule } from './market.ts';

/** The priority of the days that ship. */
export const shippedPriority = 0;

/** The priority of an operator's day that names none. */
export const ownDayPriority = 1;

/** One day of an operator's own. */
export type OwnDay = {
  /** `*` for the whole market. */
  readonly symbol: string;
  readonly calendar_date: number;
  readonly priority: number;
  readonly name: string;
  readonly holiday_code: string;
  readonly session_template: string;
  /** Epoch milliseconds; null where the session's own bound holds. */
  readonly open_timestamp: number | null;
  readonly close_timestamp: number | null;
};

/** Of two days the one that holds: the higher priority, then the one of the instrument itself. */
function wins(day: OwnDay, other: OwnDay): boolean {
  if (day.priority !== other.priority) return day.priority > other.priority;
  return day.symbol !== '*';
}

/** The day that holds for a symbol on each date, by date. */
export function holding(days: readonly OwnDay[], symbol: string): Map<number, OwnDay> {
  const found = new Map<number, OwnDay>();
  for (const day of days) {
    if (day.symbol !== '*' && day.symbol !== symbol) continue;
    const other = found.get(day.calendar_date);
    if (other === undefined || wins(day, other)) found.set(day.calendar_date, day);
  }
  return found;
}

/** An instant as clock time on a label date. */
function clockOf({ zone }: Calendar, day: number, ms: number): Clock {
  const minutes = Math.round((ms + zone.offsetAt(ms) - day * DAY_MS) / MINUTE_MS);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? '-' : ''}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}

function ruleOf(base: Calendar, day: OwnDay): HolidayRule {
  const rule = {
    code: day.holiday_code,
    name: day.name,
    when: { dates: [formatDay(day.calendar_date)] },
    source: 'imported',
  };
  if (day.session_template === 'REGULAR') return { ...rule, regular: true };
  const { open_timestamp: openMs, close_timestamp: closeMs, calendar_date: date } = day;
  return {
    ...rule,
    ...(openMs === null ? {} : { open: clockOf(base, date, openMs) }),
    ...(closeMs === null ? {} : { close: clockOf(base, date, closeMs) }),
  };
}

/** Calendars with days of an operator's own that are kept: instruments of a market mostly share one. */
const KEPT_MAX = 256;
const kept = new Map<string, Calendar>();

/** What was found for a list of days, by zone and symbol, `*` for all that the list does not name. */
const found = new WeakMap<readonly OwnDay[], Map<string, Calendar>>();

/** A calendar with an operator's days over it: of every day of the market the one that holds for a symbol. */
export function withOwnDays(base: Calendar, days: readonly OwnDay[], symbol: string): Calendar {
  if (days.length === 0) return base;
  const byName = found.get(days) ?? new Map<string, Calendar>();
  found.set(days, byName);
  const owner = days.some((day) => day.symbol === symbol) ? symbol : '*';
  const name = `${base.market.zone} ${owner}`;
  const known = byName.get(name);
  if (known !== undefined) return known;
  const calendar = overlaid(base, [...holding(days, symbol).values()]);
  byName.set(name, calendar);
  return calendar;
}

/** The calendar of equal days, whichever list they stand in: most commits change none. */
function overlaid(base: Calendar, own: readonly OwnDay[]): Calendar {
  if (own.length === 0) return base;
  const { assetSchema, country, zone } = base.market;
  const name = JSON.stringify([assetSchema, country, zone, own]);
  let calendar = kept.get(name);
  if (calendar === undefined) {
    if (kept.size >= KEPT_MAX) kept.clear();
    calendar = new Calendar({ ...base.market, own: own.map((day) => ruleOf(base, day)) }, base);
    kept.set(name, calendar);
  }
  return calendar;
}
