// What `bourse import --explain` prints.
import type { Explained } from '../mapping/explain-file.ts';
import { formatTable, printable } from './table.ts';

/** The account of a file that was looked at, in words. */
export function describeExplained(explained: Explained): string {
  const { file, format, preset, isMapped, doubt, columns, values, zone, prices, ignoredColumns, rows } =
    explained;
  const given = { ...columns, ...values };
  const facts: (readonly [boolean, string])[] = [
    [
      true,
      `read by ${preset !== null ? `the preset ${preset}` : isMapped ? 'the map' : 'the names of its columns'}`,
    ],
    [doubt !== null, `note: ${doubt}`],
    ...Object.entries(given).map(
      ([field, what]) => [true, `${field}: ${field in columns ? what : `${what}, in every row`}`] as const,
    ),
    [zone !== null, `times without an offset are of ${zone}`],
    [prices !== null, `prices: ${prices}`],
    [ignoredColumns.length > 0, `columns passed over: ${ignoredColumns.join(', ')}`],
  ];
  const told = facts.filter(([holds]) => holds).map(([, fact]) => printable(`  ${fact}`));
  const fields = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const table = [fields, ...rows.map((row) => fields.map((field) => row[field] ?? ''))];
  const first = rows.length === 0 ? '' : `\nThe first rows, as they would be stored:\n${formatTable(table)}`;
  return `${printable(`${file}: ${format}; nothing was imported`)}\n${told.join('\n')}\n${first}`;
}
