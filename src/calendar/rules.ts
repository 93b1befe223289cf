// Holiday rules -> days: which rule of a market holds on which date of a year.
import { dateOf, dayOf, parseDay, weekdayOf } from '../base/instant.ts';
import type { HolidayRule, Market, Observance, When } from './market.ts';

/** Easter Sunday of the western church: the anonymous Gregorian computus (Meeus, Astronomical Algorithms, ch. 8). */
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

/** The day number of a date in our own data. */
export function dayOfText(text: string): number {
  const day = parseDay(text);
  if (day === null) throw new Error(`${text} is not a date`);
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

function daysOf(when: When, year: number): number[] {
  if ('dates' in when) return when.dates.map(dayOfText).filter((day) => dateOf(day).year === year);
  if ('easter' in when) return [easterDay(year) + when.easter];
  const day =
    'nth' in when ? nthWeekday(year, when.month, when.weekday, when.nth) : dayOf(year, when.month, when.day);
  return [day + (when.plus ?? 0)];
}

function observe(day: number, observance: Observance | undefined): number {
  const weekday = weekdayOf(day);
  if (weekday === 7 && observance !== undefined) return day + 1;
  if (weekday === 6 && observance === 'nearest-weekday') return day - 1;
  return day;
}

function holds(rule: HolidayRule, day: number): boolean {
  if (rule.weekdays !== undefined && !rule.weekdays.includes(weekdayOf(day))) return false;
  if (rule.from !== undefined && day < dayOfText(rule.from)) return false;
  return rule.to === undefined || day <= dayOfText(rule.to);
}

/** The rule that holds on each closed or shortened day of a year; empty outside the market's years. The first rule wins. */
export function holidaysOf(market: Market, year: number): Map<number, HolidayRule> {
  const found = new Map<number, HolidayRule>();
  if (year < market.years[0] || year > market.years[1]) return found;
  for (const rule of market.holidays) {
    // A neighbouring year's date may be observed in this one.
    for (const origin of [year - 1, year, year + 1]) {
      for (const day of daysOf(rule.when, origin)) {
        const observed = observe(day, rule.observed);
        if (dateOf(observed).year === year && holds(rule, observed) && !found.has(observed))
          found.set(observed, rule);
      }
    }
  }
  return found;
}
