// Counts the rows of a table and finds the least and greatest value of a column: twice, because an index may
// have lost rows.
import type { Dataset } from '../../datasets/dataset.ts';
import { ROW_CHECK } from '../row-check.ts';
import type { Extent } from '../store.ts';
import type { Database } from './connection.ts';
import { groupedRows } from './sums.ts';

/** A prime: what is left of numbers that differ in one bit differs too, and the sum of many is exact. */
const MODULUS = 1_000_003;

/**
 * Number of rows, number and sum of the values, the least and the greatest: no value is too large for
 * JavaScript.
 */
const aggregates = (column: string | undefined): string =>
  column === undefined
    ? 'count(*), 0, 0, null, null'
    : `count(*), count(${column}), total(${column} % ${MODULUS}), cast(min(${column}) as real), cast(max(${column}) as real)`;

/** No index has the checksums: they make SQLite read the table. */
const TABLE = 'not indexed';
const selectFrom = (name: string, place: string, column: string | undefined): string =>
  `select ${aggregates(column)}${place === TABLE ? `, max(${ROW_CHECK})` : ''} from ${name} ${place}`;

/** Two structures that have every row with a column: indexes before the table, whose rows are larger. */
const placesOf = ({ name, indexes = [] }: Dataset, column: string | undefined): string[] => [
  ...indexes
    .filter((columns) => column === undefined || columns.includes(column))
    .map((columns) => `indexed by ${name}_by_${columns.join('_')}`)
    .slice(0, 2),
  TABLE,
];

/** The extent of a table by two of its structures; `isSure` where they agree, or there is one alone. */
export function extentOf(
  database: Database,
  dataset: Dataset,
  column: string | undefined,
): { readonly extent: Extent; readonly isSure: boolean } {
  const [found, other] = placesOf(dataset, column)
    .slice(0, 2)
    .map((place) => database.lists(selectFrom(dataset.name, place, column), [])[0]!);
  const [counted, , , first, last] = found as [number, number, number, number | null, number | null];
  const compared = found!.slice(0, 5);
  const isSure = other === undefined || compared.every((cell, at) => cell === other[at]);
  const rows = writtenRows(database, dataset) ?? counted;
  return { extent: { rows, first, last }, isSure: isSure && rows === counted };
}

/** The number of rows that the groups of a table have; null where it has none. */
export const writtenRows = (database: Database, { name, group }: Dataset): number | null =>
  group === undefined ? null : groupedRows(database, name);
