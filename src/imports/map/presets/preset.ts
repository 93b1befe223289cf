// Presets: exact knowledge of one vendor's files. A preset sees a file's name and beginning, and gives its
// column mapping.
import { DAY_MS } from '../../../base/instant.ts';
import type { Convert } from '../../read/convert.ts';
import { contentProblem } from '../../read/file-problem.ts';
import { reasonColumns } from '../../read/inputs.ts';
import { cellsOf, linesOf, type Sample, stemOf } from '../../read/sample.ts';
import type { ColumnMapping } from '../column-mapping.ts';

/**
 * The degrees of a file's fit: `surely` where no other file looks like it, `perhaps` where it has all that
 * is needed.
 */
type Fit = 'surely' | 'perhaps' | 'no';

export type Preset = {
  readonly name: string;
  /** Its files, in one line. */
  readonly says: string;
  /** The name of the dataset in `bourse import`. */
  readonly dataset: string;
  /** The first lines of such a file: its header where it has one, and a row. */
  readonly example: readonly string[];
  /** Whether the vendor writes no line end after the last row. */
  readonly isOpenEnded?: true;
  readonly fits: (sample: Sample) => Fit;
  /**
   * The column mapping of a file that fits; it has `convert` where rows make sense only together.
   * @throws FileProblem where such a file cannot be imported
   */
  readonly mappingOf: (sample: Sample) => ColumnMapping;
};

/** Fields that are the same in all forex files. */
export const forex = { asset_schema: 'forex', country_iso_code: 'GLOBAL' };

/** The cells of a file's first line, its columns where it has a header. */
export const firstCells = (sample: Sample, delimiter = ','): string[] =>
  cellsOf(linesOf(sample)[0] ?? '', delimiter) ?? [];

/** True if a file has the refused rows of a file without a header, which has these columns. */
export const isMended = (sample: Sample, columns: readonly string[]): boolean =>
  firstCells(sample).join() === [...columns, ...reasonColumns].join();

/** The rows of a sample below its header, as cells. */
export const rowsBelow = (sample: Sample): string[][] =>
  linesOf(sample)
    .slice(1)
    .map((line) => cellsOf(line, ',') ?? []);

/** The cells of a column of a sample. */
export function cellsBelow(sample: Sample, column: string): string[] {
  const place = firstCells(sample).indexOf(column);
  return rowsBelow(sample).map((row) => row[place] ?? '');
}

/** Converts a file with a header: some of its rows are left out, and counted under a reason. */
export const leavingOut =
  (
    name: string,
    reason: string,
    isLeftOut: (cells: readonly string[], header: readonly string[]) => boolean,
  ): Convert =>
  ([first, ...all]) => {
    if (all.length === 0) throw contentProblem(name, 'has no rows');
    const header = first!.cells;
    const rows = all
      .filter(({ cells }) => !isLeftOut(cells, header))
      .map(({ row, cells }) => ({ row: row - 1, cells }));
    return { header, rows, leftOut: { reason, count: all.length - rows.length } };
  };

/** True if a file's header has all of some columns. */
export const hasColumns = (sample: Sample, columns: readonly string[]): boolean =>
  new Set(firstCells(sample)).isSupersetOf(new Set(columns));

/** Recognizes files by the beginning of their header line. */
export const begins =
  (header: string, delimiter = ',') =>
  (sample: Sample): Fit =>
    `${firstCells(sample, delimiter).join(delimiter)}${delimiter}`.startsWith(`${header}${delimiter}`)
      ? 'surely'
      : 'no';

/** Recognizes files by columns that their header has, in any order. */
export const contains =
  (...columns: readonly string[]) =>
  (sample: Sample): Fit =>
    hasColumns(sample, columns) ? 'surely' : 'no';

/**
 * Recognizes answers in JSON, `{"results": [{…}]}`, by keys of the objects in their list; and files of their
 * refused rows, which have these columns.
 */
export const fitsAnswer =
  (list: string, keys: readonly string[], columns: readonly string[]) =>
  (sample: Sample): Fit => {
    if (hasColumns(sample, [...columns, ...reasonColumns])) return 'surely';
    const isOfKeys = [list, ...keys].every((key) => sample.text.includes(`"${key}"`));
    return isObject(sample) && isOfKeys ? 'surely' : 'no';
  };

/**
 * The doubt where a file's name has a day or month, `2020-08-31` or `2020-08`, and its first bar is in
 * another one. A session may end on the next day of UTC.
 */
export function doubtOfDate(named: string | undefined, firstMs: number): { doubt?: string } {
  const found = [firstMs, firstMs - DAY_MS].map((ms) => new Date(ms).toISOString().slice(0, 10));
  if (named === undefined || found.some((date) => date.startsWith(named))) return {};
  return { doubt: `its name says ${named}, and its first bar is of ${found[0]}: is it the right file?` };
}

/** `1M` where some bars are a minute apart: no other interval has such bars. */
export const minutesOf = (seconds: readonly number[]): string | null =>
  seconds.some((at, index) => index > 0 && Math.abs(at - seconds[index - 1]!) === 60) ? '1M' : null;

/** The interval by the distance of dates `YYYY-MM-DD` in the first column; null where it does not show. */
export const intervalOfDates = (sample: Sample): string | null =>
  intervalOfDays(rowsBelow(sample).map(([date = '']) => date.slice(0, 10)));

/** `DAY`, `WEEK` or `MON` by the distance of dates `YYYY-MM-DD`; null where it does not show. */
export function intervalOfDays(dates: readonly string[]): string | null {
  const days = dates.map((date) => Date.parse(`${date}T00:00:00Z`) / DAY_MS).filter(Number.isInteger);
  const gaps = days
    .slice(1)
    .map((day, index) => Math.abs(day - days[index]!))
    .filter((gap) => gap > 0);
  if (gaps.length === 0) return null;
  const least = Math.min(...gaps);
  if (least <= 4) return 'DAY';
  if (gaps.length < 2) return null;
  if (least === 7) return 'WEEK';
  return least >= 28 && least <= 31 ? 'MON' : null;
}

/** The values that are not null. */
export const known = (values: Readonly<Record<string, string | null | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([field, value]) => (value == null ? [] : [[field, value]])),
  );

/** The columns of prices and volume under their own names. */
export const lower = { open: 'open', high: 'high', low: 'low', close: 'close', volume: 'volume' };
export const titled = { open: 'Open', high: 'High', low: 'Low', close: 'Close', volume: 'Volume' };

/** Intervals in the names of files: `1h`, `60`, `M15`, `d`. */
export const codes: Readonly<Record<string, string>> = {
  ...Object.fromEntries([1, 5, 10, 15, 30, 60, 240, 720].map((minutes) => [`${minutes}`, `${minutes}M`])),
  ...Object.fromEntries([1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30].map((one) => [`M${one}`, `${one}M`])),
  ...Object.fromEntries([1, 2, 3, 4, 6, 8, 12].map((hours) => [`H${hours}`, `${hours * 60}M`])),
  ...{ minute: '1M', '1h': '60M', d: 'DAY', 1440: 'DAY', Daily: 'DAY', Weekly: 'WEEK', Monthly: 'MON' },
  ...{ 10080: 'WEEK', 43200: 'MON' },
};

/** The symbol and interval that a file's name has. */
export function named(sample: Sample, form: RegExp): Record<string, string> {
  const [, symbol, code = ''] = form.exec(stemOf(sample)) ?? [];
  return known({ symbol, interval: codes[code] });
}

/** True for JSON that begins with a list, and for one that begins with an object. */
export const isList = ({ text }: Sample): boolean => /^[\s\ufeff]*\[/.test(text);
export const isObject = ({ text }: Sample): boolean => /^[\s\ufeff]*\{/.test(text);

/** True for a file without lines of cells: JSON, or one that is no text. */
export const hasNoLines = (sample: Sample): boolean =>
  sample.text === '' || isList(sample) || isObject(sample);

/**
 * Recognizes a list of objects by some of their keys, and its file of refused rows by columns of these names.
 */
export const fitsList =
  (...keys: readonly string[]) =>
  (sample: Sample) =>
    isList(sample)
      ? keys.every((key) => sample.text.includes(`"${key}"`))
        ? ('surely' as const)
        : ('no' as const)
      : contains(...keys, 'rejected_row')(sample);

/** The columns of which a file has the keys. */
export const given = (sample: Sample, columns: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(columns).filter(
      ([, key]) => hasColumns(sample, [key]) || (isList(sample) && sample.text.includes(`"${key}"`)),
    ),
  );

/** A cell by SQL that refuses its row for a reason where it gives nothing. */
export const strict = (sql: string, reason: string) => ({ sql, isStrict: true, reason }) as const;

/** So many digits in a regular expression of SQL, without braces: those name columns. */
export const digits = (count: number): string => '[0-9]'.repeat(count);
