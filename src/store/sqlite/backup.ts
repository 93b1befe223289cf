// A whole store as one file, made while others read and write it (docs/decisions/0010).
import { existsSync, lstatSync, readFileSync, renameSync, statSync, truncateSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { requireSpace } from '../../disk/space.ts';
import { type Copied, type CopyOptions, StoreUnusable, UnfitPlace, WouldReplace } from '../store.ts';
import { controlPathOf } from './control.ts';
import { Database, type FileKind } from './database.ts';
import { damageOf, digestOf, soundDigest } from './digest.ts';
import { keysIn, seal } from './manifest.ts';
import { COMPANIONS, discardPartial, flush, makePartial, writeProblem } from './partial.ts';

/** Copies of a store that changes in the moment between the two beginnings of each. */
const ATTEMPTS = 3;

/** What the manifest takes beside the control file. */
const MANIFEST_BYTES = 2 ** 20;

/** Copies the store at `path` into `file`. */
export async function backupSqlite(path: string, file: string, options: CopyOptions): Promise<Copied> {
  const place = resolve(file);
  checkPlace(path, place, options.force);
  const folder = dirname(place);
  const bytes = bytesOf(path, 'store') + 2 * controlBytes(path) + MANIFEST_BYTES;
  await requireSpace(folder, bytes);
  try {
    return copyStore(path, place, options);
  } catch (error) {
    throw await writeProblem(error, folder, bytes);
  }
}

/** Makes the copy beside its place and moves it there. What broke off leaves nothing. */
function copyStore(path: string, place: string, options: CopyOptions): Copied {
  const partial = makePartial(place);
  try {
    const sha256 = naming(path, () => copyData(path, partial, options.tell));
    const control = naming(controlPathOf(path), () => copyControl(path, place));
    const madeMs = Date.now();
    seal(partial, { madeMs, sha256, control: control?.bytes ?? null });
    flush(partial);
    checkPlace(path, place, options.force);
    renameSync(partial, place);
    flush(dirname(place));
    return { file: place, bytes: statSync(place).size, sha256, keys: control?.keys ?? 0, madeMs };
  } finally {
    discardPartial(partial);
  }
}

/** Runs what reads a file, which is named where it turns out to be damaged. */
function naming<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw damageOf(path, error);
  }
}

/** Refuses a place that a copy must not take. */
function checkPlace(path: string, place: string, force: boolean): void {
  if (!existsSync(dirname(place)))
    throw new UnfitPlace(`there is no folder ${dirname(place)}: make it first, or mount its disk`);
  const own = [path, controlPathOf(path)].flatMap((one) => ['', ...COMPANIONS].map((end) => one + end));
  if (own.some((one) => resolve(one) === resolve(place))) throw ownName(place);
  const found = lstatSync(place, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isFile())
    throw new UnfitPlace(
      `${place} is a folder, a link or a device: a backup is a file of its own, give it a name`,
    );
  const isOwn = own.some((one) => {
    const other = statSync(one, { throwIfNoEntry: false });
    return other?.ino === found.ino && other.dev === found.dev;
  });
  if (isOwn) throw ownName(place);
  if (!force)
    throw new WouldReplace(`${place} is there already: choose another name, or --force replaces it`);
}

const ownName = (place: string): UnfitPlace =>
  new UnfitPlace(`${place} belongs to the store itself: give the backup another name`);

/** Bytes that a copy of a file takes. */
function bytesOf(path: string, kind: FileKind): number {
  const database = new Database(path, 'read', kind);
  try {
    return (database.pragma('page_count') - database.pragma('freelist_count')) * database.pragma('page_size');
  } finally {
    database.close();
  }
}

const controlBytes = (path: string): number =>
  existsSync(controlPathOf(path)) ? bytesOf(controlPathOf(path), 'control') : 0;

/**
 * Copies the data into `partial` and holds the copy to be sound and to be, row by row, what the store was; the hash of that.
 * SQLite copies a state of its own choosing and cannot be told which, so a second connection holds the state of the moment
 * before; where an import ended between the two, the copy is made once more.
 */
function copyData(path: string, partial: string, tell: CopyOptions['tell']): string {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    truncateSync(partial);
    const held = new Database(path, 'read', 'store');
    try {
      held.exec('begin');
      held.pragma('user_version');
      tell('copying');
      vacuumInto(path, 'store', partial);
      tell('reading the store again');
      const expected = digestOf(held);
      held.exec('commit');
      tell('reading the copy');
      if (soundDigest(partial, 'store', `the copy of ${path}`) === expected) return expected;
    } finally {
      held.close();
    }
  }
  throw new StoreUnusable(
    `${ATTEMPTS} copies of ${path} differ from it: imports ended in the moment that each began, or the disk does not keep what is written; try again`,
  );
}

/** The control file as one sound file's bytes, and its keys; null where the store has none yet. */
function copyControl(path: string, place: string): { bytes: Uint8Array; keys: number } | null {
  const control = controlPathOf(path);
  if (!existsSync(control)) return null;
  const partial = makePartial(`${place}.keys`);
  try {
    vacuumInto(control, 'control', partial);
    soundDigest(partial, 'control', `the copy of ${control}`);
    return { bytes: readFileSync(partial), keys: countKeys(partial) };
  } finally {
    discardPartial(partial);
  }
}

function countKeys(control: string): number {
  const database = new Database(control, 'read', 'control');
  try {
    return keysIn(database);
  } finally {
    database.close();
  }
}

function vacuumInto(path: string, kind: FileKind, partial: string): void {
  const database = new Database(path, 'read', kind);
  try {
    database.run('vacuum into ?', [partial]);
  } finally {
    database.close();
  }
}
