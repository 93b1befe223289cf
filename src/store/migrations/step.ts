// The form of a migration step: literal data that never changes once it is released (docs/decisions/0021).
import type { Column, ColumnKind } from '../../datasets/dataset.ts';

/** A table in the form for the engines: a dataset's declaration is one, and so is a table of a step. */
export type Table = {
  readonly name: string;
  readonly columns: Readonly<Record<string, Column>>;
  readonly key: readonly string[];
  readonly indexes?: readonly (readonly string[])[];
  readonly group?: readonly string[];
  readonly keptAsTheyCome?: true;
};

/** A column in a step: its kind, and `null` where it may be null. */
type FrozenColumn = ColumnKind | `${ColumnKind} null`;

type FrozenTable = Omit<Table, 'columns'> & { readonly columns: Readonly<Record<string, FrozenColumn>> };

/** The changes from one layout to the next. */
export type Step = {
  /** New tables with their indexes. */
  readonly tables?: readonly FrozenTable[];
  /** New columns by table. They may be null, because the rows that are stored have no value for them. */
  readonly columns?: Readonly<Record<string, Readonly<Record<string, `${ColumnKind} null`>>>>;
  /** Tables that go. */
  readonly drops?: readonly string[];
  /** New indexes by table. */
  readonly indexes?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** Columns by table: the engine keeps a sum of the rows that are equal in them, and one of the blocks of each series. */
  readonly groups?: Readonly<Record<string, readonly string[]>>;
  /** Further statements for each engine. */
  readonly statements?: { readonly sqlite: readonly string[]; readonly postgres?: readonly string[] };
  /** From this layout on every row has a checksum (`store/row-check.ts`): the engine adds it to all tables, later ones too. */
  readonly checksRows?: true;
  /** The terms of all instruments are made anew, from their rows, when the last step is done. */
  readonly fillsInstrumentTerms?: true;
};

/** Columns of a step in the form of a declaration. */
export const columnsOf = (frozen: Readonly<Record<string, FrozenColumn>>): Record<string, Column> =>
  Object.fromEntries(
    Object.entries(frozen).map(([name, column]) => {
      const [kind, nullable] = column.split(' ') as [ColumnKind, 'null'?];
      return [name, nullable ? { kind, nullable: true } : { kind }];
    }),
  );

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
