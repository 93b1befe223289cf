// Calendar overrides: closings, shortened days and cancellations that an operator imported, over the days that ship (contract 8.6).
import { DAY_MS, formatDay, MINUTE_MS } from '../base/instant.ts';
import { SizedCache } from '../base/sized-cache.ts';
import { Calendar } from './calendar.ts';
import { calendarLimits } from './limits.ts';
import type { Clock, HolidayRule } from './market.ts';

/** The priority of the holidays that ship. */
export const SHIPPED_PRIORITY = 0;

/** The priority of an override that names none. */
export const OVERRIDE_PRIORITY = 1;

/** What an operator imported for one day. */
export type CalendarOverride = {
  /** `*`: every instrument of the asset type and country. */
  readonly symbol: string;
  readonly calendar_date: number;
  readonly priority: number;
  readonly name: string;
  readonly holiday_code: string;
  readonly session_template: string;
  /** Epoch milliseconds; null keeps the usual open or close. */
  readonly open_timestamp: number | null;
  readonly close_timestamp: number | null;
};

/** Whether an override wins over another of its day: the higher priority, then the one of the instrument itself. */
function wins(one: CalendarOverride, other: CalendarOverride): boolean {
  if (one.priority !== other.priority) return one.priority > other.priority;
  return one.symbol !== '*';
}

/** The override that applies to a symbol on each date, by date. */
export function overridesFor(
  overrides: readonly CalendarOverride[],
  symbol: string,
): Map<number, CalendarOverride> {
  const found = new Map<number, CalendarOverride>();
  for (const one of overrides) {
    if (one.symbol !== '*' && one.symbol !== symbol) continue;
    const other = found.get(one.calendar_date);
    if (other === undefined || wins(one, other)) found.set(one.calendar_date, one);
  }
  return found;
}

/** An instant as clock time on a label date. */
function clockOf({ zone }: Calendar, day: number, ms: number): Clock {
  const minutes = Math.round((ms + zone.offsetAt(ms) - day * DAY_MS) / MINUTE_MS);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? '-' : ''}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}

function ruleOf(base: Calendar, override: CalendarOverride): HolidayRule {
  const rule = {
    code: override.holiday_code,
    name: override.name,
    dates: formatDay(override.calendar_date),
    source: 'imported',
  };
  if (override.session_template === 'REGULAR') return { ...rule, regular: true };
  const { open_timestamp: openMs, close_timestamp: closeMs, calendar_date: date } = override;
  return {
    ...rule,
    ...(openMs === null ? {} : { open: clockOf(base, date, openMs) }),
    ...(closeMs === null ? {} : { close: clockOf(base, date, closeMs) }),
  };
}

/** Calendars with overrides, each with its rules; most instruments of a market share one. */
const kept = new SizedCache<{ readonly calendar: Calendar; readonly rules: readonly HolidayRule[] }>(
  calendarLimits.overlaidBytesMax,
);

/** The calendars made of one list of overrides, by calendar and symbol; `*` for the symbols that the list does not name. */
const made = new WeakMap<readonly CalendarOverride[], Map<string, Calendar>>();

/** A calendar with the overrides that apply to a symbol; `overrides` are all those of its market. */
export function withOverrides(
  base: Calendar,
  overrides: readonly CalendarOverride[],
  symbol: string,
): Calendar {
  if (overrides.length === 0) return base;
  const byName = made.get(overrides) ?? new Map<string, Calendar>();
  made.set(overrides, byName);
  const owner = overrides.some((one) => one.symbol === symbol) ? symbol : '*';
  const name = `${base.market.key} ${base.market.zone} ${owner}`;
  const known = byName.get(name);
  if (known !== undefined) return known;
  const calendar = overlaid(base, [...overridesFor(overrides, symbol).values()]);
  byName.set(name, calendar);
  return calendar;
}

/** One calendar for equal overrides, even of different lists: most commits change none. */
function overlaid(base: Calendar, overrides: readonly CalendarOverride[]): Calendar {
  if (overrides.length === 0) return base;
  const { key, assetSchema, country, zone } = base.market;
  const name = JSON.stringify([key, assetSchema, country, zone, overrides]);
  const known = kept.get(name);
  if (known !== undefined) return known.calendar;
  const rules = overrides.map((one) => ruleOf(base, one));
  const calendar = new Calendar({ ...base.market, overrides: rules }, base);
  kept.set(name, { calendar, rules });
  return calendar;
}
