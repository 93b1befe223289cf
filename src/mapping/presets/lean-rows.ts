// What QuantConnect LEAN's factor and map files have in common: rows without a header, each of which says what held until its date. Only
// the whole file tells what a row is, so it must lie in the sample.
import { resolve } from 'node:path';
import { DAY_MS, formatDay } from '../../base/instant.ts';
import { FileProblem } from '../../files/file-problem.ts';
import { cellsOf, linesOf, SAMPLE_BYTES, type Sample } from '../../files/sample.ts';
import type { Fit } from './preset.ts';

/** The date of a last row that goes on. */
export const OPEN_END = '20501231';

/** How surely all lines are rows of such a file: by the folder that they lie in, or by their end. */
export function fitOf(sample: Sample, row: RegExp, folder: string): Fit {
  const lines = linesOf(sample);
  if (lines.length === 0 || !lines.every((line) => row.test(line))) return 'no';
  const isSure = resolve(sample.name).toLowerCase().includes(folder) || lines.at(-1)!.startsWith(OPEN_END);
  return isSure ? 'surely' : 'perhaps';
}

/** All rows of a file, by date. @throws FileProblem where it is of another market, is longer than the sample, or its dates are none or not one a row */
export function rowsOf(sample: Sample): string[][] {
  const { name } = sample;
  const market = /[/\\]equity[/\\]([a-z]+)[/\\]/i.exec(resolve(name))?.[1]?.toLowerCase() ?? 'usa';
  if (market !== 'usa')
    throw new FileProblem(
      'unfit',
      `${name}: LEAN's factor and map files are read of the market usa, not of ${market}`,
    );
  if (sample.isCut)
    throw new FileProblem(
      'content',
      `${name}: has ${SAMPLE_BYTES} bytes or more, as no factor or map file of LEAN has`,
    );
  const rows = linesOf(sample)
    .map((line) => cellsOf(line, ',') ?? [])
    .sort(([one], [other]) => (one! < other! ? -1 : 1));
  for (const [index, [date]] of rows.entries()) {
    if (dashed(date!).replaceAll('-', '') !== date)
      throw new FileProblem('content', `${name}: ${date} is no date of the form 20200828`);
    if (rows[index + 1]?.[0] === date)
      throw new FileProblem('content', `${name}: has two rows of ${date}: only one can hold until then`);
  }
  return rows;
}

/** The day number of a date, `20200828`. */
export const dayNumber = (date: string): number =>
  Date.UTC(Number(date.slice(0, 4)), Number(date.slice(4, 6)) - 1, Number(date.slice(6, 8))) / DAY_MS;

/** A date as it is stored, `2020-08-28`. */
export const dashed = (date: string): string => formatDay(dayNumber(date));
