// What commands say of bars that became unfinished though no import changed them (contract 3.9).
import type { HiddenReport, HiddenSeries } from '../history/hidden-bars.ts';
import { cliLimits } from './limits.ts';
import { count, countOf } from './table.ts';

/** A line about all of them, and one for each of the first series with the import that makes them served. No line without one. */
export function hiddenLines({ bars, series, named }: HiddenReport): string[] {
  if (bars === 0) return [];
  const spoken = named.slice(0, cliLimits.hiddenNamed);
  return [
    `not served until an import has them again: ${countOf(bars, 'bar')} of ${count(series)} series; by the calendar they close after the start of every run that has them`,
    ...spoken.map((one) => `  ${seriesLine(one)}`),
    ...(series > spoken.length ? [`  and ${count(series - spoken.length)} more series`] : []),
  ];
}

function seriesLine({ instrument, interval, bars, first, last, command }: HiddenSeries): string {
  const days = first === last ? first : `${first} to ${last}`;
  return `${instrument} ${interval}, ${days}, ${countOf(bars, 'bar')}: import a file that was made after they closed: ${command}`;
}
