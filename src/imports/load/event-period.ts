// The period that an economic event is about, by its label: `Dec`, `Q3`, `2024` (contract 8.7).
import { DAY_MS, dateOf } from '../../base/instant.ts';

/** A label, and the year of its period. */
export type EventPeriod = { readonly label: string; readonly year: number };

/** A year anywhere in a label, alone or before a month and a day: `2024`, `Dec 2023`, `2024Q3`, `202412`. */
const YEAR = /(?<!\d)(19\d\d|2[01]\d\d|2200)(?:\d\d){0,2}(?!\d)/;

const months = [
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july'],
  ...['august', 'september', 'october', 'november', 'december'],
];

/** The first month of a month, quarter or half, 1 to 12; null for any other label. */
function firstMonth(label: string): number | null {
  const text = label.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const [, quarter = '', half = ''] =
    /^(?:q([1-4])|h([12]))$/.exec(text.replace(/^(\d)([qh])$/, '$2$1')) ?? [];
  if (quarter !== '') return 3 * Number(quarter) - 2;
  if (half !== '') return 6 * Number(half) - 5;
  const month = text.length < 3 ? -1 : months.findIndex((name) => name.startsWith(text));
  return month < 0 ? null : month + 1;
}

/** A period begins at most so long after its release. */
const AHEAD_DAYS = 45;

/**
 * The period of an event that is released at an instant; null where the label does not tell it. A label
 * without a year is of the year in which it begins nearest to the release: the last one that has begun or
 * begins soon.
 */
export function eventPeriod(label: unknown, releaseMs: number): EventPeriod | null {
  if (typeof label !== 'string') return null;
  const named = YEAR.exec(label)?.[1];
  if (named !== undefined) return { label, year: Number(named) };
  const first = firstMonth(label);
  if (first === null) return null;
  const { year, month } = dateOf(Math.floor(releaseMs / DAY_MS) + AHEAD_DAYS);
  return { label, year: month >= first ? year : year - 1 };
}
