// The closed and shortened days of a calendar in order, with the hours that shortened ones have (contract 8.6).
import { dateOf, dayOf, weekdayOf } from '../base/instant.ts';
import type { Calendar } from './calendar.ts';
import type { HolidayRule } from './market.ts';
import { dayOfText } from './rules.ts';

/** One closed or shortened day. */
export type Holiday = {
  readonly day: number;
  readonly rule: HolidayRule;
  readonly template: 'CLOSED' | 'EARLY_CLOSE' | 'LATE_OPEN';
  /** Of the shortened session; null where the market is closed. */
  readonly openMs: number | null;
  readonly closeMs: number | null;
};

/** Whether a day would be a session if it were no holiday. */
function isTradingDay({ market }: Calendar, day: number): boolean {
  const pattern = market.hours.findLast(({ from }) => dayOfText(from) <= day) ?? market.hours[0]!;
  return pattern.weekdays.includes(weekdayOf(day));
}

function holidaysOfYear(calendar: Calendar, year: number): Holiday[] {
  const sessions = new Map(
    calendar.sessions(dayOf(year, 1, 1), dayOf(year + 1, 1, 1)).map((session) => [session.day, session]),
  );
  const found: Holiday[] = [];
  for (const [day, rule] of calendar.holidays(year)) {
    const session = sessions.get(day);
    if (session === undefined && isTradingDay(calendar, day))
      found.push({ day, rule, template: 'CLOSED', openMs: null, closeMs: null });
    else if (session !== undefined && session.template !== 'REGULAR')
      found.push({ day, rule, template: session.template, openMs: session.openMs, closeMs: session.closeMs });
  }
  return found.sort((a, b) => a.day - b.day);
}

/** The years in which a calendar can have holidays, ascending: those that ship and those of overrides. */
function yearsOf({ market, overrideYears }: Calendar): number[] {
  const years = new Set(overrideYears);
  if (market.holidays.length > 0)
    for (let year = market.years[0]; year <= market.years[1]; year++) years.add(year);
  return [...years].sort((a, b) => a - b);
}

type Known = { readonly years: readonly number[]; readonly holidays: Map<number, readonly Holiday[]> };
const kept = new WeakMap<Calendar, Known>();

function knownOf(calendar: Calendar): Known {
  let known = kept.get(calendar);
  if (known === undefined) {
    known = { years: yearsOf(calendar), holidays: new Map() };
    kept.set(calendar, known);
  }
  return known;
}

/** The closed and shortened days of a calendar from one day to another, both included; a year is built when it is reached. */
export function* holidaysIn(
  calendar: Calendar,
  fromDay: number,
  toDay: number,
  sort: 'asc' | 'desc' = 'asc',
): Generator<Holiday> {
  const { years, holidays } = knownOf(calendar);
  const [first, last] = [dateOf(fromDay).year, dateOf(toDay).year];
  for (const year of sort === 'asc' ? years : years.toReversed()) {
    if (year < first || year > last) continue;
    const found = holidays.get(year) ?? holidaysOfYear(calendar, year);
    holidays.set(year, found);
    for (const holiday of sort === 'asc' ? found : found.toReversed())
      if (holiday.day >= fromDay && holiday.day <= toDay) yield holiday;
  }
}
