// Rows of datasets in one SQLite file: reads, upserts and the translation of values.
import type { ColumnKind, ColumnOf, Dataset, RowOf } from '../../datasets/dataset.ts';
import { AMONG_MAX } from '../sql.ts';
import type { Ends, RankedRead, Read, RowWriter } from '../store.ts';
import { type Cell, type Database, type SqlValue, sqliteCompiler } from './database.ts';

type Row = Record<string, unknown>;

function toSql(kind: ColumnKind, value: unknown): SqlValue {
  if (value === null || value === undefined) return null;
  if (kind === 'boolean') return value ? 1 : 0;
  return kind === 'json' ? JSON.stringify(value) : (value as SqlValue);
}

function fromSql(kind: ColumnKind, value: Cell): unknown {
  if (value === null) return null;
  if (kind === 'boolean') return value !== 0;
  return kind === 'json' ? JSON.parse(value as string) : value;
}

/** A row of some columns; the values are in their order. */
function rowOf(dataset: Dataset, columns: readonly string[], values: readonly Cell[]): Row {
  const row: Row = {};
  for (let at = 0; at < columns.length; at++) {
    const name = columns[at]!;
    row[name] = fromSql(dataset.columns[name]!.kind, values[at]!);
  }
  return row;
}

/** Reads and writes rows on an open file, inside whatever transaction it is in. */
export class SqliteRows implements RowWriter {
  protected readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async rows<D extends Dataset>(dataset: D, read: Read<D>): Promise<RowOf<D>[]> {
    return this.#read(dataset, read as unknown as Read) as RowOf<D>[];
  }

  async pick<D extends Dataset, C extends ColumnOf<D>>(
    dataset: D,
    columns: readonly C[],
    read: Read<D>,
  ): Promise<Pick<RowOf<D>, C>[]> {
    return this.#read(dataset, read as unknown as Read, columns) as Pick<RowOf<D>, C>[];
  }

  #read(dataset: Dataset, read: Read, columns?: readonly string[]): Row[] {
    const statement = sqliteCompiler.read(dataset, read, columns);
    const names = columns ?? Object.keys(dataset.columns);
    return this.#lists(statement.sql, statement.values(read)).map((values) => rowOf(dataset, names, values));
  }

  #lists(sql: string, values: readonly unknown[]): Cell[][] {
    const bound = values.map((value) => (typeof value === 'boolean' ? Number(value) : value));
    return this.database.lists(sql, bound as SqlValue[]);
  }

  async among<D extends Dataset>(
    dataset: D,
    where: Partial<RowOf<D>>,
    column: ColumnOf<D>,
    values: readonly (string | number)[],
  ): Promise<RowOf<D>[]> {
    const columns = Object.keys(dataset.columns);
    const rows: Row[] = [];
    for (let at = 0; at < values.length; at += AMONG_MAX) {
      const read = { where, column, values: values.slice(at, at + AMONG_MAX) };
      const statement = sqliteCompiler.among(dataset, read);
      for (const found of this.#lists(statement.sql, statement.values(read)))
        rows.push(rowOf(dataset, columns, found));
    }
    return rows as RowOf<D>[];
  }

  async ranked<D extends Dataset>(dataset: D, read: RankedRead<D>): Promise<(string | number)[][]> {
    // SQL has no empty table of values.
    if (read.groups.length === 0) return [];
    const ranked = read as unknown as RankedRead;
    const statement = sqliteCompiler.ranked(dataset, ranked);
    return this.#lists(statement.sql, statement.values(ranked)) as (string | number)[][];
  }

  async count<D extends Dataset>(dataset: D, where: Partial<RowOf<D>> = {}): Promise<number> {
    const [found] = this.#lists(sqliteCompiler.count(dataset, Object.keys(where)), Object.values(where));
    return found![0] as number;
  }

  async ends<D extends Dataset>(dataset: D, column: ColumnOf<D>): Promise<Ends | null> {
    const [first, last] = this.#lists(sqliteCompiler.ends(dataset, column), [])[0] as [number | null, number];
    return first === null ? null : { first, last };
  }

  async upsert<D extends Dataset>(dataset: D, rows: readonly RowOf<D>[]): Promise<void> {
    this.#runEach(
      sqliteCompiler.upsert(dataset),
      dataset,
      Object.keys(dataset.columns),
      rows as readonly Row[],
    );
  }

  async remove<D extends Dataset>(dataset: D, keys: readonly Partial<RowOf<D>>[]): Promise<void> {
    this.#runEach(sqliteCompiler.remove(dataset), dataset, dataset.key, keys as readonly Row[]);
  }

  #runEach(sql: string, { columns }: Dataset, names: readonly string[], rows: readonly Row[]): void {
    for (const row of rows)
      this.database.run(
        sql,
        names.map((name) => toSql(columns[name]!.kind, row[name])),
      );
  }
}
