// Holiday rules -> days: which rule of a market applies on which date of a year.
import { dateOf, dayOf, parseDay, weekdayOf } from '../../base/instant.ts';
import type { HolidayRule, Hours, Market, Observance } from './market.ts';

/**
 * Easter Sunday of the western church: the anonymous Gregorian computus (Meeus, Astronomical Algorithms, ch.
 * 8).
 */
export function easterDay(year: number): number {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const d = Math.floor(b / 4);
  const e = b % 4;
  const g = Math.floor((8 * b + 13) / 25);
  const h = (19 * a + b - d - g + 15) % 30;
  const i = Math.floor(c / 4);
  const k = c % 4;
  const l = (32 + 2 * e + 2 * i - h - k) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const month = Math.floor((h + l - 7 * m + 114) / 31);
  return dayOf(year, month, ((h + l - 7 * m + 114) % 31) + 1);
}

/** Dates parsed so far: every year asks for the same ones. */
const parsed = new Map<string, number>();

/** The day number of a date in the markets' data. */
export function dayOfText(text: string): number {
  const day = parsed.get(text) ?? parseDay(text);
  if (day === null) throw new Error(`${text} is not a date`);
  parsed.set(text, day);
  return day;
}

function nthWeekday(year: number, month: number, weekday: number, nth: number): number {
  if (nth > 0) {
    const first = dayOf(year, month, 1);
    return first + ((weekday - weekdayOf(first) + 7) % 7) + (nth - 1) * 7;
  }
  const last = dayOf(month === 12 ? year + 1 : year, month === 12 ? 1 : month + 1, 1) - 1;
  return last - ((weekdayOf(last) - weekday + 7) % 7);
}

/** Lists of dates that were read before, by year: every year asks for the same ones. */
const listed = new Map<string, ReadonlyMap<number, readonly number[]>>();

/** The days of a list of dates in a year. */
function listedDays(dates: string, year: number): readonly number[] {
  let byYear = listed.get(dates);
  if (byYear === undefined) {
    const days = dates
      .trim()
      .split(/\s+/)
      .flatMap((entry) => {
        const [first, last] = entry.split('/').map(dayOfText);
        if (last === undefined) return [first!];
        return Array.from({ length: last - first! + 1 }, (_, index) => first! + index).filter(
          (day) => weekdayOf(day) < 6,
        );
      });
    byYear = Map.groupBy(days, (day) => dateOf(day).year);
    listed.set(dates, byYear);
  }
  return byYear.get(year) ?? [];
}

function daysOf(rule: HolidayRule, year: number): number[] {
  if ('easter' in rule) return [easterDay(year) + rule.easter];
  const { plus = 0 } = rule;
  if ('dates' in rule) return listedDays(rule.dates, year).map((day) => day + plus);
  if ('nth' in rule) return [nthWeekday(year, rule.month, rule.weekday, rule.nth) + plus];
  return [dayOf(year, rule.month, rule.day) + plus];
}

/** Whether a date is observed on another one. */
function moves(day: number, observance: Observance | undefined): observance is Observance {
  const weekday = weekdayOf(day);
  if (observance === undefined || weekday < 6) return false;
  return weekday === 7 || !observance.startsWith('sunday');
}

/** Where a date on a weekend moves to; null where that depends on the other holidays. */
function observe(day: number, observance: Observance): number | null {
  if (observance.endsWith('-to-weekday')) return null;
  if (observance === 'weekend-to-friday') return day - (weekdayOf(day) - 5);
  return observance === 'nearest-weekday' && weekdayOf(day) === 6 ? day - 1 : day + 1;
}

/** No date moves by more days: no market is closed for longer. */
const MOVE_DAYS_MAX = 10;

/** The first weekday after a day on which the market is not closed. */
function nextOpen(day: number, isClosed: (day: number) => boolean): number {
  let next = day + 1;
  while (next < day + MOVE_DAYS_MAX && (weekdayOf(next) > 5 || isClosed(next))) next++;
  return next;
}

function applies(rule: HolidayRule, day: number): boolean {
  if (rule.weekdays !== undefined && !rule.weekdays.includes(weekdayOf(day))) return false;
  if (rule.from !== undefined && day < dayOfText(rule.from)) return false;
  return rule.to === undefined || day <= dayOfText(rule.to);
}

/** True if a rule closes the market for the whole day. */
export const isClosing = (rule: HolidayRule | null): boolean =>
  rule !== null && rule.open === undefined && rule.close === undefined;

/** The weekly pattern of a market on a date; before the first one, that one. */
export const hoursOn = ({ hours }: Market, day: number): Hours =>
  hours.findLast(({ from }) => dayOfText(from) <= day) ?? hours[0]!;

/** The rules by day. The years before and after count too: their dates may be observed in this one. */
function collect(rules: readonly HolidayRule[], year: number): Map<number, HolidayRule> {
  const found = new Map<number, HolidayRule>();
  const moving: [day: number, rule: HolidayRule][] = [];
  for (const rule of rules) {
    for (const origin of [year - 1, year, year + 1]) {
      for (const date of daysOf(rule, origin)) {
        const day = moves(date, rule.observed) ? observe(date, rule.observed) : date;
        if (day === null) moving.push([date, rule]);
        else if (applies(rule, day) && !found.has(day)) found.set(day, rule);
      }
    }
  }
  for (const [date, rule] of moving) {
    const day = nextOpen(date, (other) => isClosing(found.get(other) ?? null));
    if (applies(rule, day)) found.set(day, rule);
  }
  return found;
}

/**
 * The rule that ships for each day of a year that has one, ordinary trading days included; none outside the
 * market's years.
 */
export const shippedRules = (
  { years: [first, last], holidays }: Market,
  year: number,
): Map<number, HolidayRule> => collect(year >= first && year <= last ? holidays : [], year);

/** The rule of each closed or shortened day of a year; outside the market's years only overrides count. */
export function holidaysOf(market: Market, year: number): Map<number, HolidayRule> {
  const found = shippedRules(market, year);
  for (const [day, rule] of collect(market.overrides ?? [], year)) found.set(day, rule);
  for (const [day, rule] of found) {
    if (rule.regular || dateOf(day).year !== year) found.delete(day);
  }
  return found;
}
