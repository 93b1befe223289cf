// A SQLite store while it is made as a copy: two files under other names, which are renamed when the copy is
// verified (docs/decisions/0032).
import { existsSync, renameSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DiskFull, makeFolder, requireDiskSpace } from '../../base/space.ts';
import { type CopyTarget, storeInTheWay } from '../copy.ts';
import { controlHistory, storeHistory } from '../migrations/index.ts';
import { StoreUnavailable, type Tell, WouldReplace } from '../store.ts';
import { Database } from './connection.ts';
import { controlOf, controlPathOf } from './control.ts';
import { plainAccess } from './engine.ts';
import { COMPANIONS, flush, requireFile } from './files.ts';
import { openFile } from './layout.ts';

/** The name of a file of a store until the copy is finished. */
const unfinished = (path: string): string => `${path}.copying`;

/**
 * Refuses a place where a store is, or what is left of one: SQLite would apply an old log to the new file.
 * @throws WouldReplace
 */
function requireFree(path: string): void {
  const control = controlPathOf(path);
  const isStore = existsSync(path) && statSync(path).size > 0;
  if (isStore || existsSync(control)) throw new WouldReplace(storeInTheWay(`sqlite:${path}`));
  const left = [path, control]
    .flatMap((file) => COMPANIONS.map((end) => file + end))
    .find((file) => existsSync(file));
  if (left !== undefined)
    throw new WouldReplace(`${left} is left of a store that is gone: remove it, or name another place`);
}

/** A copy that was killed between the two renames of its end has its keys in place, and its data not yet. */
function takeBack(path: string): void {
  const control = controlPathOf(path);
  const isBetween =
    !existsSync(path) &&
    existsSync(unfinished(path)) &&
    existsSync(control) &&
    !existsSync(unfinished(control));
  if (isBetween) renameSync(control, unfinished(control));
}

/** Opens the data so that no other process can until it is closed. */
async function openAlone(path: string, tell: Tell): Promise<Database> {
  const busy = `another bourse copy writes ${path}: let it end`;
  let database: Database;
  try {
    database = await openFile(path, 'write', 'store', storeHistory, tell);
  } catch (error) {
    const isBusy = error instanceof StoreUnavailable && !(error.cause instanceof DiskFull);
    throw isBusy ? new StoreUnavailable(busy, { cause: error }) : error;
  }
  if (!database.takeAlone()) {
    database.close();
    throw new StoreUnavailable(busy);
  }
  // The lock stays (sqlite.org/pragma.html#pragma_locking_mode).
  database.exec('commit');
  return database;
}

/** Begins a copy into `path`, or goes on with one; it needs about `bytes` in all. */
export async function openSqliteCopyTarget(path: string, bytes: number, tell: Tell): Promise<CopyTarget> {
  requireFile(path, 'store');
  takeBack(path);
  requireFree(path);
  const [data, control] = [unfinished(path), unfinished(controlPathOf(path))];
  const folder = dirname(resolve(path));
  makeFolder(folder);
  const isBegun = existsSync(data);
  requireDiskSpace(folder, Math.max(0, bytes - (isBegun ? statSync(data).size : 0)));
  // The keys first: where they alone are missing, a copy was at its end.
  const keys = await openFile(control, 'write', 'control', controlHistory, tell);
  const database = await openAlone(data, tell).catch((error: unknown) => {
    keys.close();
    throw error;
  });
  const access = plainAccess(database);
  const opened = new DisposableStack();
  opened.use(keys);
  opened.use(database);
  return {
    name: `sqlite:${path}`,
    isBegun,
    reader: access,
    write: (work) =>
      database.longWrite(
        () => work(access),
        () => undefined,
      ),
    control: controlOf(keys),
    async finish() {
      // What was committed is on the disk. The log of the keys goes into their file as soon as nobody has it
      // open.
      requireFree(path);
      keys.exec('pragma journal_mode = delete');
      renameSync(control, controlPathOf(path));
      renameSync(data, path);
      flush(folder);
      opened.dispose();
      // From now on both have a log beside them.
      new Database(path, 'write', 'store').close();
      new Database(controlPathOf(path), 'write', 'control').close();
    },
    close: async () => opened.dispose(),
  };
}
