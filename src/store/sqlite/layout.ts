// Migrates a SQLite file to the newest layout: all steps in one transaction; a copy of the old file is kept (docs/decisions/0021).
import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { changes } from '../../datasets/internal.ts';
import { makeFolder, requireDiskSpace } from '../../disk/space.ts';
import { raiseForEverything } from '../changes.ts';
import { fillInstrumentTerms } from '../instrument-terms.ts';
import { columnsOf, type Step, type Table, tablesAfter } from '../migrations/step.ts';
import { type Mode, OlderLayout, StoreDamaged, StoreUnusable, type Tell } from '../store.ts';
import { Database, type FileKind } from './database.ts';
import { sqliteCompiler } from './dialect.ts';
import { sumGroups } from './group-sums.ts';
import { notOpened } from './opening.ts';
import { copyBytes, flush, makePartial, takeOwner, vacuumInto } from './partial.ts';
import { checkRows, withRowCheck } from './row-sums.ts';
import { SqliteRows } from './rows.ts';
import { keepSchemaSum, layoutProblem, schemaProblem } from './schema-sum.ts';
import { isPassing, troubleOf } from './trouble.ts';

/** What SQLite's log and its index take beside the pages that a migration writes. */
const LOG_BYTES = 128 * 1024;

/** The tables that a file must have, and the steps that make them. */
export type Layout = {
  readonly tables: readonly Table[];
  readonly steps: readonly Step[];
  /** False where no copy of the file is kept before a migration: there is another one. */
  readonly keepsOlder?: boolean;
};

/** Opens a file; in mode `write` makes its folder and migrates it. `tell` is called before the old file is copied. */
export async function openFile(
  path: string,
  mode: Mode,
  kind: FileKind,
  layout: Layout,
  tell: Tell,
): Promise<Database> {
  if (mode === 'write') makeFolder(dirname(resolve(path)));
  const database = new Database(path, mode, kind);
  try {
    requireSound(database, layoutProblem);
    checkLayout(database, path, layout.steps);
    if (database.pragma('user_version') === layout.steps.length) {
      if (layout.steps.some((step) => step.checksRows)) requireSound(database, schemaProblem);
    } else if (mode === 'write') await migrate(database, kind, layout, tell);
    else
      throw new OlderLayout(
        `${path} has an older layout: run bourse serve or bourse import once to update it`,
      );
    return database;
  } catch (error) {
    database.close();
    throw isPassing(error) ? notOpened(path, error, mode) : error;
  }
}

/** Refuses a damaged number of the layout, and a layout of a newer Bourse. */
export function checkLayout(database: Database, path: string, known: readonly Step[]): void {
  const problem = layoutProblem(database);
  if (problem !== null) throw new StoreUnusable(`${path} is damaged: ${problem}`);
  const layout = database.pragma('user_version');
  if (layout <= known.length) return;
  throw new StoreUnusable(
    `${path} was written by a newer Bourse (layout ${layout}, this one knows ${known.length})`,
  );
}

const readColumns =
  "select m.name as dataset, c.name as column from sqlite_schema m, pragma_table_info(m.name) c where m.type = 'table'";

/** Refuses a file that was changed past the service, and one that is too damaged to be read. */
function requireSound(database: Database, problemOf: (database: Database) => string | null): void {
  const problem = readProblem(() => problemOf(database));
  if (problem === null) return;
  throw new StoreDamaged(
    `${database.path} is damaged: ${problem}; restore a backup (bourse restore FILE --force), and keep this file until then`,
  );
}

/** What is wrong, or the error of SQLite because of which that cannot be read. */
function readProblem(problemOf: () => string | null): string | null {
  try {
    return problemOf();
  } catch (error) {
    if (troubleOf(error) !== 'damaged') throw error;
    return (error as Error).message;
  }
}

/** The tables of the newest layout with the column of their checksum. */
const checkedTables = ({ tables, steps }: Layout): Table[] =>
  tables.map((table) => (steps.some((step) => step.checksRows) ? withRowCheck(table) : table));

/** Refuses tables with other columns: before the first release, layouts changed without a new number. */
function checkColumns(database: Database, tables: readonly Table[]): void {
  const found = Map.groupBy(database.all(readColumns, []), ({ dataset }) => dataset as string);
  for (const { name, columns } of tables) {
    const stored = (found.get(name) ?? []).map(({ column }) => column as string);
    const differing = new Set(stored).symmetricDifference(new Set(Object.keys(columns)));
    if (differing.size === 0) continue;
    throw new StoreUnusable(
      `${database.path} was made before the first release of Bourse, and its ${name} differ (${[...differing].join(', ')}): it cannot be updated; move it and the files beside it away, and import into a new store`,
    );
  }
}

/** The statements of a step, after which the file has some tables. */
const statementsOf = (
  { tables = [], columns = {}, indexes = {}, drops = [], statements }: Step,
  after: readonly Table[],
): string[] => [
  ...drops.map((table) => `drop table ${table}`),
  ...Object.entries(columns).flatMap(([table, added]) => sqliteCompiler.addColumns(table, columnsOf(added))),
  ...tables.flatMap((table) => sqliteCompiler.createTable({ ...table, columns: columnsOf(table.columns) })),
  ...Object.entries(indexes).flatMap(([name, added]) =>
    sqliteCompiler.addIndexes(after.find((table) => table.name === name)!, added),
  ),
  ...(statements?.sqlite ?? []),
];

/** Runs the steps that a file lacks. A file whose migration fails stays as it was. */
async function migrate(
  database: Database,
  kind: FileKind,
  { tables, steps, keepsOlder = true }: Layout,
  tell: Tell,
): Promise<void> {
  const { path } = database;
  const isNew = database.pragma('user_version') === 0;
  let copy: string | null = null;
  const work = async (): Promise<void> => {
    // Another process, perhaps of a newer Bourse, may have migrated it meanwhile.
    checkLayout(database, path, steps);
    const from = database.pragma('user_version');
    const before = steps.slice(0, from);
    checkColumns(database, checkedTables({ tables: tablesAfter(before), steps: before }));
    if (from === steps.length) return;
    if (from > 0) requireDiskSpace(dirname(path), 2 * copyBytes(database) + LOG_BYTES);
    const lacking = steps.slice(from);
    const made = lacking.flatMap((step, at) =>
      statementsOf(step, tablesAfter(steps.slice(0, from + at + 1))),
    );
    for (const statement of made) database.exec(statement);
    if (steps.some((step) => step.checksRows)) checkRows(database, tables);
    if (steps.some((step) => step.groups)) sumGroups(database, tables);
    // A new file has no instruments.
    if (from > 0 && lacking.some((step) => step.fillsInstrumentTerms))
      await fillInstrumentTerms(new SqliteRows(database));
    database.exec(`pragma user_version = ${steps.length}`);
    checkColumns(database, checkedTables({ tables, steps }));
    if (steps.some((step) => step.checksRows)) keepSchemaSum(database);
    if (from === 0) return;
    // Services that read an older layout, or were started with this one, may still be running.
    if (tables.some(({ name }) => name === changes.name)) await raiseForEverything(new SqliteRows(database));
    const updating = `updating ${path} from layout ${from} to ${steps.length}`;
    if (!keepsOlder) return tell(updating);
    copy = freeName(`${path}.layout-${from}`);
    tell(`${updating}; a copy of the old file is made: ${copy}`);
    keepCopy(path, kind, copy);
  };
  try {
    await database.longWrite(work, () => isNew || tell(`waiting until another process has written ${path}`));
  } catch (error) {
    if (copy !== null && database.pragma('user_version') < steps.length) rmSync(copy, { force: true });
    throw error;
  }
}

/** A name that no earlier copy has: a file that was moved back may have the same old layout. */
function freeName(name: string): string {
  let free = name;
  for (let number = 2; existsSync(free); number++) free = `${name}.${number}`;
  return free;
}

/** Copies the file as it was before the open transaction, whose write lock keeps others from changing it. */
function keepCopy(path: string, kind: FileKind, copy: string): void {
  using partial = makePartial(copy);
  vacuumInto(path, kind, partial.path);
  takeOwner(partial.path, path);
  flush(partial.path);
  renameSync(partial.path, copy);
  flush(dirname(copy));
}
