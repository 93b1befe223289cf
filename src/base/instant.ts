// Instants as epoch milliseconds (UTC) and days as whole days since 1970-01-01; ISO 8601 in and out (contract
// 2).

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** The first and the last year that any date may have (contract 2.4). */
export const YEAR_MIN = 1900;
export const YEAR_MAX = 2200;

/** The first day and instant of those years, and the first day and instant after them. */
export const FIRST_DAY = dayOf(YEAR_MIN, 1, 1);
export const END_DAY = dayOf(YEAR_MAX + 1, 1, 1);
export const FIRST_MS = FIRST_DAY * DAY_MS;
export const END_MS = END_DAY * DAY_MS;

/** A parsed date parameter or date cell: a calendar day, or a moment with or without an offset. */
export type ParsedInstant =
  | { readonly kind: 'date'; readonly day: number }
  | {
      readonly kind: 'time';
      readonly ms: number;
      /** True if it is later than its `ms`, by less than a millisecond. */
      readonly isLater: boolean;
      readonly hasOffset: boolean;
      readonly day: number;
    };

/**
 * The ways to compare stored times with a bound: as days, with the bound's date as written; or as instants,
 * where a date is a UTC day.
 */
export type TimeKind = 'day' | 'instant';

/** The first day or millisecond of an inclusive bound (contract 2.2, 2.3). */
export function startOf(bound: ParsedInstant, kind: TimeKind): number {
  if (kind === 'day') return bound.day;
  if (bound.kind === 'date') return bound.day * DAY_MS;
  // A client that goes on a microsecond after the last record does not get it again.
  return bound.isLater ? bound.ms + 1 : bound.ms;
}

/** The first day or millisecond after an inclusive bound. */
export function endOf(bound: ParsedInstant, kind: TimeKind): number {
  if (kind === 'day') return bound.day + 1;
  return bound.kind === 'date' ? (bound.day + 1) * DAY_MS : bound.ms + 1;
}

/**
 * True if two inclusive bounds are in order, by the half-open range that is made of them: two moments inside
 * one millisecond are, and nothing is between them.
 */
export const areInOrder = (from: ParsedInstant, first: number, end: number, kind: TimeKind): boolean =>
  first < end || (first === end && kind === 'instant' && from.kind === 'time' && from.isLater);

/**
 * Days since 1970-01-01 of a date of the proleptic Gregorian calendar; month 1..12, day 1..31, not checked.
 */
export function dayOf(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** Year, month 1..12 and day 1..31 of a day number: the inverse of `dayOf`. */
export function dateOf(day: number): { year: number; month: number; day: number } {
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthPart = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthPart + (monthPart < 10 ? 3 : -9);
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * monthPart + 2) / 5) + 1,
  };
}

/** ISO weekday of a day number: 1 Monday .. 7 Sunday. */
export function weekdayOf(day: number): number {
  return ((((day + 3) % 7) + 7) % 7) + 1;
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
/**
 * After a space the seconds must be there: of a query string, ` 05:30` may also be the offset of a date,
 * `+05:30`.
 */
const TIME =
  /^(?! \d{2}:\d{2}(?!:))[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|[+\- ]\d{2}:?\d{2})?$/;

/**
 * The day number of `YYYY-MM-DD`, or null when it is not a real day of the years 1900 to 2200 (contract 2.4).
 */
export function parseDay(text: string): number | null {
  const match = DATE.exec(text);
  if (match === null) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (year < YEAR_MIN || year > YEAR_MAX || month < 1 || month > 12 || day < 1) return null;
  const number = dayOf(year, month, day);
  return dateOf(number).day === day ? number : null;
}

/**
 * Minutes of an offset: `Z`, `+05:30`, `-0500`; null where it is a day or more. A raw `+` of a query string
 * arrives as a space.
 */
function offsetMinutes(text: string): number | null {
  if (text === 'Z' || text === 'z') return 0;
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(-2))];
  if (hours > 23 || minutes > 59) return null;
  return (text[0] === '-' ? -1 : 1) * (hours * 60 + minutes);
}

/**
 * Reads a date or a date-time in the forms of contract 2.1; null for anything else. Without an offset the
 * time is UTC.
 */
export function parseInstant(text: string): ParsedInstant | null {
  if (text.length > 40) return null;
  const day = parseDay(text.slice(0, 10));
  if (day === null) return null;
  if (text.length === 10) return { kind: 'date', day };
  const time = TIME.exec(text.slice(10));
  if (time === null) return null;
  const [hours, minutes, seconds] = [Number(time[1]), Number(time[2]), Number(time[3] ?? 0)];
  const offset = time[5] === undefined ? 0 : offsetMinutes(time[5]);
  if (offset === null || hours > 23 || minutes > 59 || seconds > 59) return null;
  const fraction = (time[4] ?? '').padEnd(9, '0');
  const localMs =
    day * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS + Number(fraction.slice(0, 3));
  const isLater = Number(fraction.slice(3)) > 0;
  return { kind: 'time', ms: localMs - offset * MINUTE_MS, isLater, hasOffset: time[5] !== undefined, day };
}

const pad2 = (value: number): string => (value < 10 ? `0${value}` : String(value));

/** `YYYY-MM-DD` of a day number. */
export function formatDay(day: number): string {
  const date = dateOf(day);
  return `${String(date.year).padStart(4, '0')}-${pad2(date.month)}-${pad2(date.day)}`;
}

function formatClock(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  const seconds = Math.floor((ms - day * DAY_MS) / SECOND_MS);
  const clock = `${pad2(Math.floor(seconds / 3600))}:${pad2(Math.floor(seconds / 60) % 60)}:${pad2(seconds % 60)}`;
  return `${formatDay(day)}T${clock}`;
}

/** `2024-08-05T07:50:00Z`, the form of economic events and of the option map's keys (contract 2.4). */
export function formatInstantZ(ms: number): string {
  return `${formatClock(ms)}Z`;
}

/** `2025-07-18T00:30:00+00:00`, the form of bars, news and expirations (contract 2.4). */
export function formatInstant(ms: number): string {
  return `${formatClock(ms)}+00:00`;
}
