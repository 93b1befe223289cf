// Rows of datasets in one SQLite file: reads, upserts, the translation of values, and the layout's version.
import { sql } from 'kysely';
import type { ColumnKind, Dataset, RowOf } from '../../datasets/dataset.ts';
import { AMONG_MAX } from '../sql.ts';
import {
  type Ends,
  type Mode,
  type RankedRead,
  type Read,
  type RowStore,
  type RowWriter,
  StoreUnusable,
} from '../store.ts';
import { type Cell, Database, type FileKind, type SqlValue, sqliteCompiler } from './database.ts';

/** One step from a layout to the next: statements, run in one transaction. */
export type Migration = readonly string[];

/** A table a dataset, clustered by key or as its rows come. */
export function tablesOf(datasets: readonly Dataset[]): Migration {
  return datasets.flatMap((dataset) =>
    sqliteCompiler.createTable(dataset, dataset.keptAsTheyCome ? null : sql`without rowid`),
  );
}

/** What a file holds, and how it came to its layout of today. */
export type Layout = { readonly datasets: readonly Dataset[]; readonly migrations: readonly Migration[] };

/** Opens a file and brings its layout up to date. */
export async function openFile(
  path: string,
  mode: Mode,
  kind: FileKind,
  { datasets, migrations }: Layout,
): Promise<Database> {
  const database = new Database(path, mode, kind);
  try {
    checkLayout(database, path, migrations);
    const version = database.pragma('user_version');
    if (version < migrations.length && mode !== 'write') {
      throw new StoreUnusable(
        `${path} has an older layout: open it once for writing, by bourse serve or bourse import`,
      );
    }
    if (version < migrations.length) await migrate(database, migrations);
    checkColumns(database, path, datasets);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Refuses a layout that only a newer Bourse knows. */
export function checkLayout(database: Database, path: string, known: readonly Migration[]): void {
  const layout = database.pragma('user_version');
  if (layout <= known.length) return;
  throw new StoreUnusable(
    `${path} was written by a newer Bourse (layout ${layout}, this one knows ${known.length})`,
  );
}

const readColumns =
  "select m.name as dataset, c.name as column from sqlite_schema m, pragma_table_info(m.name) c where m.type = 'table'";

/** Refuses tables with other columns than today's: layouts that changed before the first release bear the number of that release. */
function checkColumns(database: Database, path: string, datasets: readonly Dataset[]): void {
  const found = Map.groupBy(database.all(readColumns, []), ({ dataset }) => dataset as string);
  for (const { name, columns } of datasets) {
    const stored = (found.get(name) ?? []).map(({ column }) => column as string);
    const differing = new Set(stored).symmetricDifference(new Set(Object.keys(columns)));
    if (differing.size === 0) continue;
    throw new StoreUnusable(
      `${path} was made by a Bourse of before the first release, and its ${name} differ (${[...differing].join(', ')}): nothing can bring it up to date; move it and the files beside it away, and import into a new store`,
    );
  }
}

async function migrate(database: Database, migrations: readonly Migration[]): Promise<void> {
  await database.transaction('begin immediate', async () => {
    // Another process may have been first.
    for (let version = database.pragma('user_version'); version < migrations.length; version++) {
      for (const statement of migrations[version]!) database.exec(statement);
    }
    database.exec(`pragma user_version = ${migrations.length}`);
  });
}

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

/** A row of some columns, whose values stand in their order. */
function rowOf(
  dataset: Dataset,
  columns: readonly string[],
  values: readonly Cell[],
): Record<string, unknown> {
  const row: Record<string, unknown> = {};
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
    return this.#read(dataset, read) as RowOf<D>[];
  }

  async pick<D extends Dataset, C extends keyof D['columns'] & string>(
    dataset: D,
    columns: readonly C[],
    read: Read<D>,
  ): Promise<Pick<RowOf<D>, C>[]> {
    return this.#read(dataset, read, columns) as Pick<RowOf<D>, C>[];
  }

  #read<D extends Dataset>(
    dataset: D,
    read: Read<D>,
    columns?: readonly string[],
  ): Record<string, unknown>[] {
    const statement = sqliteCompiler.read(dataset, read as unknown as Read, columns);
    const found = this.#lists(statement.sql, statement.values(read as unknown as Read));
    const names = columns ?? Object.keys(dataset.columns);
    return found.map((values) => rowOf(dataset, names, values));
  }

  #lists(sql: string, values: readonly unknown[]): Cell[][] {
    return this.database.lists(
      sql,
      values.map((value) => (typeof value === 'boolean' ? Number(value) : value)) as SqlValue[],
    );
  }

  async among<D extends Dataset>(
    dataset: D,
    where: Partial<RowOf<D>>,
    column: keyof D['columns'] & string,
    values: readonly (string | number)[],
  ): Promise<RowOf<D>[]> {
    const columns = Object.keys(dataset.columns);
    const rows: Record<string, unknown>[] = [];
    for (let at = 0; at < values.length; at += AMONG_MAX) {
      const read = { where, column, values: values.slice(at, at + AMONG_MAX) };
      const statement = sqliteCompiler.among(dataset, read);
      for (const found of this.#lists(statement.sql, statement.values(read)))
        rows.push(rowOf(dataset, columns, found));
    }
    return rows as RowOf<D>[];
  }

  async ranked<D extends Dataset>(dataset: D, read: RankedRead<D>): Promise<(string | number)[][]> {
    // No groups are no rows, and no statement.
    if (read.groups.length === 0) return [];
    const statement = sqliteCompiler.ranked(dataset, read as unknown as RankedRead);
    return this.#lists(statement.sql, statement.values(read as unknown as RankedRead)) as (
      | string
      | number
    )[][];
  }

  async count<D extends Dataset>(dataset: D, where: Partial<RowOf<D>> = {}): Promise<number> {
    const [found] = this.#lists(sqliteCompiler.count(dataset, Object.keys(where)), Object.values(where));
    return found![0] as number;
  }

  async ends<D extends Dataset>(dataset: D, column: keyof D['columns'] & string): Promise<Ends | null> {
    const [first, last] = this.#lists(sqliteCompiler.ends(dataset, column), [])[0] as [number | null, number];
    return first === null ? null : { first, last };
  }

  async upsert<D extends Dataset>(dataset: D, rows: readonly RowOf<D>[]): Promise<void> {
    const statement = sqliteCompiler.upsert(dataset);
    for (const row of rows as readonly Record<string, unknown>[]) {
      this.database.run(
        statement,
        Object.entries(dataset.columns).map(([name, column]) => toSql(column.kind, row[name])),
      );
    }
  }

  async remove<D extends Dataset>(dataset: D, keys: readonly Partial<RowOf<D>>[]): Promise<void> {
    const statement = sqliteCompiler.remove(dataset);
    for (const key of keys as readonly Record<string, unknown>[]) {
      this.database.run(
        statement,
        dataset.key.map((name) => toSql(dataset.columns[name]!.kind, key[name])),
      );
    }
  }
}

/** A file of rows alone. */
export async function openRowStore(
  path: string,
  mode: Mode,
  kind: FileKind,
  layout: Layout,
): Promise<RowStore> {
  const database = await openFile(path, mode, kind, layout);
  const rows = new SqliteRows(database);
  return {
    snapshot: (work) => database.transaction('begin', () => work(rows)),
    write: (work) => database.shortWrite(() => work(rows)),
    close: async () => database.close(),
  };
}
