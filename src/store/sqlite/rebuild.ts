// Rebuilds indexes, and the terms that find instruments, from their tables. It writes no other row.
import { changes } from '../../datasets/internal.ts';
import { instruments, instrumentTerms } from '../../datasets/reference.ts';
import { raiseForEverything } from '../changes.ts';
import { DamagedData, damageWords, type Rebuilt } from '../damage.ts';
import { fillInstrumentTerms } from '../instrument-terms.ts';
import { storeHistory } from '../migrations/index.ts';
import type { Tell } from '../store.ts';
import type { Database } from './database.ts';
import { openFile } from './layout.ts';
import { SqliteRows } from './rows.ts';
import { indexesOf, structureOf } from './scrub.ts';
import { troubleOf } from './trouble.ts';

/**
 * Rebuilds what is derived from tables of the store at `path`, each table in one write. Call it for what a
 * scrub calls derived.
 */
export async function rebuildSqlite(
  path: string,
  tables: readonly string[],
  tell: Tell,
): Promise<readonly Rebuilt[]> {
  const database = await openFile(path, 'write', 'store', storeHistory, tell);
  try {
    const done: Rebuilt[] = [];
    for (const dataset of tables) done.push({ dataset, problem: await problemOf(database, dataset, tell) });
    return done;
  } finally {
    database.close();
  }
}

/** Rebuilds what is derived from a table. Gives why it could not, and then nothing is changed; else null. */
async function problemOf(database: Database, table: string, tell: Tell): Promise<string | null> {
  const onWait = (): void => tell(`waiting until another process has written ${database.path}`);
  try {
    await database.longWrite(() => rebuild(database, table), onWait);
    return null;
  } catch (error) {
    if (error instanceof DamagedData) return damageWords(error.damage);
    if (troubleOf(error) === 'damaged') return (error as Error).message;
    throw error;
  }
}

async function rebuild(database: Database, table: string): Promise<void> {
  for (const index of indexesOf(database, table)) database.exec(`reindex "${index}"`);
  if (table === instrumentTerms.name) {
    // The terms tell which instruments were lost: they stay until every row is there.
    requireSound(database, instruments.name);
    database.exec(`delete from ${table}`);
    await fillInstrumentTerms(new SqliteRows(database));
  }
  if (table === changes.name) database.exec(`delete from ${table}`);
  requireSound(database, table);
  await raiseForEverything(new SqliteRows(database));
}

/** @throws DamagedData where a table, its indexes or its sums differ from what was written */
function requireSound(database: Database, table: string): void {
  const [damage] = structureOf(database, table);
  if (damage !== undefined) throw new DamagedData(damage);
}
