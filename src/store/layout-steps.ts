// What every engine does with a step from one layout to the next (docs/decisions/0021).

import { collectRows } from './all-rows.ts';
import { columnsOf, type MovedTables, type Step, type Table } from './migrations/step.ts';
import { ROW_CHECK } from './row-check.ts';
import type { Dataset } from './schema/dataset.ts';
import type { SqlCompiler } from './sql.ts';
import type { RowWriter } from './store.ts';

/** A table with its column of checksums. */
const withRowCheck = (table: Table): Table => ({
  ...table,
  columns: { ...table.columns, [ROW_CHECK]: { kind: 'integer', nullable: true } },
});

/** The statements of a step; `known` are the tables that its history ends in. */
export const statementsOf = (
  { tables = [], columns = {}, indexes = {}, drops = [] }: Step,
  compiler: SqlCompiler,
  known: readonly Table[],
): string[] => [
  ...drops.map((table) => `drop table ${table}`),
  ...Object.entries(columns).flatMap(([table, added]) => compiler.addColumns(table, columnsOf(added))),
  ...tables.flatMap((table) =>
    compiler.createTable(withRowCheck({ ...table, columns: columnsOf(table.columns) })),
  ),
  ...Object.entries(indexes).flatMap(([name, added]) =>
    compiler.addIndexes(known.find((table) => table.name === name)!, added),
  ),
];

/** The rows that a step moves: a table of it is a dataset for the time of the step. */
export const movedTables = (rows: RowWriter): MovedTables => ({
  rows: (table, where = {}) => collectRows(rows, table as Dataset, where as never),
  put: (table, all) => rows.upsert(table as Dataset, all as never),
  remove: (table, keys) => rows.remove(table as Dataset, keys as never),
});
