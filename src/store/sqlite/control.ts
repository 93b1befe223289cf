// The control file of a SQLite store: keys, quota uses and secrets. Its writes are short and wait for no
// import.
import { controlHistory } from '../migrations/index.ts';
import type { Mode, RowStore, Tell } from '../store.ts';
import type { Database } from './connection.ts';
import { Followed } from './followed.ts';
import { openFile } from './layout.ts';
import { SqliteRows } from './rows.ts';

/** `data/bourse.db` -> `data/bourse.control.db` */
export function controlPathOf(path: string): string {
  return path.endsWith('.db') ? `${path.slice(0, -3)}.control.db` : `${path}.control.db`;
}

/** Opens the control file beside the store at `path`. */
export async function openSqliteControl(path: string, mode: Mode, tell: Tell): Promise<RowStore> {
  const open = () => openFile(controlPathOf(path), mode, 'control', controlHistory, tell);
  const file = await Followed.begin(open, controlOf, () => undefined);
  return {
    snapshot: async (work) => (await file.now()).snapshot(work),
    write: async (work) => (await file.now()).write(work),
    close: async () => file.close(),
  };
}

/** The content of an open control file. */
export function controlOf(database: Database): RowStore {
  const rows = new SqliteRows(database);
  return {
    snapshot: (work) => database.snapshot(() => work(rows)),
    write: (work) => database.shortWrite(() => work(rows)),
    close: async () => database.close(),
  };
}
