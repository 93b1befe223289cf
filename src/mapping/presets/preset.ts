// What a preset is: exact knowledge of one vendor's files. It looks at a file's name and beginning and says how the file is to be read.
import { DAY_MS } from '../../base/instant.ts';
import { cellsOf } from '../../files/csv-line.ts';
import { reasonColumns } from '../../files/rejected-file.ts';
import { linesOf, type Sample } from '../../files/sample.ts';
import type { ColumnMapping } from '../column-mapping.ts';

/** How well a file fits: `surely` where no other file looks like it, `perhaps` where it has what is needed. */
export type Fit = 'surely' | 'perhaps' | 'no';

export type Preset = {
  readonly name: string;
  /** What files it is of, in a line. */
  readonly says: string;
  /** As `bourse import` calls it. */
  readonly dataset: string;
  /** The beginning of such a file: its header where it has one, and a row. */
  readonly example: readonly string[];
  readonly fits: (sample: Sample) => Fit;
  /** How a file that fits is read. @throws FileProblem where it is such a file, and one that cannot be taken */
  readonly mappingOf: (sample: Sample) => ColumnMapping;
};

/** The cells of a file's first line, its columns where it has a header. */
export const firstCells = (sample: Sample, delimiter = ','): string[] =>
  cellsOf(linesOf(sample)[0] ?? '', delimiter) ?? [];

/** Whether a file is one of refused rows of a file without a header, which has these columns. */
export const isMended = (sample: Sample, columns: readonly string[]): boolean =>
  firstCells(sample).join() === [...columns, ...reasonColumns].join();

/** The rows of a sample below its header, as cells. */
export const rowsBelow = (sample: Sample, delimiter = ','): string[][] =>
  linesOf(sample)
    .slice(1)
    .map((line) => cellsOf(line, delimiter) ?? []);

/** Whether a file's header has all of some columns. */
export function hasColumns(sample: Sample, columns: readonly string[], delimiter = ','): boolean {
  const cells = firstCells(sample, delimiter);
  return columns.every((column) => cells.includes(column));
}

/** Those of a field's cells whose column the file has. */
export const present = <T>(
  cells: Readonly<Record<string, T>>,
  header: readonly string[],
): Record<string, T> =>
  Object.fromEntries(
    Object.entries(cells).filter(([, cell]) => typeof cell !== 'string' || header.includes(cell)),
  );

/** What is odd where a file named by a day or month, `2020-08` or `2020-08-31`, begins in another one; days may end in the next of UTC. */
export function doubtOfDate(named: string | undefined, firstMs: number): { doubt?: string } {
  const found = [firstMs, firstMs - DAY_MS].map((ms) => new Date(ms).toISOString().slice(0, 10));
  if (named === undefined || found.some((date) => date.startsWith(named))) return {};
  return { doubt: `its name says ${named}, and its first bar is of ${found[0]}: is it the right file?` };
}

/** `1M` where moments in seconds show it: bars a minute apart are of no other interval. */
export const minutesOf = (seconds: readonly number[]): string | null =>
  seconds.some((at, index) => index > 0 && Math.abs(at - seconds[index - 1]!) === 60) ? '1M' : null;

/** The interval that dates `YYYY-MM-DD` are apart, where they tell: `DAY`, `WEEK`, `MON`. */
export function intervalOfDates(dates: readonly string[]): string | null {
  const days = dates
    .map((date) => Date.parse(`${date.slice(0, 10)}T00:00:00Z`) / DAY_MS)
    .filter(Number.isInteger);
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

/** Values that are known, of some that may be null. */
export const known = (values: Readonly<Record<string, string | null | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
