// The form of a migration step: literal data that never changes once it is released (docs/decisions/0021).
import { type ColumnKind, type ColumnWord, columnsOf, type Dataset, type Values } from '../schema/dataset.ts';

/** A table in the form for the engines: a dataset's declaration is one, and so is a table of a step. */
export type Table = Pick<Dataset, 'name' | 'columns' | 'key' | 'indexes' | 'group' | 'keptAsTheyCome'>;

type FrozenTable = Omit<Table, 'columns'> & { readonly columns: Readonly<Record<string, ColumnWord>> };

/** The tables that a step reads and writes, as they are declared at its time. */
export type MovedTables = {
  /**
   * The rows in the order of the key whose columns equal `where`: some of the key's first columns. @throws
   * DamagedData
   */
  rows(table: Table, where?: Values): Promise<readonly Values[]>;
  put(table: Table, rows: readonly Values[]): Promise<void>;
  remove(table: Table, keys: readonly Values[]): Promise<void>;
};

/** The changes from one layout to the next. An engine adds to all tables what it checks them by. */
export type Step = {
  /** New tables with their indexes. */
  readonly tables?: readonly FrozenTable[];
  /** New columns by table. They may be null, because the rows that are stored have no value for them. */
  readonly columns?: Readonly<Record<string, Readonly<Record<string, `${ColumnKind} null`>>>>;
  /** Tables that go. They go first: a new one may have the name. */
  readonly drops?: readonly string[];
  /** New indexes by table. */
  readonly indexes?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /**
   * True if the names that find instruments are folded otherwise from this layout on: they are folded again,
   * after all steps.
   */
  readonly refoldsTerms?: true;
  /** The columns by which the rows of tables that have no groups yet are grouped from now on. */
  readonly groups?: Readonly<Record<string, readonly string[]>>;
  /**
   * Reads rows of tables that the step drops, before it; what this gives writes them into its new tables,
   * after it.
   */
  readonly moves?: (tables: MovedTables) => Promise<() => Promise<void>>;
};

/** The tables of a new store after some steps, in the order of their making. */
export function tablesAfter(steps: readonly Step[]): Table[] {
  const tables = new Map<string, Table>();
  for (const step of steps) {
    const { tables: made = [], columns: added = {}, indexes: orders = {}, groups = {}, drops = [] } = step;
    for (const name of drops) tables.delete(name);
    for (const table of made) tables.set(table.name, { ...table, columns: columnsOf(table.columns) });
    for (const [name, columns] of Object.entries(added)) {
      const table = tables.get(name)!;
      tables.set(name, { ...table, columns: { ...table.columns, ...columnsOf(columns) } });
    }
    for (const [name, more] of Object.entries(orders)) {
      const table = tables.get(name)!;
      tables.set(name, { ...table, indexes: [...(table.indexes ?? []), ...more] });
    }
    for (const [name, group] of Object.entries(groups)) tables.set(name, { ...tables.get(name)!, group });
  }
  return [...tables.values()];
}

/** Names of the columns that steps add to tables which were there before, by table. */
export function columnsAdded(steps: readonly Step[]): ReadonlyMap<string, ReadonlySet<string>> {
  const added = steps.flatMap(({ columns = {} }) => Object.entries(columns));
  return new Map(
    [...Map.groupBy(added, ([table]) => table)].map(([table, sets]) => [
      table,
      new Set(sets.flatMap(([, columns]) => Object.keys(columns))),
    ]),
  );
}
