// Interval codes: the twelve of the specification, their aliases, and any other whole number of minutes
// (contract 3.1).
import { upperAscii } from './identifiers.ts';

/** `1M` is one minute, `MON` a month. Minute intervals are `<n>M`, n 1..1440 without leading zeros. */
export type Interval = string & { readonly __interval: unique symbol };

/** An interval as a program writes it: `5M`, `DAY`. Other minutes than 1..1440 are refused. */
export type IntervalCode = `${number}M` | 'DAY' | 'WEEK' | 'MON';

const namedMinutes = [1, 3, 5, 10, 15, 30, 60, 120, 240];

/** The intervals named by the contract, finest first. */
export const namedIntervals: readonly string[] = [
  ...namedMinutes.map((minutes) => `${minutes}M`),
  'DAY',
  'WEEK',
  'MON',
];

/** The most minutes that a minute interval may have: a day. */
export const INTERVAL_MINUTES_MAX = 1440;

const aliases: Readonly<Record<string, string>> = Object.fromEntries([
  ...[1, 2, 4].map((hours) => [`${hours}H`, `${60 * hours}M`]),
  ...['1D', 'DAY'].map((alias) => [alias, 'DAY']),
  ...['1W', 'WEEK'].map((alias) => [alias, 'WEEK']),
  ...['1MO', 'MON', 'MONTH'].map((alias) => [alias, 'MON']),
]);

/** The text that an error lists as allowed. */
export const intervalsAllowed = `${namedIntervals.join(', ')}, or any other whole number of minutes from 1M to 1440M`;

/** Reads an interval in any letter case or alias; null for anything else. */
export function parseInterval(text: string): Interval | null {
  if (text.length > 8) return null;
  const upper = upperAscii(text);
  const named = Object.hasOwn(aliases, upper) ? aliases[upper] : undefined;
  if (named !== undefined) return named as Interval;
  const match = /^([1-9]\d{0,3})M(?:IN)?$/.exec(upper);
  if (match === null || Number(match[1]) > INTERVAL_MINUTES_MAX) return null;
  return `${match[1]}M` as Interval;
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
