// Interval codes: the twelve of the specification, their aliases, and any other whole number of minutes (contract 3.1).
import { upperAscii } from './identifiers.ts';

/** `1M` is one minute, `MON` a month. Minute intervals are `<n>M`, n 1..1440 without leading zeros. */
export type Interval = string & { readonly __interval: unique symbol };

/** The intervals named by the contract, finest first. */
export const namedIntervals: readonly string[] = [
  '1M',
  '3M',
  '5M',
  '10M',
  '15M',
  '30M',
  '60M',
  '120M',
  '240M',
  'DAY',
  'WEEK',
  'MON',
];

/** The most minutes that a minute interval may have: a day. */
export const INTERVAL_MINUTES_MAX = 1440;

const aliases: Readonly<Record<string, string>> = {
  '1MIN': '1M',
  '3MIN': '3M',
  '5MIN': '5M',
  '10MIN': '10M',
  '15MIN': '15M',
  '30MIN': '30M',
  '60MIN': '60M',
  '120MIN': '120M',
  '240MIN': '240M',
  '1H': '60M',
  '2H': '120M',
  '4H': '240M',
  '1D': 'DAY',
  DAY: 'DAY',
  '1W': 'WEEK',
  WEEK: 'WEEK',
  '1MO': 'MON',
  MON: 'MON',
  MONTH: 'MON',
};

/** What an error lists as allowed. */
export const intervalsAllowed = `${namedIntervals.join(', ')}, or any other whole number of minutes from 1M to 1440M`;

/** Reads an interval in any letter case or alias; null for anything else. */
export function parseInterval(text: string): Interval | null {
  if (text.length > 8) return null;
  const upper = upperAscii(text);
  const named = Object.hasOwn(aliases, upper) ? aliases[upper] : undefined;
  if (named !== undefined) return named as Interval;
  const match = /^([1-9]\d{0,3})M$/.exec(upper);
  if (match === null || Number(match[1]) > INTERVAL_MINUTES_MAX) return null;
  return upper as Interval;
}

/** The interval of a literal. @throws for any other text */
export function interval(code: string): Interval {
  const parsed = parseInterval(code);
  if (parsed === null) throw new Error(`${code} is not an interval`);
  return parsed;
}

/** Minutes of a minute interval, or null for DAY, WEEK and MON. */
export function intervalMinutes(code: Interval): number | null {
  return code.endsWith('M') ? Number(code.slice(0, -1)) : null;
}
