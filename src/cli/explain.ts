// What `bourse import --explain` prints.
import type { Explained } from '../mapping/explain-file.ts';
import { linesOf } from './output.ts';
import { formatTable } from './table.ts';

/** How a file would be read, in words. */
export function describeExplained(explained: Explained): string {
  const { preset, isMapped, doubt, columns, values, zone, prices, volumes, ignoredColumns, rows } = explained;
  const names = isMapped ? 'the map' : 'the names of its columns';
  const facts = [
    `read by ${preset === null ? names : `the preset ${preset}`}`,
    ...(doubt === null ? [] : [`note: ${doubt}`]),
    ...Object.entries({ ...columns, ...values }).map(
      ([field, what]) => `${field}: ${what}${field in columns ? '' : ', in every row'}`,
    ),
    ...(zone === null ? [] : [`times without an offset are in ${zone}`]),
    ...(prices === null ? [] : [`prices: ${prices}`]),
    ...(volumes === null ? [] : [`volumes: ${volumes}`]),
    ...(ignoredColumns.length === 0 ? [] : [`unused columns are ignored: ${ignoredColumns.join(', ')}`]),
  ];
  const fields = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const table = [fields, ...rows.map((row) => fields.map((field) => row[field] ?? ''))];
  const first = rows.length === 0 ? '' : `\nThe first rows, as they would be stored:\n${formatTable(table)}`;
  const head = `${explained.file}: ${explained.format}; nothing was imported`;
  return linesOf([head, ...facts.map((fact) => `  ${fact}`)]) + first;
}
