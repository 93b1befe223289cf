// Restores a store from a backup: verifies it before it replaces anything, and keeps the replaced files
// (docs/decisions/0010).
import {
  chmodSync,
  copyFileSync,
  existsSync,
  constants as files,
  linkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeFolder, requireDiskSpace } from '../../base/space.ts';
import { readVersion } from '../changes.ts';
import { newestLayout } from '../migrations/history.ts';
import { controlHistory, storeHistory } from '../migrations/index.ts';
import { type CopyOptions, type Restored, StoreUnusable, UnfitPlace, WouldReplace } from '../store.ts';
import { leapVersion } from '../version-leap.ts';
import { damageOf, keysIn, type Manifest, readManifest, soundDigest, unseal } from './backup.ts';
import { Database, type FileKind, requireFile } from './connection.ts';
import { controlPathOf } from './control.ts';
import { COMPANIONS, flush, keptName, makePartial, takeOwner } from './files.ts';
import { checkLayout, openFile } from './layout.ts';
import { troubleOf, writeProblem } from './problems.ts';
import { SqliteRows } from './rows.ts';

/** Makes the store at `path` from the backup `file`. */
export async function restoreSqlite(path: string, file: string, options: CopyOptions): Promise<Restored> {
  const backup = resolve(file);
  const data = resolve(path);
  const places = [data, controlPathOf(data)] as const;
  requireFile(data, 'store');
  const manifest = openBackup(backup);
  const present = places.filter((place) => existsSync(place));
  checkReplacing(present, options.force);
  const folder = dirname(data);
  makeFolder(folder);
  using held = hold(data, 'store');
  using _control = hold(places[1], 'control');
  const neededBytes = statSync(backup).size;
  try {
    requireDiskSpace(folder, neededBytes);
    const replaced = { present, version: await versionOf(held) };
    const { keys, version } = await replace(places, replaced, { path: backup, manifest }, options);
    const { sha256, madeMs } = manifest;
    const kept = present.map(keptName);
    return { file: data, bytes: statSync(data).size, sha256, keys, madeMs, version, kept };
  } catch (error) {
    throw damageOf(backup, await writeProblem(error, folder, neededBytes));
  }
}

type Places = readonly [data: string, control: string];

type Backup = { readonly path: string; readonly manifest: Manifest };

function openBackup(backup: string): Manifest {
  if (!existsSync(backup)) throw new UnfitPlace(`there is no backup ${backup}`);
  try {
    return readManifest(backup);
  } catch (error) {
    if (troubleOf(error) !== 'damaged') throw error;
    throw new StoreUnusable(`${backup} is not a backup, or it is damaged`, { cause: error });
  }
}

function checkReplacing(present: readonly string[], force: boolean): void {
  if (present.length === 0) return;
  const kept = present.map(keptName);
  if (!force)
    throw new WouldReplace(
      `there is a store at ${present[0]}: --force replaces it and keeps it as ${kept.join(' and ')}`,
    );
  const earlier = kept.find((one) => existsSync(one));
  if (earlier !== undefined)
    throw new WouldReplace(`${earlier} is left from an earlier restore: move it away or remove it first`);
}

/**
 * Keeps everyone out of a file until it is closed. Null where there is no file, or one so damaged that nobody
 * can use it.
 */
function hold(path: string, kind: FileKind): Database | null {
  if (!existsSync(path)) return null;
  let database: Database;
  try {
    database = new Database(path, 'write', kind);
  } catch (error) {
    if (troubleOf(error) === 'damaged') return null;
    throw error;
  }
  if (database.takeAlone()) return database;
  database.close();
  throw new StoreUnusable(`${path} is in use: stop bourse serve, let imports end, and restore again`);
}

/**
 * The version of a store that is replaced; 0 where that cannot be read: whatever is wrong with it may be why
 * it is replaced.
 */
async function versionOf(held: Database | null): Promise<number> {
  try {
    return held === null ? 0 : ((await readVersion(new SqliteRows(held))) ?? 0);
  } catch {
    return 0;
  }
}

/** The files that are there, and the version of their store. */
type Replaced = { readonly present: readonly string[]; readonly version: number };

/**
 * Makes both files under temporary names and renames them when they are sound. Gives the number of keys, and
 * the new version.
 */
async function replace(
  places: Places,
  { present, version: replacedVersion }: Replaced,
  backup: Backup,
  options: CopyOptions,
): Promise<{ readonly keys: number; readonly version: number }> {
  using data = makePartial(places[0]);
  using control = makePartial(places[1]);
  options.tell('copying');
  copyFileSync(backup.path, data.path, files.COPYFILE_FICLONE);
  chmodSync(data.path, 0o600);
  const keysFile = backup.manifest.control;
  if (keysFile !== null) writeFileSync(control.path, keysFile);
  options.tell('reading the copy');
  const keys = verify(data.path, control.path, backup);
  const version = await leap(data.path, replacedVersion, options);
  for (const made of [data, control]) flush(made.path);
  if (places.some((place) => existsSync(place) !== present.includes(place)))
    throw new StoreUnusable(`a store was made at ${places[0]} meanwhile: restore again`);
  takeOwner(data.path, places[0]);
  takeOwner(control.path, places[1]);
  swap(keysFile === null ? null : control.path, places[1]);
  swap(data.path, places[0]);
  flush(dirname(places[0]));
  return { keys, version };
}

/**
 * Gives the restored data a version that no store had before. Data of an older layout are migrated, which
 * forgets earlier versions: the version of that would be one that the store of the backup has had meanwhile.
 */
async function leap(path: string, replaced: number, { tell, nowMs }: CopyOptions): Promise<number> {
  const isOlder = layoutIn(path) < newestLayout(storeHistory);
  const layout = { ...storeHistory, keepsOlder: false };
  using data = await openFile(path, 'write', 'store', layout, tell);
  const { to } = await data.longWrite(
    () => leapVersion(new SqliteRows(data), { nowMs: nowMs(), replaced, forgetsEarlier: isOlder }),
    () => undefined,
  );
  return to;
}

function layoutIn(path: string): number {
  using data = new Database(path, 'read', 'store');
  return data.pragma('user_version');
}

/** Checks the files of a backup; gives the number of keys. @throws StoreUnusable for a damaged one */
function verify(data: string, control: string, { path, manifest }: Backup): number {
  unseal(data);
  if (soundDigest(data, 'store', path) !== manifest.sha256)
    throw new StoreUnusable(`${path} is damaged: its data is not what was written`);
  if (manifest.control === null) return 0;
  using database = new Database(control, 'read', 'control');
  checkLayout(database, path, controlHistory);
  return keysIn(database);
}

/** Gives a file its final name; null removes the old file. The old file stays under another name. */
function swap(made: string | null, place: string): void {
  if (existsSync(place)) linkSync(place, keptName(place));
  // Else SQLite would apply the old file's log to the new one.
  for (const companion of COMPANIONS.filter((end) => existsSync(place + end)))
    renameSync(place + companion, keptName(place) + companion);
  if (made === null) rmSync(place, { force: true });
  else renameSync(made, place);
}
