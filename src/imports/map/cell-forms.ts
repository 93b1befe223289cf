// The forms of dates, times of day and numbers in a column, as its first cells show them, and how they are
// read.
import { numberOf } from '../../base/decimal.ts';
import { FileProblem } from '../read/file-problem.ts';
import { type Cell, groupedNumbers, type RichCell, suffixedNumber } from './cell.ts';

/** The caller's facts about a file where its rows do not tell them. */
export type Told = {
  readonly delimiter?: string | undefined;
  readonly encoding?: string | undefined;
  /** The form of dates for strptime. */
  readonly dateFormat?: string | undefined;
  readonly decimal?: string | undefined;
};

/** The first rows of a file by column. */
export type Beginning = {
  readonly header: readonly string[];
  readonly cellsIn: (column: string) => readonly string[];
  /** The cells that are not missing, with plain blanks and none around them. */
  readonly textsOf: (column: string) => readonly string[];
  /** True if a column has numbers of a type, with a decimal point. */
  readonly hasPoints: (column: string) => boolean;
  /** Whether its cells are separated by other than commas and tabs: then numbers with a comma are usual. */
  readonly isUnusual: boolean;
};

/** True if some texts are there, and all have a form. */
export const areAll = (texts: readonly string[], form: RegExp): boolean =>
  texts.length > 0 && texts.every((text) => form.test(text));

/** Forms of texts, each with that for strptime. */
type Forms = readonly (readonly [form: RegExp, format: string])[];

const formOf = (forms: Forms, texts: readonly string[]): string | undefined =>
  forms.find(([form]) => areAll(texts, form))?.[1];

const ISO = '%Y-%m-%d';

/** Forms of a date, some with its time, that have one meaning only. */
const DATES: Forms = [
  [/^\d{4}-\d\d-\d\d$/, ISO],
  [/^\d{4}-\d{1,2}-\d{1,2}$/, '%Y-%-m-%-d'],
  [/^\d{4}\.\d{1,2}\.\d{1,2}$/, '%Y.%m.%d'],
  [/^\d{4}\/\d{1,2}\/\d{1,2}$/, '%Y/%m/%d'],
  [/^(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/, '%Y%m%d'],
  [/^(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\.0$/, '%Y%m%d.0'],
  [/^(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d$/, '%Y%m%d%H%M'],
  [/^(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d[0-5]\d$/, '%Y%m%d%H%M%S'],
  [/^\d{4}年\d{1,2}月\d{1,2}日$/, '%Y年%m月%d日'],
  [/^\d{1,2}-[a-z]{3}-\d{4}$/i, '%d-%b-%Y'],
  [/^\d{1,2} [a-z]{3} \d{4}$/i, '%d %b %Y'],
  [/^[a-z]{3} \d{1,2}, \d{4}$/i, '%b %d, %Y'],
  [/^[a-z]{3} \d{1,2} \d{4}$/i, '%b %d %Y'],
  [/^[a-z]{3}, \d{1,2} [a-z]{3} \d{4}$/i, '%a, %d %b %Y'],
  [/^\d{1,2}-[a-z]{3}-\d\d$/i, '%d-%b-%y'],
  [/^\d\d[a-z]{3}\d{4}$/i, '%d%b%Y'],
  [/^\d{1,2} [a-z]{3,9} \d{4}$/i, '%d %B %Y'],
  [/^[a-z]{3,9} \d{1,2}, \d{4}$/i, '%B %d, %Y'],
  [/^[a-z]{6,9}, [a-z]{3,9} \d{1,2}, \d{4}$/i, '%A, %B %d, %Y'],
  [/^[a-z]{3} [a-z]{3} \d{1,2} \d{4}$/i, '%a %b %d %Y'],
];

/** Forms of a time of day. */
const CLOCKS: Forms = [
  [/^\d{1,2}:\d\d$/, '%H:%M'],
  [/^\d{1,2}:\d\d:\d\d$/, '%H:%M:%S'],
  [/^\d{1,2}:\d\d:\d\d\.\d+$/, '%H:%M:%S.%n'],
  [/^\d{1,2}:\d\d [AP]M$/i, '%I:%M %p'],
  [/^\d{1,2}:\d\d:\d\d [AP]M$/i, '%I:%M:%S %p'],
  [/^\d{1,2}:\d\d[AP]M$/i, '%I:%M%p'],
  [/^\d{1,2}:\d\d:\d\d[AP]M$/i, '%I:%M:%S%p'],
  [/^([01]?\d|2[0-3])[0-5]\d$/, '%H%M'],
  [/^([01]?\d|2[0-3])[0-5]\d[0-5]\d$/, '%H%M%S'],
];

/** A time of day as a number, `93000`, and one with hours: without such `100` may be 1:00 or 0:01:00. */
const CLOCK_NUMBER = /^(?:(?:(?:1?\d|2[0-3])?[0-5])?\d)?[0-5]?\d$/;
const HOURS_NUMBER = /^\d{5,6}$/;

const clockForm = (texts: readonly string[]): string | undefined =>
  formOf(CLOCKS, texts) ??
  (areAll(texts, CLOCK_NUMBER) && texts.some((text) => HOURS_NUMBER.test(text)) ? '%H%M%S' : undefined);

/** Names of columns with times of day. */
export const CLOCK_COLUMN =
  /^\s*<?(time|timestamp|zeit|uhrzeit|время|heure|hora|ora|时间|時間|時刻|시간)>?\s*$/i;

/** A text with a date, alone or before a time, or an epoch. */
export const DATED = /^\d{8,}(\.\d+)?$|^\d{1,4}([-./年]\d| ?[a-z]{3}|-[a-z]{3})|^[a-z]{3,}[ ,]/i;

/** A date before a time of day, or before one as a number. */
const CLOCKED = /^(.+?)(,? )(\d{1,2}:.*)$/;
const NUMBERED = /^(\d[\d./-]{5,9})( )(\d{1,6})$/;

/** A date with its time, or an epoch that is no time of day with parts of a second. */
export const TIMED =
  /\d:\d\d|^(?!(?:1\d|2[0-3])[0-5]\d[0-5]\d(?:\d{3}){1,4}(?:\.|$))[1-9]\d{8,9}(\d{3}){0,3}(\.\d+)?$/;

/** True if texts are dates of one meaning. */
export const areDays = (texts: readonly string[]): boolean => formOf(DATES, texts) !== undefined;

const NUMERIC_DATE = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)$/;
const WHOLE_DATE = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/;

/** The order of the day and the month in dates: `dm` or `md`; null where the dates have either. */
function orderOf(texts: readonly string[]): 'dm' | 'md' | null {
  const numbers = texts.map((text) => NUMERIC_DATE.exec(text)!);
  const [first, second] = [1, 3].map((part) => numbers.some((one) => Number(one[part]) > 12));
  if (first === second) return null;
  return first ? 'dm' : 'md';
}

/** True if dates may begin with their years, of two digits: only so in order, or by the number of years. */
function mayBeginWithYear(texts: readonly string[]): boolean {
  const parts = texts.map((text) => NUMERIC_DATE.exec(text)!.map(Number));
  const [byYear, byDay] = [
    [1, 3, 4],
    [4, 3, 1],
  ].map(([year, month, day]) => {
    // strptime has 69 in 1969, 68 in 2068.
    const numbers = parts.map((one) => ((one[year!]! + 31) % 100) * 10_000 + one[month!]! * 100 + one[day!]!);
    const signs = new Set(numbers.slice(1).map((number, row) => Math.sign(number - numbers[row]!)));
    return !(signs.has(1) && signs.has(-1));
  });
  if (byYear !== byDay) return byYear!;
  const [firsts, lasts] = [1, 4].map((part) => new Set(parts.map((one) => one[part])));
  // Of days and years the days are more.
  return lasts!.size >= firsts!.size;
}

/** The form of dates; undefined where it is none. @throws FileProblem where they have two meanings */
function dayFormat(
  name: string,
  column: string,
  texts: readonly string[],
  told: string | undefined,
  { header, textsOf }: Beginning,
): string | undefined {
  const known = formOf(DATES, texts);
  if (known !== undefined || !areAll(texts, NUMERIC_DATE))
    return known === ISO ? known : known && (told ?? known);
  if (told !== undefined) return told;
  const [, , separator, , year] = NUMERIC_DATE.exec(texts[0]!)!;
  const [day, month, short] = [
    ['%d', '%m', '%y'],
    ['%m', '%d', '%y'],
    ['%y', '%m', '%d'],
  ].map((parts) => parts.join(separator).replace(/%y$/, year!.length === 4 ? '%Y' : '%y'));
  // The dates of a file that look alike are in one order.
  const beside = (): readonly string[] =>
    header.flatMap((one) =>
      areAll(textsOf(one), WHOLE_DATE) && textsOf(one)[0]!.includes(separator!) ? textsOf(one) : [],
    );
  const order = orderOf(texts) ?? (year!.length === 4 ? orderOf(beside()) : null);
  const isOpen = order === 'dm' && year!.length === 2 && mayBeginWithYear(texts);
  if (order !== null && !isOpen) return order === 'dm' ? day : month;
  const [other, format] = isOpen ? ['year', short] : ['month', month];
  throw new FileProblem(
    'unfit',
    `${name}: the dates of ${column} (${texts[0]}) may begin with the day or with the ${other}. Say which: --date-format '${day}' or --date-format '${format}'`,
  );
}

/** True if two rows of one series, with none of it between them, share a day and differ in their times. */
function shareDays(
  { cellsIn }: Beginning,
  day: string,
  time: string,
  seriesFields: readonly string[],
): boolean {
  const [days, times] = [day, time].map(cellsIn) as [string[], string[]];
  const names = seriesFields.map(cellsIn);
  const last = new Map<string, number>();
  return days.some((one, row) => {
    const series = names.map((cells) => cells[row]).join('\0');
    const before = last.get(series);
    last.set(series, row);
    return before !== undefined && one !== '' && days[before] === one && times[before] !== times[row];
  });
}

/**
 * The form of the cells of a date, with the time in a column of its own where there is one: a column that is
 * ours has its own times, unless the other one tells the rows of a day apart.
 */
export function dateCell(
  name: string,
  beginning: Beginning,
  column: string,
  told: Told,
  about: Readonly<Record<'hasTime' | 'isPlain' | 'mayBeOdd', boolean>> & {
    /** The fields that tell the series of a row. */
    readonly seriesFields: readonly string[];
  },
): Cell {
  const { hasTime, isPlain, mayBeOdd, seriesFields } = about;
  const { header, textsOf } = beginning;
  const all = textsOf(column);
  const dated = mayBeOdd ? all.filter((text) => DATED.test(text)) : all;
  const parts = dated.map((text) => CLOCKED.exec(text) ?? NUMBERED.exec(text) ?? [text, text]);
  const days = parts.map(([, day]) => day!);
  const clocks = parts.flatMap(([, , , clock]) => clock ?? []);
  const gap = parts[0]?.[2] ?? ' ';
  const format = dayFormat(name, column, days, told.dateFormat, beginning);
  const other = header.find((one) => one !== column && CLOCK_COLUMN.test(one));
  // Where all times are midnight, the rows are days.
  const isTimed =
    other !== undefined &&
    !areAll(textsOf(other), /^[0:.]+$/) &&
    (!isPlain || shareDays(beginning, column, other, seriesFields));
  const join = hasTime && isTimed && clocks.length === 0 ? other : undefined;
  const clock = clockForm(join === undefined ? clocks : textsOf(join));
  if (format === undefined || (clocks.length > 0 && (clocks.length < days.length || clock === undefined)))
    return column;
  if (join !== undefined && clock !== undefined)
    return { column, join, format: withClock(format, ' ', clock) };
  if (format === ISO && gap === ' ' && clock?.startsWith('%H%M') !== true) return column;
  const odd = dated.length < all.length && { odd: 'missing' as const };
  return { column, format: clocks.length > 0 ? withClock(format, gap, clock!) : format, ...odd };
}

/** A form of dates with that of their times, unless the caller's has one. */
const withClock = (format: string, gap: string, clock: string): string =>
  /%[HI]/.test(format) ? format : format + gap + clock;

/** Numbers with groups of three digits, and a comma as the decimal mark, or a point. */
const [COMMA_DECIMAL, POINT_DECIMAL] = ([',', '.'] as const).map((mark) => {
  const other = mark === ',' ? '.' : ',';
  const apart = `(?!.*[${other}])(?:${groupedNumbers[' ']}|${groupedNumbers["'"]})`;
  return new RegExp(`^(?:[+-]?\\d+([${mark}]\\d+)?|${groupedNumbers[other]}|${apart})$`);
}) as [RegExp, RegExp];

const SUFFIXED = new RegExp(suffixedNumber, 'u');

/** Fields of which economic calendars give some in percent: the number before the sign. */
const isPercent = (field: string): boolean => /_value$|^change/.test(field);

/** The number in a cell, without signs and letters beside it; undefined where it has none. */
export function bareNumber(field: string, text: string): string | undefined {
  if (numberOf(text) !== null) return text;
  const { sign = '', second = '', digits } = SUFFIXED.exec(text)?.groups ?? {};
  if (digits === undefined || (text.includes('%') && !isPercent(field))) return undefined;
  return (sign + second).replace('−', '-') + digits;
}

/** True for a number of another form: of thousands, with a letter for its size, with a currency. */
export function isOtherNumber(text: string): boolean {
  const bare = bareNumber('', text.trim());
  return bare !== undefined && (COMMA_DECIMAL.test(bare) || POINT_DECIMAL.test(bare));
}

/** A price such as 110'165, which is 110 and 16.5/32 where bonds are traded. */
const THIRTY_SECONDS = /^\d{2,3}['’](?:[0-2]\d|3[01])[0257]$/;

/** @throws FileProblem where all prices may be in 32nds */
export function checkThirtySeconds(name: string, prices: readonly string[]): void {
  if (!areAll(prices, THIRTY_SECONDS)) return;
  throw new FileProblem(
    'unfit',
    `${name}: ${prices[0]} may be a number of thousands or a price in 32nds. Write 32nds as decimals, 110'165 as 110.515625; for thousands add --decimal .`,
  );
}

/**
 * The decimal mark of a file's numbers; undefined where they are written in several ways. @throws FileProblem
 * where they have two meanings
 */
export function decimalOf(
  name: string,
  texts: readonly string[],
  { isUnusual, hasPoints }: Readonly<Record<'isUnusual' | 'hasPoints', boolean>>,
): ',' | '.' | undefined {
  const marked = texts.filter((text) => /\d[.,'’ ]\d/.test(text));
  const [comma, point] = [COMMA_DECIMAL, POINT_DECIMAL].map((form) => areAll(marked, form));
  if (comma !== point && !(comma && hasPoints)) return comma ? ',' : '.';
  if (!comma) return undefined;
  const open = marked.filter((text) => /[.,]/.test(text));
  if (open.length === 0 || (!isUnusual && !open.some((text) => text.includes(',')))) return '.';
  throw new FileProblem(
    'unfit',
    `${name}: ${open[0]} may be a number of thousands or one with decimals. Say which mark is decimal: --decimal , or --decimal .`,
  );
}

/** The reading of a column of numbers. */
export function numberCell(
  field: string,
  column: string,
  cells: readonly string[],
  decimal: ',' | '.' | undefined,
  mayBeOdd: boolean,
): Cell {
  const bare = cells.map((text) => bareNumber(field, text) ?? (mayBeOdd ? undefined : text));
  const read = groupsCell(
    column,
    bare.filter((text) => text !== undefined),
    decimal,
  );
  const more = {
    ...(bare.some((text, row) => text !== undefined && text !== cells[row]) && { scale: 'suffix' as const }),
    ...(mayBeOdd && bare.includes(undefined) && { odd: 'missing' as const }),
  };
  if (Object.keys(more).length === 0) return read;
  // A factor makes a column one of numbers.
  return { ...(typeof read === 'string' ? { column } : read), scale: 1, ...more };
}

/** The marks in the numbers of a column. */
function groupsCell(
  column: string,
  texts: readonly string[],
  decimal: ',' | '.' | undefined,
): string | RichCell {
  if (decimal === undefined) return column;
  const marks = [' ', "'", decimal === ',' ? '.' : ','] as const;
  const thousands = marks.find((mark) => {
    const form = new RegExp(`^(?:${groupedNumbers[mark]})$`);
    return texts.some((text) => form.test(text));
  });
  if (decimal === ',') return { column, thousands: thousands ?? '.', decimal };
  return thousands === undefined ? column : { column, thousands };
}
