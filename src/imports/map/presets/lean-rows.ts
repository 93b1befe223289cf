// What QuantConnect LEAN's factor and map files have in common: rows without a header, each of which says
// what held until its date.
import { resolve } from 'node:path';
import { DAY_MS, formatDay } from '../../../base/instant.ts';
import type { NumberedRow } from '../../read/convert.ts';
import { contentProblem, unfitProblem } from '../../read/file-problem.ts';
import { linesOf, type Sample } from '../../read/sample.ts';
import type { Fit } from './preset.ts';

/** The date of a last row that still holds. */
export const OPEN_END = '20501231';

/** Judges how surely all lines are rows of such a file: by its folder, or by the last line. */
export function fitOf(sample: Sample, row: RegExp, folder: string): Fit {
  const lines = linesOf(sample);
  if (lines.length === 0 || !lines.every((line) => row.test(line))) return 'no';
  const isSure = resolve(sample.name).toLowerCase().includes(folder) || lines.at(-1)!.startsWith(OPEN_END);
  return isSure ? 'surely' : 'perhaps';
}

/**
 * The rows of a file by date.
 * @throws FileProblem where the file is of another market, or a row has another form, no date, or the date of
 * another one
 */
export function byDate(name: string, rows: readonly NumberedRow[], form: RegExp): NumberedRow[] {
  const market = /[/\\]equity[/\\]([a-z]+)[/\\]/i.exec(resolve(name))?.[1]?.toLowerCase() ?? 'usa';
  if (market !== 'usa')
    throw unfitProblem(
      name,
      `LEAN's factor and map files can be imported for the market usa only, not for ${market}`,
    );
  const odd = rows.find(({ cells }) => !form.test(cells.join()));
  if (odd !== undefined) throw contentProblem(name, `row ${odd.row} does not have the form of the first one`);
  const sorted = rows.toSorted((one, other) => (one.cells[0]! < other.cells[0]! ? -1 : 1));
  for (const [index, { row, cells }] of sorted.entries()) {
    const [date] = cells;
    if (dashed(date!).replaceAll('-', '') !== date)
      throw contentProblem(name, `row ${row}: ${date} is no date of the form 20200828`);
    if (sorted[index + 1]?.cells[0] === date)
      throw contentProblem(name, `has two rows of ${date}. Only one can hold until that date`);
  }
  return sorted;
}

/** The day number of a date, `20200828`. */
export const dayNumber = (date: string): number =>
  Date.UTC(Number(date.slice(0, 4)), Number(date.slice(4, 6)) - 1, Number(date.slice(6, 8))) / DAY_MS;

/** A date as it is stored, `2020-08-28`. */
export const dashed = (date: string): string => formatDay(dayNumber(date));
