// A store made of a backup: verified before anything is replaced, and what it replaces is kept (docs/decisions/0010).
import {
  chmodSync,
  chownSync,
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
import { makeFolder, requireSpace } from '../../disk/space.ts';
import { type CopyOptions, type Restored, StoreUnusable, UnfitPlace, WouldReplace } from '../store.ts';
import { controlMigrations, controlPathOf } from './control.ts';
import { Database, type FileKind, requireFile, troubleOf } from './database.ts';
import { damageOf, soundDigest } from './digest.ts';
import { keysIn, type Manifest, readManifest, unseal } from './manifest.ts';
import { COMPANIONS, discardPartial, flush, makePartial, writeProblem } from './partial.ts';
import { checkLayout } from './rows.ts';

const KEPT = '.before-restore';

/** Makes the store at `path` of the backup `file`. */
export async function restoreSqlite(path: string, file: string, options: CopyOptions): Promise<Restored> {
  const backup = resolve(file);
  const places = [resolve(path), controlPathOf(resolve(path))] as const;
  requireFile(places[0], 'store');
  const manifest = openBackup(backup);
  const present = places.filter((place) => existsSync(place));
  checkReplacing(present, options.force);
  const folder = dirname(places[0]);
  makeFolder(folder);
  const held = holdAll(places);
  const bytes = statSync(backup).size;
  let keys: number;
  try {
    await requireSpace(folder, bytes);
    keys = replace(places, present, { path: backup, manifest }, options.tell);
  } catch (error) {
    throw damageOf(backup, await writeProblem(error, folder, bytes));
  } finally {
    for (const one of held) one.close();
  }
  return {
    file: places[0],
    bytes: statSync(places[0]).size,
    sha256: manifest.sha256,
    keys,
    madeMs: manifest.madeMs,
    kept: present.map(keptName),
  };
}

/** The data and the control file. */
type Places = readonly [data: string, control: string];

type Backup = { readonly path: string; readonly manifest: Manifest };

const keptName = (place: string): string => place + KEPT;

function openBackup(backup: string): Manifest {
  if (!existsSync(backup)) throw new UnfitPlace(`there is no backup ${backup}`);
  try {
    return readManifest(backup);
  } catch (error) {
    if (troubleOf(error) !== 'damaged') throw error;
    throw new StoreUnusable(`${backup} is no backup, or it is damaged`, { cause: error });
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
    throw new WouldReplace(`${earlier} is there from an earlier restore: move it away or remove it first`);
}

/** Keeps everyone out of a store's files, until they are closed. */
function holdAll([data, control]: Places): Database[] {
  const held: Database[] = [];
  try {
    for (const one of [hold(data, 'store'), hold(control, 'control')]) if (one !== null) held.push(one);
    return held;
  } catch (error) {
    for (const one of held) one.close();
    throw error;
  }
}

/** Null where there is nothing, or a file so damaged that nobody can use it: what restoring is for. */
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

/** Makes both files beside their places and, when they are sound, moves them there; how many keys there are then. */
function replace(
  places: Places,
  present: readonly string[],
  backup: Backup,
  tell: CopyOptions['tell'],
): number {
  const data = makePartial(places[0]);
  const control = makePartial(places[1]);
  try {
    tell('copying');
    copyFileSync(backup.path, data, files.COPYFILE_FICLONE);
    chmodSync(data, 0o600);
    if (backup.manifest.control !== null) writeFileSync(control, backup.manifest.control);
    tell('reading the copy');
    const keys = verify(data, control, backup);
    for (const made of [data, control]) flush(made);
    if (places.some((place) => existsSync(place) !== present.includes(place)))
      throw new StoreUnusable(`a store was made at ${places[0]} meanwhile: restore again`);
    takeOwner(data, places[0]);
    takeOwner(control, places[1]);
    swap(backup.manifest.control === null ? null : control, places[1]);
    swap(data, places[0]);
    flush(dirname(places[0]));
    return keys;
  } finally {
    discardPartial(data);
    discardPartial(control);
  }
}

/** How many keys a backup holds that is sound. @throws StoreUnusable */
function verify(data: string, control: string, { path, manifest }: Backup): number {
  unseal(data);
  if (soundDigest(data, 'store', path) !== manifest.sha256)
    throw new StoreUnusable(`${path} is damaged: its data is not what was written`);
  if (manifest.control === null) return 0;
  const database = new Database(control, 'read', 'control');
  try {
    checkLayout(database, path, controlMigrations);
    return keysIn(database);
  } finally {
    database.close();
  }
}

/** Gives a file to whom the one that it replaces belongs; data may be read by whoever could read it before. */
function takeOwner(made: string, place: string): void {
  const old = statSync(place, { throwIfNoEntry: false });
  if (old === undefined) return;
  if (process.getuid?.() === 0) chownSync(made, old.uid, old.gid);
  chmodSync(made, old.mode & 0o777);
}

/** Puts a file in its place. What was there is never absent before, and lies beside it afterwards. */
function swap(made: string | null, place: string): void {
  if (existsSync(place)) linkSync(place, keptName(place));
  // SQLite would apply the log of one file to another.
  for (const companion of COMPANIONS.filter((end) => existsSync(place + end)))
    renameSync(place + companion, keptName(place) + companion);
  if (made === null) rmSync(place, { force: true });
  else renameSync(made, place);
}
