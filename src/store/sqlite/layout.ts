// Brings a SQLite file to the newest layout: all steps in one transaction, with a copy of the old file kept (docs/decisions/0021).
import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { sql } from 'kysely';
import { requireDiskSpace } from '../../disk/space.ts';
import { fillInstrumentTerms } from '../instrument-terms.ts';
import { columnsOf, type Step, type Table, tablesAfter } from '../migrations/step.ts';
import { type Mode, StoreUnusable, type Tell } from '../store.ts';
import { Database, type FileKind, sqliteCompiler } from './database.ts';
import { discardPartial, flush, makePartial, takeOwner } from './partial.ts';
import { SqliteRows } from './rows.ts';
import { copyBytes, vacuumInto } from './vacuum.ts';

/** The tables that a file must have, and how it came to its newest layout. */
export type Layout = { readonly tables: readonly Table[]; readonly steps: readonly Step[] };

/** Opens a file and brings it to the newest layout. `tell` hears of a migration before the old file is copied. */
export async function openFile(
  path: string,
  mode: Mode,
  kind: FileKind,
  layout: Layout,
  tell: Tell,
): Promise<Database> {
  const database = new Database(path, mode, kind);
  try {
    checkLayout(database, path, layout.steps);
    if (database.pragma('user_version') === layout.steps.length) checkColumns(database, layout.tables);
    else if (mode === 'write') await migrate(database, kind, layout, tell);
    else
      throw new StoreUnusable(
        `${path} has an older layout: open it once for writing, by bourse serve or bourse import`,
      );
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Refuses a layout that only a newer Bourse knows. */
export function checkLayout(database: Database, path: string, known: readonly Step[]): void {
  const layout = database.pragma('user_version');
  if (layout <= known.length) return;
  throw new StoreUnusable(
    `${path} was written by a newer Bourse (layout ${layout}, this one knows ${known.length})`,
  );
}

const readColumns =
  "select m.name as dataset, c.name as column from sqlite_schema m, pragma_table_info(m.name) c where m.type = 'table'";

/** Refuses tables with other columns: before the first release, layouts changed without a new number. */
function checkColumns(database: Database, tables: readonly Table[]): void {
  const found = Map.groupBy(database.all(readColumns, []), ({ dataset }) => dataset as string);
  for (const { name, columns } of tables) {
    const stored = (found.get(name) ?? []).map(({ column }) => column as string);
    const differing = new Set(stored).symmetricDifference(new Set(Object.keys(columns)));
    if (differing.size === 0) continue;
    throw new StoreUnusable(
      `${database.path} was made by a Bourse of before the first release, and its ${name} differ (${[...differing].join(', ')}): nothing can bring it up to date; move it and the files beside it away, and import into a new store`,
    );
  }
}

/** The end of a table's statement: rows are stored in the order of the key, unless the dataset keeps them as they come. */
const clusteringOf = ({ keptAsTheyCome }: { readonly keptAsTheyCome?: true }) =>
  keptAsTheyCome ? null : sql`without rowid`;

const statementsOf = ({ tables = [], columns = {}, statements }: Step): string[] => [
  ...Object.entries(columns).flatMap(([table, added]) => sqliteCompiler.addColumns(table, columnsOf(added))),
  ...tables.flatMap((table) =>
    sqliteCompiler.createTable({ ...table, columns: columnsOf(table.columns) }, clusteringOf(table)),
  ),
  ...(statements?.sqlite ?? []),
];

/** Runs the steps that a file lacks. A file whose migration fails stays as it was. */
async function migrate(
  database: Database,
  kind: FileKind,
  { tables, steps }: Layout,
  tell: Tell,
): Promise<void> {
  const { path } = database;
  const isNew = database.pragma('user_version') === 0;
  let copy: string | null = null;
  const work = async (): Promise<void> => {
    // Another process may have been first, perhaps of a newer Bourse.
    checkLayout(database, path, steps);
    const from = database.pragma('user_version');
    checkColumns(database, tablesAfter(steps.slice(0, from)));
    if (from === steps.length) return;
    if (from > 0) await requireDiskSpace(dirname(path), copyBytes(database));
    await runSteps(database, steps.slice(from));
    database.exec(`pragma user_version = ${steps.length}`);
    checkColumns(database, tables);
    if (from === 0) return;
    copy = freeName(`${path}.layout-${from}`);
    tell(`updating ${path} from layout ${from} to ${steps.length}; the old file is kept as ${copy}`);
    keepCopy(path, kind, copy);
  };
  try {
    await database.longWrite(work, () => isNew || tell(`waiting until another process has written ${path}`));
  } catch (error) {
    if (copy !== null && database.pragma('user_version') < steps.length) rmSync(copy, { force: true });
    throw error;
  }
}

async function runSteps(database: Database, steps: readonly Step[]): Promise<void> {
  for (const statement of steps.flatMap(statementsOf)) database.exec(statement);
  if (steps.some(({ fillsInstrumentTerms }) => fillsInstrumentTerms))
    await fillInstrumentTerms(new SqliteRows(database));
}

/** A name that no earlier copy has: a restored backup may be of the same old layout. */
function freeName(name: string): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name}.${number}`;
    if (!existsSync(free)) return free;
  }
}

/** Copies the file as it was before the transaction that is open: this process holds the write lock, so nobody else changes it. */
function keepCopy(path: string, kind: FileKind, copy: string): void {
  const partial = makePartial(copy);
  try {
    vacuumInto(path, kind, partial);
    takeOwner(partial, path);
    flush(partial);
    renameSync(partial, copy);
    flush(dirname(copy));
  } finally {
    discardPartial(partial);
  }
}
