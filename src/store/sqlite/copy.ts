// A SQLite store while it is made as a copy: two files under other names, which are renamed when the copy is
// verified (docs/decisions/0032).
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
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

/**
 * Whether a copy is between the two renames of its end, or was killed there: its keys are in place, and its
 * data not yet.
 */
const isBetween = (path: string): boolean =>
  !existsSync(path) &&
  existsSync(unfinished(path)) &&
  existsSync(controlPathOf(path)) &&
  !existsSync(unfinished(controlPathOf(path)));

/** Opens the data so that no other process can until it is closed: this is the one copy. */
function openAlone(path: string): Database {
  const data = unfinished(path);
  try {
    return new Database(data, 'write', 'store', true);
  } catch (error) {
    if (!(error instanceof StoreUnavailable) || error.cause instanceof DiskFull) throw error;
    // Another one has finished while this one waited: it may have looked for a log of the file's old name.
    if (!existsSync(data)) for (const end of COMPANIONS) rmSync(data + end, { force: true });
    requireFree(path);
    throw new StoreUnavailable(`another bourse copy writes ${data}: let it end`, { cause: error });
  }
}

/** Begins a copy into `path`, or goes on with one; it needs about `bytes` in all. */
export async function openSqliteCopyTarget(path: string, bytes: number, tell: Tell): Promise<CopyTarget> {
  requireFile(path, 'store');
  if (!isBetween(path)) requireFree(path);
  const [data, control] = [unfinished(path), unfinished(controlPathOf(path))];
  const folder = dirname(resolve(path));
  makeFolder(folder);
  const bytesThere = statSync(data, { throwIfNoEntry: false })?.size ?? 0;
  requireDiskSpace(folder, Math.max(0, bytes - bytesThere));
  using opening = new DisposableStack();
  const database = opening.use(openAlone(path));
  const isBegun = database.pragma('user_version') > 0;
  if (isBegun && isBetween(path)) renameSync(controlPathOf(path), control);
  try {
    requireFree(path);
  } catch (error) {
    if (!isBegun) rmSync(data, { force: true });
    throw error;
  }
  // The keys first: where they alone are missing, a copy was at its end.
  const keys = opening.use(await openFile(control, 'write', 'control', controlHistory, tell));
  await openFile(database, 'write', 'store', storeHistory, tell);
  const access = plainAccess(database);
  const opened = opening.move();
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
