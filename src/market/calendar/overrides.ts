// Calendar overrides: closings, shortened days and cancellations that an operator imported, over the days
// that ship (contract 8.6).
import { DAY_MS, dateOf, formatDay, MINUTE_MS } from '../../base/instant.ts';
import { SizedCache } from '../../base/sized-cache.ts';
import { Calendar } from './calendar.ts';
import { calendarLimits } from './limits.ts';
import type { Clock, HolidayRule } from './market.ts';
import { shippedRules } from './rules.ts';

/** An operator's override of one day, as it was imported. */
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
  /** The date from which it was known; null where the file does not say. */
  readonly announced: number | null;
};

/**
 * The overrides that apply to a symbol. The first of a date wins: that of the highest priority, then that of
 * the instrument itself.
 */
const overridesFor = (overrides: readonly CalendarOverride[], symbol: string): CalendarOverride[] =>
  overrides
    .filter((one) => one.symbol === '*' || one.symbol === symbol)
    .sort((a, b) => b.priority - a.priority || Number(a.symbol === '*') - Number(b.symbol === '*'));

/** An instant as clock time on a label date. */
function clockOf({ zone }: Calendar, day: number, ms: number): Clock {
  const minutes = Math.round((ms + zone.offsetAt(ms) - day * DAY_MS) / MINUTE_MS);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? '-' : ''}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}

/** The rules that ship, by day; a year of a market is looked at once. */
function shippedOn({ market }: Calendar) {
  const years = new Map<number, ReadonlyMap<number, HolidayRule>>();
  return (day: number): HolidayRule | undefined => {
    const { year } = dateOf(day);
    const rules = years.get(year) ?? shippedRules(market, year);
    years.set(year, rules);
    return rules.get(day);
  };
}

/**
 * Gives the date from which overrides were known. One that does not say so has that of the day that ships, if
 * any: lists of holidays have the closings that nobody knew in advance, but not their announcements.
 */
export function announcementsOver(base: Calendar): (override: CalendarOverride) => string | undefined {
  const shipped = shippedOn(base);
  return ({ announced, calendar_date }) =>
    announced === null ? shipped(calendar_date)?.announced : formatDay(announced);
}

function ruleOf(base: Calendar, override: CalendarOverride, announced: string | undefined): HolidayRule {
  const { symbol, priority } = override;
  const rule = {
    code: override.holiday_code,
    name: override.name,
    dates: formatDay(override.calendar_date),
    source: 'imported',
    imported: { symbol, priority },
    ...(announced !== undefined && { announced }),
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

/**
 * The calendars made of one list of overrides, by calendar and symbol; `*` for the symbols that the list does
 * not name.
 */
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
  const calendar = overlaid(base, overridesFor(overrides, symbol));
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
  const announcedOf = announcementsOver(base);
  const rules = overrides.map((one) => ruleOf(base, one, announcedOf(one)));
  const calendar = new Calendar({ ...base.market, overrides: rules }, base);
  kept.set(name, { calendar, rules });
  return calendar;
}
