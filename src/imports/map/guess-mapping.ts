// The columns of a file that nobody described: what its header and its beginning show surely, and what only
// the caller can say.
import { numberOf } from '../../base/decimal.ts';
import { contentProblem, FileProblem, unfitProblem } from '../read/file-problem.ts';
import { ordersOf } from '../read/reshape.ts';
import { cellsOf, linesOf, NOT_UTF8, type Sample } from '../read/sample.ts';
import type { Cell, groupedNumbers, RichCell } from './cell.ts';
import { type ColumnMapping, claimsOf, type FieldNames, lastKey, withoutObjects } from './column-mapping.ts';
import { InstantCell } from './instant-cell.ts';

/** The caller's facts about a file where its rows do not tell them. */
export type Told = {
  readonly delimiter?: string | undefined;
  readonly encoding?: string | undefined;
  /** The form of dates for strptime. */
  readonly dateFormat?: string | undefined;
  readonly decimal?: string | undefined;
};

/** Where a text has its header, and what separates its cells. */
type Place = { readonly delimiter: string; readonly skip: number; readonly header: readonly string[] };

/**
 * The beginning of a file: its columns, the cells of each, and those that are not missing; none of Parquet.
 */
type Table = {
  readonly header: readonly string[];
  readonly cellsIn: (column: string) => readonly string[];
  readonly textsOf: (column: string) => readonly string[];
  /** True if numbers of a column are those of JSON, with a decimal point. */
  readonly hasPoints: (column: string) => boolean;
  /** Whether its cells are separated by other than commas and tabs: then numbers with a comma are usual. */
  readonly isUnusual: () => boolean;
};

const DELIMITERS = [',', ';', '\t', '|'];

/** Lines above a header are few. */
const TITLES_MAX = 20;

/** Whether a row can be a header: different names, none of which begins as a number. */
const areNames = (row: readonly string[]): boolean =>
  row.length > 1 && new Set(row).size === row.length && !row.some((cell) => /^[-+.\d]/.test(cell));

/** The header is the first line that has as many cells as the line below it, and several. */
function placeOf(sample: Sample, told: Pick<Told, 'delimiter'>): Place | undefined {
  const lines = sample.text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  // The last one may be incomplete.
  if (sample.isCut) lines.pop();
  const found = (told.delimiter === undefined ? DELIMITERS : [told.delimiter]).flatMap((delimiter) => {
    const cells = lines.map((line) => cellsOf(line, delimiter) ?? []);
    const skip = cells.findIndex((row, at) => areNames(row) && row.length === cells[at + 1]?.length);
    return skip < 0 || skip > TITLES_MAX ? [] : [{ delimiter, skip, header: cells[skip]! }];
  });
  // Of several characters the separator makes the most columns.
  return found.sort((a, b) => b.header.length - a.header.length)[0];
}

/** Texts for a missing value. */
const MISSING = /^(|-+|#?n\/?a|<na>|nan|nat|null|none)$/i;

const JSON_START = /^[\s\ufeff]*[[{]/;

/** A value of JSON, with its key behind those of the objects and lists around it. */
type JsonValue = { readonly keys: readonly string[]; readonly text: string; readonly isText: boolean };

/** The values in the beginning of JSON that are texts or numbers and have a key. */
function jsonValuesOf(text: string): readonly JsonValue[] {
  const around: string[] = [];
  const values: JsonValue[] = [];
  let [held, key] = ['', ''];
  // The beginning may end within a text: to look for texts behind each quote in that would take very long.
  for (const [token, quoted] of text.matchAll(/"((?:[^"\\]|\\.)*)(?:"|\\?$)|[{}[\]:,]|[-+.\w]+/g)) {
    if (token === ':') key = held;
    else if (token === ',') key = '';
    else if (token === '{' || token === '[') {
      around.push(key);
      key = '';
    } else if (token === '}' || token === ']') around.pop();
    else if (key !== '') {
      const keys = [...around.filter((one) => one !== ''), key];
      values.push({ keys, text: quoted ?? token, isText: quoted !== undefined });
    } else held = quoted ?? '';
  }
  return values;
}

/** The values of a column, which are within no object of the rows, or of a path within one. */
function valuesAt(values: readonly JsonValue[], column: string, isPath: boolean, objects: readonly string[]) {
  const wanted = (isPath ? column.replaceAll('[]', '').split('.') : [column]).map((key) =>
    JSON.stringify(key).slice(1, -1),
  );
  return values.filter(
    ({ keys }) =>
      wanted.every((key, at) => keys.at(at - wanted.length) === key) &&
      (isPath || !keys.slice(0, -1).some((key) => objects.includes(key))),
  );
}

/** The rows below the header of a text; none where they are not there. */
function rowsOf(sample: Sample, header: readonly string[], told: Told) {
  const lines = linesOf(sample);
  for (const delimiter of told.delimiter === undefined ? DELIMITERS : [told.delimiter]) {
    const at = lines.findIndex((line) => cellsOf(line, delimiter)?.join('\0') === header.join('\0'));
    if (at >= 0)
      return { delimiter, rows: lines.slice(at + 1).map((line) => cellsOf(line, delimiter) ?? []) };
  }
  return { delimiter: ',', rows: [] };
}

/** `opened` are the columns that are paths; `objects` are none. */
function tableOf(
  sample: Sample,
  header: readonly string[],
  told: Told,
  { opened, objects }: Readonly<Record<'opened' | 'objects', readonly string[]>>,
): Table {
  const isJson = JSON_START.test(sample.text);
  // Most files have our own names: their rows need no look.
  const rows = lazily(() => rowsOf(sample, header, told));
  const known = new Map<string, readonly string[]>();
  const values = lazily(() => jsonValuesOf(sample.text));
  const valuesIn = (column: string): readonly JsonValue[] =>
    valuesAt(values(), column, opened.includes(column), objects);
  const cellsIn = (column: string): readonly string[] => {
    const at = header.indexOf(column);
    return isJson ? valuesIn(column).map(({ text }) => text) : rows().rows.map((row) => row[at] ?? '');
  };
  return {
    header,
    cellsIn,
    textsOf(column) {
      const texts = known.get(column) ?? cellsIn(column).filter((text) => !MISSING.test(text));
      known.set(column, texts);
      return texts;
    },
    hasPoints: (column) =>
      isJson && valuesIn(column).some(({ text, isText }) => !isText && /\d\.\d/.test(text)),
    isUnusual: () => !isJson && !/[,\t]/.test(rows().delimiter),
  };
}

function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const areAll = (texts: readonly string[], pattern: RegExp): boolean =>
  texts.length > 0 && texts.every((text) => pattern.test(text));

/** Forms of a time of day, with those for strptime. */
const CLOCKS: readonly (readonly [form: RegExp, format: string])[] = [
  [/^\d{1,2}:\d\d$/, '%H:%M'],
  [/^\d{1,2}:\d\d:\d\d$/, '%H:%M:%S'],
  [/^\d{1,2}:\d\d:\d\d\.\d+$/, '%H:%M:%S.%n'],
  [/^\d{1,2}:\d\d [AP]M$/i, '%I:%M %p'],
  [/^\d{1,2}:\d\d:\d\d [AP]M$/i, '%I:%M:%S %p'],
  [/^([01]?\d|2[0-3])[0-5]\d$/, '%H%M'],
  [/^([01]?\d|2[0-3])[0-5]\d[0-5]\d$/, '%H%M%S'],
];

/** Forms of a date that have one meaning only. */
const DATES: readonly (readonly [form: RegExp, format: string])[] = [
  [/^\d{4}-\d\d-\d\d$/, '%Y-%m-%d'],
  [/^\d{4}\.\d{1,2}\.\d{1,2}$/, '%Y.%m.%d'],
  [/^\d{4}\/\d{1,2}\/\d{1,2}$/, '%Y/%m/%d'],
  [/^(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/, '%Y%m%d'],
  [/^(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\.0$/, '%Y%m%d.0'],
  [/^\d{4}年\d{1,2}月\d{1,2}日$/, '%Y年%m月%d日'],
  [/^\d{1,2}-[a-z]{3}-\d{4}$/i, '%d-%b-%Y'],
  [/^\d{1,2} [a-z]{3} \d{4}$/i, '%d %b %Y'],
  [/^[a-z]{3} \d{1,2}, \d{4}$/i, '%b %d, %Y'],
  [/^\d{1,2}-[a-z]{3}-\d\d$/i, '%d-%b-%y'],
  [/^\d\d[a-z]{3}\d{4}$/i, '%d%b%Y'],
  [/^\d{1,2} [a-z]{3,9} \d{4}$/i, '%d %B %Y'],
  [/^[a-z]{3,9} \d{1,2}, \d{4}$/i, '%B %d, %Y'],
  [/^[a-z]{6,9}, [a-z]{3,9} \d{1,2}, \d{4}$/i, '%A, %B %d, %Y'],
  [/^[a-z]{3} [a-z]{3} \d{1,2} \d{4}$/i, '%a %b %d %Y'],
];

const formOf = (
  forms: readonly (readonly [form: RegExp, format: string])[],
  texts: readonly string[],
): string | undefined => forms.find(([form]) => areAll(texts, form))?.[1];

const CLOCK_COLUMN = /^<?(time|timestamp|zeit|uhrzeit|время|heure|hora|ora|时间|時間|時刻|시간)>?$/i;
const NUMERIC_DATE = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)$/;

/** A text with a date, alone or before a time, or an epoch. */
const DATED = /^\d{8,}(\.\d+)?$|^\d{1,4}([-./年]\d| ?[a-z]{3}|-[a-z]{3})|^[a-z]{3,}[ ,]/i;

/** The order of the day and the month in dates: `dm` or `md`; null where the dates have either. */
function orderOf(texts: readonly string[]): 'dm' | 'md' | null {
  const numbers = texts.map((text) => NUMERIC_DATE.exec(text)!);
  const [first, second] = [1, 3].map((part) => numbers.some((one) => Number(one[part]) > 12));
  if (first === second) return null;
  return first ? 'dm' : 'md';
}

/** True if dates with years of two digits may begin with them: only so in order, or by the number of years. */
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
): string | undefined {
  const known = formOf(DATES, texts);
  if (known !== undefined || !areAll(texts, NUMERIC_DATE))
    return known !== undefined && known !== ISO ? (told ?? known) : known;
  const [, , separator, , year] = NUMERIC_DATE.exec(texts[0]!)!;
  const formatOf = (order: 'dm' | 'md'): string =>
    [...(order === 'dm' ? ['%d', '%m'] : ['%m', '%d']), year!.length === 4 ? '%Y' : '%y'].join(separator);
  if (told !== undefined) return told;
  const order = orderOf(texts);
  const isOpen = order === 'dm' && year!.length === 2 && mayBeginWithYear(texts);
  if (order !== null && !isOpen) return formatOf(order);
  const [other, format] = isOpen ? ['year', ['%y', '%m', '%d'].join(separator)] : ['month', formatOf('md')];
  throw new FileProblem(
    'unfit',
    `${name}: the dates of ${column} (${texts[0]}) may begin with the day or with the ${other}. Say which: --date-format '${formatOf('dm')}' or --date-format '${format}'`,
  );
}

const ISO = '%Y-%m-%d';

/** True if two rows of one series, with none of it between them, share a day and differ in their times. */
function shareDays({ cellsIn }: Table, day: string, time: string, seriesFields: readonly string[]): boolean {
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
function dateCell(
  name: string,
  table: Table,
  column: string,
  told: Told,
  about: Readonly<Record<'hasTime' | 'isPlain' | 'mayBeOdd', boolean>> & {
    /** The fields that tell the series of a row. */
    readonly seriesFields: readonly string[];
  },
): Cell {
  const { hasTime, isPlain, mayBeOdd, seriesFields } = about;
  const { header, textsOf } = table;
  const all = textsOf(column);
  const dated = mayBeOdd ? all.filter((text) => DATED.test(text)) : all;
  const parts = dated.map((text) => text.split(/ (?=\d{1,2}:)/));
  const days = parts.map(([day]) => day!);
  const clocks = parts.flatMap(([, clock]) => clock ?? []);
  const format = dayFormat(name, column, days, told.dateFormat);
  const other = header.find((one) => one !== column && CLOCK_COLUMN.test(one.trim()));
  // Where all times are midnight, the rows are days.
  const isTimed =
    other !== undefined &&
    !areAll(textsOf(other), /^[0:.]+$/) &&
    (!isPlain || shareDays(table, column, other, seriesFields));
  const join = hasTime && isTimed && clocks.length === 0 ? other : undefined;
  const clock = formOf(CLOCKS, join === undefined ? clocks : textsOf(join));
  if (format === undefined || (clocks.length > 0 && (clocks.length < days.length || clock === undefined)))
    return column;
  if (join !== undefined && clock !== undefined) return { column, join, format: withClock(format, clock) };
  if (format === ISO) return column;
  const odd = dated.length < all.length && { odd: 'missing' as const };
  return { column, format: clocks.length > 0 ? withClock(format, clock!) : format, ...odd };
}

/** A form of dates with that of their times, unless the caller's has one. */
const withClock = (format: string, clock: string): string =>
  /%[HI]/.test(format) ? format : `${format} ${clock}`;

/** Numbers with groups of three digits, and a comma as the decimal mark, or a point. */
const COMMA_DECIMAL =
  /^[+-]?(\d+|\d{1,3}(?:\.\d{3})+|\d{1,3}(?:[ \u00a0\u202f]\d{3})+|\d{1,3}(?:['’]\d{3})+)(,\d+)?$/;
const POINT_DECIMAL =
  /^[+-]?(\d+|\d{1,3}(?:,\d{3})+|\d{1,3}(?:[ \u00a0\u202f]\d{3})+|\d{1,3}(?:['’]\d{3})+)(\.\d+)?$/;
const NUMBER = /^[+-]?(\d[\d.,'’ \u00a0\u202f]*|\.\d+)(e[+-]?\d+)?$/i;

/** Numbers with the sign of a currency, or with a letter for their size behind them. */
const SUFFIXED = /^(?:[+-]?\p{Sc} ?[+-]?|[+-]?)(\d[\d.,'’ \u00a0\u202f]*) ?[kmbt]?(?: ?\p{Sc})?$/iu;
const PERCENT = /^[+-]?(\d[\d.,'’ \u00a0\u202f]*) ?%$/;

/** Fields of which economic calendars give some in percent: the number before the sign. */
const isPercent = (field: string): boolean => /_value$|^change/.test(field);

/** The number in a cell, without signs and letters beside it; undefined where it has none. */
function bareNumber(field: string, text: string): string | undefined {
  if (NUMBER.test(text)) return text;
  const [, bare] = (isPercent(field) ? PERCENT.exec(text) : null) ?? SUFFIXED.exec(text) ?? [];
  return bare?.trim();
}

/** A price such as 110'165, which is 110 and 16.5/32 where bonds are traded. */
const THIRTY_SECONDS = /^\d{2,3}['’](?:[0-2]\d|3[01])[0257]$/;

/** @throws FileProblem where all prices may be in 32nds */
function checkThirtySeconds(name: string, prices: readonly string[]): void {
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
function decimalOf(
  name: string,
  texts: readonly string[],
  told: string | undefined,
  { isUnusual, hasPoints }: Readonly<Record<'isUnusual' | 'hasPoints', boolean>>,
): ',' | '.' | undefined {
  const marked = texts.filter((text) => /\d[.,'’ \u00a0\u202f]\d/.test(text));
  if (told !== undefined) return told === ',' ? ',' : '.';
  const [comma, point] = [COMMA_DECIMAL, POINT_DECIMAL].map((pattern) => areAll(marked, pattern));
  if (comma !== point && !(comma && hasPoints)) return comma ? ',' : '.';
  if (!comma) return undefined;
  if (!isUnusual && !marked.some((text) => text.includes(','))) return '.';
  throw new FileProblem(
    'unfit',
    `${name}: ${marked.find((text) => /[.,]/.test(text) && POINT_DECIMAL.test(text))} may be a number of thousands or one with decimals. Say which mark is decimal: --decimal , or --decimal .`,
  );
}

/** How the cells of a column of numbers are read. */
function numberCell(
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
  const [spaced, quoted] = [/\d[ \u00a0\u202f]\d/, /\d['’]\d/].map((mark) =>
    texts.some((text) => mark.test(text)),
  );
  const other = decimal === ',' ? '.' : ',';
  const grouped = texts.some((text) => text.includes(other)) ? other : undefined;
  const thousands: keyof typeof groupedNumbers | undefined = spaced ? ' ' : quoted ? "'" : grouped;
  if (decimal === ',') return { column, thousands: thousands ?? '.', decimal };
  return thousands === undefined ? column : { column, thousands };
}

/** The kinds of the fields whose texts show whether a column's name misleads. */
function suitsField(
  { required, numbers, oddIsMissing, rules }: FieldNames,
  field: string,
  texts: readonly string[],
): boolean {
  const rule = rules[field]!;
  const fits = (text: string): boolean =>
    numbers.includes(field)
      ? bareNumber(field, text) !== undefined
      : isDated(rules, field)
        ? DATED.test(text)
        : 'unit' in rule || rule.parse(text) !== undefined;
  if (texts.length === 0) return true;
  if (required.includes(field)) return texts.some(fits);
  // A cell that an optional field cannot have is left out of numbers, and would refuse its row elsewhere.
  const odd = texts.filter((text) => !fits(text));
  return (
    odd.length * 2 <
    (numbers.includes(field) && oddIsMissing.includes(field) && !odd.some((text) => text.includes('%'))
      ? texts.length
      : 1)
  );
}

const isDated = (rules: FieldNames['rules'], field: string): boolean =>
  'unit' in rules[field]! || /(^|_)date$/.test(field);

/** A date with its time, or an epoch. */
const TIMED = /\d:\d\d|^\d{9,}(\.\d+)?$/;

/** Names of the index of a table of pandas that has no name, which may have the numbers of rows before it. */
const UNNAMED = /^(|unnamed: 0|index)$/i;

/**
 * The paths of the values in the one object, or list of objects, that has all required fields which the
 * columns beside it lack, two of them or more, and none that they have. None where several such objects may
 * be meant.
 */
function openedPaths(
  fields: FieldNames,
  header: readonly string[],
  nested: readonly string[],
): readonly string[] {
  if (nested.length === 0) return [];
  const outer = claimsOf(fields, header);
  const needed = fields.required.filter((field) => fields.flags[field] === undefined);
  const lacking = needed.filter((field) => outer.get(field)!.length === 0);
  if (lacking.length < 2) return [];
  const objects = [...Map.groupBy(nested, (path) => path.slice(0, -lastKey(path).length)).values()];
  const fitting = objects.filter((paths) => {
    const inner = claimsOf(fields, paths, undefined, paths);
    return needed.every((field) => inner.get(field)!.length === (lacking.includes(field) ? 1 : 0));
  });
  return fitting.length === 1 ? fitting[0]! : [];
}

/**
 * The columns beside an opened object, but for those of optional fields that it has: its own are those of its
 * bars. Beside a list no number is that of each row.
 */
function besideObject(
  fields: FieldNames,
  plain: readonly string[],
  opened: readonly string[],
): readonly string[] {
  if (opened.length === 0) return plain;
  const [inner, outer] = [claimsOf(fields, opened, undefined, opened), claimsOf(fields, plain)];
  const isList = opened[0]!.includes('[]');
  const others = fields.optional.filter(
    (field) => inner.get(field)!.length > 0 || (isList && fields.numbers.includes(field)),
  );
  const left = new Set(others.flatMap((field) => outer.get(field)!));
  return plain.filter((column) => !left.has(column));
}

/**
 * The columns of a file by their names and its beginning: those that one field alone claims, and no other
 * column with it. @throws FileProblem that asks for a flag where its rows have two meanings; never where most
 * fields are missing, or the file has the fields' own names and nothing else was wanted
 */
export function foundColumns(
  sample: Sample,
  top: readonly string[],
  nested: readonly string[],
  fields: FieldNames,
  told: Told,
  isAsked: boolean,
): Pick<ColumnMapping, 'columns' | 'isFound' | 'cellOf' | 'paths' | 'alike'> {
  const plain = withoutObjects(top, nested);
  const opened = openedPaths(fields, plain, nested);
  const header = [...besideObject(fields, plain, opened), ...opened];
  const objects = top.filter((column) => !plain.includes(column));
  const table = tableOf(sample, header, told, { opened, objects });
  const { textsOf } = table;
  const instant = fields.required.find((field) => 'unit' in fields.rules[field]!);
  const claims = claimsOf(
    fields,
    header,
    (field, column) => suitsField(fields, field, textsOf(column)),
    opened,
  );
  const found = new Map(
    [...claims].flatMap(([field, columns]) => {
      // Beside a column of dates one of their times says more; all midnights say the same.
      const timed = columns.filter((column) => field === instant && areAll(textsOf(column), TIMED));
      const days = columns.filter((column) => formOf(DATES, textsOf(column)) !== undefined);
      const surest = timed.length === 1 && days.length === columns.length - 1 ? timed : columns;
      return surest.length === 1 ? [[field, surest[0]!] as const] : [];
    }),
  );
  const index = header.slice(0, 2).find((name) => UNNAMED.test(name) && areAll(textsOf(name), DATED));
  if (instant !== undefined && !found.has(instant) && index !== undefined) found.set(instant, index);
  const isOwn = [...found].every(([field, column]) => field === column);
  const { dateFormat, decimal, delimiter } = told;
  const isPlain =
    isOwn && !isAsked && dateFormat === undefined && decimal === undefined && delimiter === undefined;
  const numbers = fields.numbers.flatMap((field) => found.get(field) ?? []);
  const mark = lazily(() => {
    const decimal = told.decimal ?? (numbers.some(table.hasPoints) ? '.' : undefined);
    if (decimal === undefined)
      checkThirtySeconds(
        sample.name,
        fields.numbers.flatMap((field) =>
          found.has(field) && fields.required.includes(field) ? textsOf(found.get(field)!) : [],
        ),
      );
    return decimalOf(
      sample.name,
      fields.numbers.flatMap((field) =>
        found.has(field)
          ? textsOf(found.get(field)!).flatMap(
              (text) => bareNumber(field, text) ?? (fields.oddIsMissing.includes(field) ? [] : text),
            )
          : [],
      ),
      decimal,
      {
        isUnusual: isAsked || (!isOwn && table.isUnusual()),
        // A comma elsewhere does not make thousands of the decimals of what rows need.
        hasPoints: fields.needed.some((field) => {
          const texts = found.has(field) ? textsOf(found.get(field)!) : [];
          const areNumbers = texts.every((text) => numberOf(text) !== null);
          return fields.numbers.includes(field) && areNumbers && texts.some((text) => text.includes('.'));
        }),
      },
    );
  });
  const sureCell = (field: string, column: string): Cell => {
    const mayBeOdd = fields.oddIsMissing.includes(field);
    if (fields.numbers.includes(field)) return numberCell(field, column, textsOf(column), mark(), mayBeOdd);
    return isDated(fields.rules, field)
      ? dateCell(sample.name, table, column, told, {
          hasTime: field === instant,
          isPlain,
          mayBeOdd,
          seriesFields: header.filter((name) => name === 'symbol' || fields.flags[name] !== undefined),
        })
      : column;
  };
  const cellOf = (field: string, column: string): Cell => {
    try {
      return sureCell(field, column);
    } catch {
      return column;
    }
  };
  const alike = alikeOf(fields, claims, found, cellOf);
  const kind = kindCell(fields, found);
  const own = { columns: {}, cellOf, ...alike };
  if (isPlain && Object.keys(kind).length === 0 && areOwnForms(sample, header, fields)) return own;
  const needed = fields.required.filter((field) => fields.flags[field] === undefined);
  const isNear = needed.filter((field) => found.has(field)).length * 2 >= needed.length;
  const made = isAsked || isNear ? sureCell : cellOf;
  // The numbers of a file have one decimal mark: they are all as the reader has them, or none is.
  const others = [...found.keys()].filter((field) => !isPlain || !isReadAsItIs(fields, field, table));
  const areNumbersOther = others.some((field) => fields.numbers.includes(field));
  const isOther = (field: string): boolean =>
    others.includes(field) || (areNumbersOther && fields.numbers.includes(field));
  const columns: Record<string, Cell> = {
    ...kind,
    ...Object.fromEntries(
      Array.from(found, ([field, column]) => [field, isOther(field) ? made(field, column) : column]),
    ),
  };
  if (isPlain && Object.values(columns).every((cell) => typeof cell === 'string')) return own;
  const paths = [...found.values()].filter((column) => opened.includes(column));
  return { columns, isFound: true, cellOf, ...alike, ...(paths.length > 0 && { paths }) };
}

/** Fields of corporate actions that one kind of them has alone. */
const kinds: readonly (readonly [kind: string, fields: readonly string[]])[] = [
  ['dividend', ['cash_amount']],
  ['split', ['split_ratio']],
  ['split', ['split_from', 'split_to']],
];

/** The kind of corporate actions where no column says it, and all rows can be of one only. */
function kindCell(
  { rules }: FieldNames,
  found: ReadonlyMap<string, string>,
): { readonly action_type?: RichCell } {
  if (rules.action_type === undefined || found.has('action_type') || found.has('adjustment_factor'))
    return {};
  const begun = kinds.filter(([, fields]) => fields.some((field) => found.has(field)));
  const whole = begun.find(([, fields]) => fields.every((field) => found.has(field)));
  if (whole === undefined || begun.some(([kind]) => kind !== whole[0])) return {};
  return { action_type: { column: found.get(whole[1][0]!)!, value: whole[0] } };
}

/** A date in ISO 8601, with its time or without, an epoch, or nothing; and a number or nothing. */
const PLAIN_DATE = /^(\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?|\d{9,})?$/;
const PLAIN_NUMBER = /^-?\d*(\.\d+)?$/;

/**
 * True if the cells of our own columns are at first sight as most files have them: a closer look would take
 * longer than importing a small file.
 */
function areOwnForms(sample: Sample, header: readonly string[], fields: FieldNames): boolean {
  if (JSON_START.test(sample.text) || header.some((name) => CLOCK_COLUMN.test(name))) return false;
  const forms = header.map((name) => {
    if (fields.numbers.includes(name)) return PLAIN_NUMBER;
    return fields.rules[name] !== undefined && isDated(fields.rules, name) ? PLAIN_DATE : null;
  });
  return linesOf(sample)
    .slice(1)
    .every((line) => {
      const cells = line.split(',');
      return forms.every((form, at) => form === null || form.test(cells[at] ?? ''));
    });
}

/** True if the reader understands the cells of a column of ours, and no other one may have its times. */
function isReadAsItIs({ rules, numbers }: FieldNames, field: string, { header, textsOf }: Table): boolean {
  const rule = rules[field]!;
  const texts = textsOf(field);
  if (numbers.includes(field))
    return texts.every((text) => numberOf(text) !== null || bareNumber(field, text) === undefined);
  if (!('unit' in rule))
    return !isDated(rules, field) || texts.every((text) => rule.parse(text) !== undefined);
  const cell = new InstantCell();
  return (
    !header.some((name) => CLOCK_COLUMN.test(name)) &&
    texts.every((text) => {
      const bytes = Buffer.from(text);
      cell.read(bytes, 0, bytes.length);
      return cell.kind !== 'bad';
    })
  );
}

/** The optional fields that several columns may be. */
function alikeOf(
  { optional }: FieldNames,
  claims: ReadonlyMap<string, readonly string[]>,
  found: ReadonlyMap<string, string>,
  cellOf: (field: string, column: string) => Cell,
): Pick<ColumnMapping, 'alike'> {
  const open = optional.filter((field) => !found.has(field) && claims.get(field)!.length > 1);
  if (open.length === 0) return {};
  const firsts = open.map((field) => [field, claims.get(field)![0]!] as const);
  const columns = [...found, ...firsts].map(([field, column]) => [field, cellOf(field, column)]);
  return {
    alike: {
      fields: new Map(open.map((field) => [field, claims.get(field)!])),
      columns: Object.fromEntries(columns),
    },
  };
}

/** The layout of a text that nobody described. @throws FileProblem where it is no text with columns */
export function guessedLayout(
  sample: Sample,
  told: Told,
): Pick<ColumnMapping, 'encoding' | 'delimiter' | 'skip'> {
  const { encoding } = sample;
  if (sample.text === '' || JSON_START.test(sample.text)) return {};
  // Many letters in a row that are not ASCII are those of another alphabet.
  if (told.encoding === undefined && sample.isCertain === false && /[\x80-\uffff]{4}/.test(sample.text))
    throw contentProblem(sample.name, NOT_UTF8);
  const place = placeOf(sample, told);
  if (place === undefined)
    throw unfitProblem(
      sample.name,
      'has no header line and rows below it with as many columns: --write-map needs both',
    );
  return { ...(encoding !== undefined && { encoding }), ...layoutOf(place) };
}

const layoutOf = ({ delimiter, skip }: Place): Pick<ColumnMapping, 'delimiter' | 'skip'> => ({
  ...(delimiter !== ',' && { delimiter }),
  ...(skip > 0 && { skip }),
});

/** A number or a moment. */
const VALUE = /^[-+.:/TZ ]*\d[-+\d.:/TZ ]*$/;

/** The least rows that show a constant distance. */
const STEP_ROWS = 3;

/**
 * The names of the columns of bars without a header, by one order of values alone: an epoch that grows by the
 * same minutes, and prices of which the high and the low hold. @throws FileProblem where they are not certain
 */
function headerOf(sample: Sample, delimiter: string, hint = ''): Pick<ColumnMapping, 'header'> {
  const rows = linesOf(sample).map((line) => cellsOf(line, delimiter) ?? []);
  const [first = []] = rows;
  const orders = ordersOf(rows);
  const times = rows.map(([epoch = '']) => (EPOCH.test(epoch) ? Number(epoch) : Number.NaN));
  const step = (times[1] ?? 0) - times[0]!;
  const isSteady = times.every((time, row) => row === 0 || time - times[row - 1]! === step);
  const isSure =
    rows.every((row) => row.length === 6 && row.every((cell) => cell !== '' && numberOf(cell) !== null)) &&
    rows.length >= STEP_ROWS &&
    isSteady &&
    step > 0 &&
    step % (times[0]! < EPOCH_MS_MIN ? 60 : 60_000) === 0;
  if (orders.length === 1 && isSure && isContinued(orders[0]!, rows) && hint === '')
    return { header: orders[0]! };
  const [names = Array.from(first, () => '…')] = orders.length === 1 ? orders : [];
  const put = orders.length === 1 ? ', if its columns are these' : ', and a name in place of each …';
  throw contentProblem(
    sample.name,
    `its first line has only values, no column names. Add a header line, or name the columns by --map FILE with "header": ${JSON.stringify({ header: names })}${put}; the first row is ${first.join().slice(0, 100)}${hint && `. ${hint}`}`,
  );
}

/**
 * True if bars open nearer to the close before than they close to the open before: the values of other
 * programs may have the two in the other order.
 */
function isContinued(names: readonly string[], rows: readonly (readonly string[])[]): boolean {
  const [open, close] = ['open', 'close'].map((name) => rows.map((row) => Number(row[names.indexOf(name)])));
  const apart = (ones: readonly number[], others: readonly number[]): number =>
    ones.slice(1).reduce((sum, one, row) => sum + Math.abs(one - others[row]!), 0);
  return apart(open!, close!) <= apart(close!, open!);
}

/** An epoch in seconds or milliseconds. */
const EPOCH = /^\d{9,13}$/;
const EPOCH_MS_MIN = 1e11;

/**
 * The layout of a text that nobody described, where its first line does not name the columns that rows need:
 * another line or separator names more of them. Empty for any other.
 */
export function foundLayout(
  sample: Sample,
  fields: FieldNames,
  told: Pick<Told, 'delimiter'>,
  hint?: string,
): Pick<ColumnMapping, 'delimiter' | 'skip' | 'header'> {
  if (sample.text === '' || JSON_START.test(sample.text)) return {};
  const [line = ''] = sample.text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/, 1);
  const usual = told.delimiter ?? (line.includes('\t') && !line.includes(',') ? '\t' : ',');
  const header = cellsOf(line, usual) ?? [];
  if (fields.required.includes('open') && header.length > 1 && header.every((cell) => VALUE.test(cell)))
    return headerOf(sample, usual, hint);
  const needed = fields.required.filter((field) => fields.flags[field] === undefined);
  const claimedIn = (names: readonly string[]): number => {
    const claims = claimsOf(fields, names);
    return needed.filter((field) => claims.get(field)!.length > 0).length;
  };
  // Most files have our own names in their first line.
  const claimed = header.length > 1 ? claimedIn(header) : -1;
  const place = claimed === needed.length ? undefined : placeOf(sample, told);
  return place !== undefined && claimedIn(place.header) > claimed ? layoutOf(place) : {};
}
