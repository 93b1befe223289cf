// The form of a migration step: literal data that never changes once it is released (docs/decisions/0021).
import type { ColumnKind, Dataset, Values } from '../schema/dataset.ts';

/** A table in the form for the engines: a dataset's declaration is one, and so is a table of a step. */
export type Table = Pick<Dataset, 'name' | 'columns' | 'key' | 'indexes' | 'group' | 'keptAsTheyCome'>;

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
  readonly tables?: readonly Table[];
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
