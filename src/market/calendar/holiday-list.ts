// The closed and shortened days of a calendar in order, with the hours that shortened ones have (contract
// 8.6).
import { dateOf, dayOf, weekdayOf } from '../../base/instant.ts';
import type { Calendar } from './calendar.ts';
import type { HolidayRule } from './market.ts';
import { hoursOn } from './rules.ts';

/** One closed or shortened day. */
export type Holiday = {
  readonly day: number;
  readonly rule: HolidayRule;
  readonly template: 'CLOSED' | 'EARLY_CLOSE' | 'LATE_OPEN';
  /** Of the shortened session; null where the market is closed. */
  readonly openMs: number | null;
  readonly closeMs: number | null;
};

function holidaysOfYear(calendar: Calendar, year: number): Holiday[] {
  const sessions = new Map(
    calendar.sessions(dayOf(year, 1, 1), dayOf(year + 1, 1, 1)).map((session) => [session.day, session]),
  );
  const found: Holiday[] = [];
  for (const [day, rule] of calendar.holidays(year)) {
    const session = sessions.get(day);
    if (session === undefined && hoursOn(calendar.market, day).weekdays.includes(weekdayOf(day)))
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

/** The holidays of calendars, by year. */
const known = new WeakMap<Calendar, Map<number, readonly Holiday[]>>();

/**
 * The closed and shortened days of a calendar from one day to another, both included; a year is built when it
 * is reached.
 */
export function* holidaysIn(
  calendar: Calendar,
  fromDay: number,
  toDay: number,
  sort: 'asc' | 'desc' = 'asc',
): Generator<Holiday> {
  const holidays = known.get(calendar) ?? new Map<number, readonly Holiday[]>();
  known.set(calendar, holidays);
  const years = yearsOf(calendar);
  const [first, last] = [dateOf(fromDay).year, dateOf(toDay).year];
  for (const year of sort === 'asc' ? years : years.toReversed()) {
    if (year < first || year > last) continue;
    const found = holidays.get(year) ?? holidaysOfYear(calendar, year);
    holidays.set(year, found);
    for (const holiday of sort === 'asc' ? found : found.toReversed())
      if (holiday.day >= fromDay && holiday.day <= toDay) yield holiday;
  }
}
