// A column mapping for a text that nobody described: what its beginning shows surely, and what only the
// caller can say.
import { parseDay } from '../../base/instant.ts';
import { contentProblem, FileProblem, unfitProblem } from '../read/file-problem.ts';
import { cellsOf, NOT_UTF8, type Sample } from '../read/sample.ts';
import type { Cell } from './cell.ts';
import { type ColumnMapping, type FieldNames, likelyOnes } from './column-mapping.ts';

/** The caller's facts about a file where its rows do not tell them. */
export type Told = {
  readonly delimiter?: string | undefined;
  readonly encoding?: string | undefined;
  /** The form of dates for strptime. */
  readonly dateFormat?: string | undefined;
  readonly decimal?: string | undefined;
};

/** A text as rows of cells. */
type Table = {
  readonly delimiter: string;
  readonly skip: number;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

const DELIMITERS = [',', ';', '\t', '|'];

/** Lines above a header are few. */
const TITLES_MAX = 20;

/** Whether a row can be a header: different names, none of which begins as a number. */
const areNames = (row: readonly string[]): boolean =>
  row.length > 1 && new Set(row).size === row.length && !row.some((cell) => /^[-+.\d]/.test(cell));

/** The header is the first line that has as many cells as the line below it, and several. */
function tableOf(sample: Sample, told: Told): Table {
  const lines = sample.text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  // The last one may be incomplete.
  if (sample.isCut) lines.pop();
  const found = (told.delimiter === undefined ? DELIMITERS : [told.delimiter]).flatMap((delimiter) => {
    const cells = lines.map((line) => cellsOf(line, delimiter) ?? []);
    const skip = cells.findIndex((row, at) => areNames(row) && row.length === cells[at + 1]?.length);
    return skip < 0 || skip > TITLES_MAX
      ? []
      : [{ delimiter, skip, header: cells[skip]!, rows: cells.slice(skip + 1) }];
  });
  // Of several characters the separator makes the most columns.
  const [best] = found.sort((a, b) => b.header.length - a.header.length);
  if (best === undefined)
    throw unfitProblem(
      sample.name,
      'has no header line and rows below it with as many columns: --write-map needs both',
    );
  return best;
}

/** The texts of a column that are not empty. */
const textsOf = ({ header, rows }: Table, column: string): string[] =>
  rows.map((row) => row[header.indexOf(column)]?.trim() ?? '').filter((text) => text !== '');

const areAll = (texts: readonly string[], pattern: RegExp): boolean =>
  texts.length > 0 && texts.every((text) => pattern.test(text));

const CLOCK = /^\d{1,2}:\d\d(:\d\d)?$/;
const CLOCK_COLUMN = /^(time|zeit|uhrzeit|heure|hora|ora)$/i;
const DATE = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)(?: (\d{1,2}:\d\d(?::\d\d)?))?$/;
const YEAR_FIRST = /^\d{4}([./])\d\d\1\d\d(?: (\d{1,2}:\d\d(?::\d\d)?))?$/;

const clockFormat = (clock: string | undefined): string =>
  clock === undefined ? '' : clock.split(':').length === 3 ? ' %H:%M:%S' : ' %H:%M';

/** The order of the day and the month in dates: `dm` or `md`; null where the dates have either. */
function orderOf(texts: readonly string[]): 'dm' | 'md' | null {
  const numbers = texts.map((text) => DATE.exec(text)!);
  const [first, second] = [1, 3].map((part) => numbers.some((one) => Number(one[part]) > 12));
  if (first === second) return null;
  return first ? 'dm' : 'md';
}

/**
 * The form of the dates of a column; undefined where it needs none. @throws FileProblem where they have two
 * meanings
 */
function dateFormatOf(
  name: string,
  column: string,
  texts: readonly string[],
  told: string | undefined,
): string | undefined {
  const [, mark, clock] = (areAll(texts, YEAR_FIRST) ? YEAR_FIRST.exec(texts[0]!) : null) ?? [];
  if (mark !== undefined) return told ?? `%Y${mark}%m${mark}%d${clockFormat(clock)}`;
  if (
    areAll(texts, /^(19|20)\d{6}$/) &&
    texts.every((text) => parseDay(text.replace(/(....)(..)(..)/, '$1-$2-$3')) !== null)
  )
    return told ?? '%Y%m%d';
  if (!areAll(texts, DATE)) return undefined;
  const [, , separator, , year, time] = DATE.exec(texts[0]!)!;
  const clocked = clockFormat(time);
  const formOf = (order: 'dm' | 'md'): string =>
    [...(order === 'dm' ? ['%d', '%m'] : ['%m', '%d']), year!.length === 4 ? '%Y' : '%y'].join(separator);
  if (told !== undefined) return told.includes('%H') ? told : told + clocked;
  const order = orderOf(texts);
  if (order !== null) return formOf(order) + clocked;
  throw new FileProblem(
    'unfit',
    `${name}: the dates of ${column} (${texts[0]}) may begin with the day or with the month. Say which: --date-format '${formOf('dm')}' or --date-format '${formOf('md')}'`,
  );
}

/** Numbers with a comma between groups of three digits, or as the decimal mark, and the other way round. */
const COMMA_DECIMAL = /^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$/;
const POINT_DECIMAL = /^[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/;

/** The decimal mark of a file's numbers. @throws FileProblem where they have two meanings */
function decimalOf(name: string, texts: readonly string[], told: string | undefined): ',' | '.' {
  const marked = texts.filter((text) => /[.,]/.test(text));
  const [comma, point] = [COMMA_DECIMAL, POINT_DECIMAL].map((pattern) =>
    marked.every((text) => pattern.test(text)),
  );
  if (told !== undefined) return told === ',' ? ',' : '.';
  if (marked.length === 0 || (point && !comma)) return '.';
  if (comma && !point) return ',';
  if (!comma && !point) return '.';
  throw new FileProblem(
    'unfit',
    `${name}: ${marked[0]} may be a number of thousands or one with decimals. Say which mark is decimal: --decimal , or --decimal .`,
  );
}

/** How the cells of a column of numbers are read. */
function numberCell(column: string, texts: readonly string[], decimal: ',' | '.'): Cell {
  if (decimal === ',') return { column, thousands: '.', decimal };
  return texts.some((text) => text.includes(',')) ? { column, thousands: ',' } : column;
}

/** How the cells of a date are read, with the time in a column of its own where there is one. */
function dateCell(name: string, table: Table, column: string, told: Told): Cell {
  const texts = textsOf(table, column);
  const format = dateFormatOf(name, column, texts, told.dateFormat);
  const clocks = table.header.find(
    (other) => other !== column && CLOCK_COLUMN.test(other.trim()) && areAll(textsOf(table, other), CLOCK),
  );
  const isDay = areAll(texts, /^[\d./-]+$/) && (format !== undefined || areAll(texts, /^\d{4}-\d\d-\d\d$/));
  if (clocks === undefined || !isDay) return format === undefined ? column : { column, format };
  const join = { column, join: clocks };
  if (format === undefined) return join;
  return {
    ...join,
    format: format.includes('%H') ? format : format + clockFormat(textsOf(table, clocks)[0]),
  };
}

/**
 * The column mapping of a text by its beginning: separator, encoding, columns, numbers and dates.
 * @throws FileProblem that asks for a flag where the rows have two meanings, or where the file is no text
 * with columns
 */
export function guessMapping(sample: Sample, fields: FieldNames, told: Told): ColumnMapping {
  const { name, encoding } = sample;
  if (sample.text === '' || /^\s*[[{]/.test(sample.text))
    throw unfitProblem(name, 'is no text with columns: --write-map is for CSV and the like');
  // Many letters in a row that are not ASCII are those of another alphabet.
  if (told.encoding === undefined && sample.isCertain === false && /[\x80-\uffff]{4}/.test(sample.text))
    throw contentProblem(name, NOT_UTF8);
  const table = tableOf(sample, told);
  const { delimiter, skip, header } = table;
  const all = [...fields.required, ...fields.optional];
  const own = Object.fromEntries(
    all.filter((field) => header.includes(field)).map((field) => [field, field]),
  );
  const free = header.filter((column) => !Object.hasOwn(own, column));
  const found: Record<string, string> = {
    ...likelyOnes(
      all.filter((field) => !Object.hasOwn(own, field)),
      free,
      fields.required,
    ),
    ...own,
  };
  const numbers = new Set(fields.numbers.filter((field) => found[field] !== undefined));
  const mark = decimalOf(
    name,
    [...numbers].flatMap((field) => textsOf(table, found[field]!)),
    told.decimal,
  );
  const cellOf = (field: string, column: string): Cell => {
    if (numbers.has(field)) return numberCell(column, textsOf(table, column), mark);
    // What a flag can give is a name, never a date.
    return fields.flags[field] === undefined ? dateCell(name, table, column, told) : column;
  };
  const columns = Object.entries(found).map(([field, column]) => [field, cellOf(field, column)]);
  return {
    ...(encoding !== undefined && { encoding }),
    ...(delimiter !== ',' && { delimiter }),
    ...(skip > 0 && { skip }),
    columns: Object.fromEntries(columns),
    values: {},
  };
}
