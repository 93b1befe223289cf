// What `bourse import --explain` prints.
import type { Refusal, RefusalGroup } from '../../imports/load/refused-rows.ts';
import type { ImportReport } from '../../imports/load/run.ts';
import type { Explained } from '../../imports/map/explain-file.ts';
import { linesOf } from '../shared/output.ts';
import { count, countOf, formatTable } from '../shared/table.ts';

/** Describes in words how a file would be read. */
export function describeExplained(explained: Omit<Explained, 'problem'>): string {
  const { preset, isMapped, doubt, columns, values, zone, prices, volumes, symbols, label } = explained;
  const { ignoredColumns, rows } = explained;
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
    ...(symbols === null ? [] : [`symbols: ${symbols}`]),
    ...(label === null ? [] : [`label: ${label}`]),
    ...(ignoredColumns.length === 0 ? [] : [`unused columns are ignored: ${ignoredColumns.join(', ')}`]),
  ];
  const fields = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const table = [fields, ...rows.map((row) => fields.map((field) => row[field] ?? ''))];
  const first = rows.length === 0 ? '' : `\nThe first rows, as they would be stored:\n${formatTable(table)}`;
  const head = `${explained.file}: ${explained.format}; nothing was imported`;
  return linesOf([head, ...facts.map((fact) => `  ${fact}`)]) + first;
}

/** A refused row in words: `data row 2, column open: is not a number ("abc")`. */
export function refusalLine({ row, column, reason, value, ...group }: Refusal | RefusalGroup): string {
  const more = 'rows' in group && group.rows > 1 ? ` and ${count(group.rows - 1)} more` : '';
  return `data row ${row}${more}, column ${column}: ${reason}${value === null ? '' : ` (${JSON.stringify(value)})`}`;
}

/** The rows that an import would refuse, each reason once; no text where it would refuse none. */
export function describeRefusals({ rowsRead, rowsRefused, refusals }: ImportReport): string {
  if (rowsRefused === 0) return '';
  const others = rowsRefused - refusals.reduce((sum, { rows }) => sum + rows, 0);
  return `\n${linesOf([
    `${count(rowsRefused)} of ${countOf(rowsRead, 'row')} would be refused:`,
    ...refusals.map((group) => `  ${refusalLine(group)}`),
    ...(others > 0 ? [`  and ${count(others)} more for other reasons`] : []),
  ])}`;
}
