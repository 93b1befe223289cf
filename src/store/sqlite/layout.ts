// Migrates a SQLite file to the newest layout: all steps in one transaction; a copy of the old file is kept
// (docs/decisions/0021).
import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeFolder, requireDiskSpace } from '../../base/space.ts';
import { raiseForEverything } from '../changes.ts';
import { ROW_CHECK } from '../checked-rows.ts';
import { refoldInstrumentTerms } from '../instrument-terms.ts';
import { type History, layoutRefusal, newestLayout, stepsFrom } from '../migrations/index.ts';
import type { Step, Table } from '../migrations/step.ts';
import { type Mode, OlderLayout, StoreDamaged, StoreUnusable, type Tell } from '../store.ts';
import { movedTables } from '../stored-rows.ts';
import { Database } from './connection.ts';
import { type FileKind, flush, isPassing, makePartial, notOpened, takeOwner, tried } from './files.ts';
import { SqliteRows, sqliteCompiler } from './rows.ts';
import {
  BLOCKS,
  beginSums,
  dropSums,
  keepSchemaSum,
  layoutProblem,
  makeSums,
  schemaProblem,
} from './sums.ts';

/** What SQLite's log and its index take beside the pages that a migration writes. */
const LOG_BYTES = 128 * 1024;

/** The history of the layouts of a file. */
type Layout = History & {
  /** False where no copy of the file is kept before a migration: there is another one. */
  readonly keepsOlder?: boolean;
};

/**
 * Opens a file, or checks one that is open; in mode `write` makes its folder and migrates it. `tell` is
 * called before the old file is copied.
 */
export async function openFile(
  file: string | Database,
  mode: Mode,
  kind: FileKind,
  layout: Layout,
  tell: Tell,
): Promise<Database> {
  const path = typeof file === 'string' ? file : file.path;
  if (mode === 'write') makeFolder(dirname(resolve(path)));
  const database = typeof file === 'string' ? new Database(path, mode, kind) : file;
  try {
    requireSound(database, layoutProblem);
    checkLayout(database, path, layout);
    if (database.pragma('user_version') === newestLayout(layout)) requireSound(database, schemaProblem);
    else if (mode === 'write') await migrate(database, kind, layout, tell);
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

/** Refuses a damaged number of the layout, a layout of a newer Bourse, and one that is too old. */
export function checkLayout(database: Database, path: string, history: History): void {
  const problem = layoutProblem(database);
  if (problem !== null) throw new StoreUnusable(`${path} is damaged: ${problem}`);
  const refusal = layoutRefusal(history, database.pragma('user_version'));
  if (refusal !== null) throw new StoreUnusable(`${path} ${refusal}`);
}

/** Refuses a file that was changed past the service, and one that is too damaged to be read. */
function requireSound(database: Database, problemOf: (database: Database) => string | null): void {
  const found = tried(null, () => problemOf(database));
  if (found === null) return;
  const problem = typeof found === 'string' ? found : found.problem;
  throw new StoreDamaged(
    `${database.path} is damaged: ${problem}; restore a backup (bourse restore FILE --force), and keep this file until then`,
  );
}

/**
 * Blocks of bars are not rows of a dataset. Their table has row ids, so that new blocks go to its end
 * (docs/decisions/0003).
 */
const blocksTable = `
  create table ${BLOCKS} (series_id integer not null, bucket integer not null, run_id integer not null, bytes blob not null, ${ROW_CHECK} integer);
  create unique index ${BLOCKS}_key on ${BLOCKS} (series_id, bucket)`;

/** Makes what a new file has beside the tables of its layout. */
function makeOwn(database: Database, kind: FileKind): void {
  if (kind === 'store') database.exec(blocksTable);
  makeSums(database, kind === 'store');
}

async function runStep(database: Database, step: Step, known: readonly Table[]): Promise<void> {
  const move = await step.moves?.(movedTables(new SqliteRows(database)));
  for (const table of step.drops ?? []) dropSums(database, table);
  for (const statement of sqliteCompiler.step(step, known)) database.exec(statement);
  for (const table of step.tables ?? []) beginSums(database, table);
  for (const [name, group] of Object.entries(step.groups ?? {}))
    beginSums(database, { ...known.find((table) => table.name === name)!, group });
  await move?.();
}

/** Runs the steps that a file lacks. A file whose migration fails stays as it was. */
async function migrate(database: Database, kind: FileKind, layout: Layout, tell: Tell): Promise<void> {
  const { path } = database;
  const newest = newestLayout(layout);
  const isNew = database.pragma('user_version') === 0;
  let copy: string | null = null;
  const work = async (): Promise<void> => {
    // Another process, perhaps of a newer Bourse, may have migrated it meanwhile.
    checkLayout(database, path, layout);
    const from = database.pragma('user_version');
    if (from === newest) return;
    if (from === 0) makeOwn(database, kind);
    else {
      requireSound(database, schemaProblem);
      requireDiskSpace(dirname(path), 2 * database.copyBytes + LOG_BYTES);
    }
    const steps = stepsFrom(layout, from);
    for (const step of steps) await runStep(database, step, layout.tables);
    if (steps.some((step) => step.refoldsTerms)) await refoldInstrumentTerms(new SqliteRows(database));
    database.exec(`pragma user_version = ${newest}`);
    keepSchemaSum(database);
    if (from === 0) return;
    // Services that read an older layout, or were started with this one, may still be running.
    if (kind === 'store') await raiseForEverything(new SqliteRows(database));
    const updating = `updating ${path} from layout ${from} to ${newest}`;
    if (layout.keepsOlder === false) return tell(updating);
    copy = freeName(`${path}.layout-${from}`);
    tell(`${updating}; a copy of the old file is made: ${copy}`);
    keepCopy(path, kind, copy);
  };
  try {
    await database.longWrite(work, () => isNew || tell(`waiting until another process has written ${path}`));
  } catch (error) {
    if (copy !== null && database.pragma('user_version') < newest) rmSync(copy, { force: true });
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
  Database.vacuumInto(path, kind, partial.path);
  takeOwner(partial.path, path);
  flush(partial.path);
  renameSync(partial.path, copy);
  flush(dirname(copy));
}
