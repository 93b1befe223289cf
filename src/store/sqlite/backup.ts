// A whole store as one file, made while others read and write it (docs/decisions/0010).
import { existsSync, lstatSync, readFileSync, renameSync, statSync, truncateSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Dataset } from '../../datasets/dataset.ts';
import { controlDatasets, dataDatasets } from '../../datasets/index.ts';
import { requireDiskSpace } from '../../disk/space.ts';
import { damageWords } from '../damage.ts';
import { storeLimits } from '../limits.ts';
import { type Copied, type CopyOptions, StoreUnusable, UnfitPlace, WouldReplace } from '../store.ts';
import { controlPathOf } from './control.ts';
import { Database, type FileKind } from './database.ts';
import { damageOf, digestOf, soundDigest } from './digest.ts';
import { keysIn, seal } from './manifest.ts';
import { COMPANIONS, copyBytes, flush, makePartial, vacuumInto, writeProblem } from './partial.ts';
import { scrub } from './scrub.ts';

const { copyAttemptsMax, copyDamageNamedMax, manifestBytes } = storeLimits;

/** Copies the store at `path` into `file`. */
export async function backupSqlite(path: string, file: string, options: CopyOptions): Promise<Copied> {
  const place = resolve(file);
  checkPlace(path, place, options.force);
  const folder = dirname(place);
  const bytes = bytesOf(path, 'store') + 2 * bytesOf(controlPathOf(path), 'control') + manifestBytes;
  requireDiskSpace(folder, bytes);
  try {
    return copyStore(path, place, options);
  } catch (error) {
    throw await writeProblem(error, folder, bytes);
  }
}

/** Makes the copy under a temporary name and renames it. A copy that fails leaves nothing. */
function copyStore(path: string, place: string, options: CopyOptions): Copied {
  using partial = makePartial(place);
  const sha256 = naming(path, () => copyData(path, partial.path, options.tell));
  const control = naming(controlPathOf(path), () => copyControl(path, place));
  const madeMs = options.nowMs();
  seal(partial.path, { madeMs, sha256, control: control?.bytes ?? null });
  flush(partial.path);
  checkPlace(path, place, options.force);
  renameSync(partial.path, place);
  flush(dirname(place));
  return { file: place, bytes: statSync(place).size, sha256, keys: control?.keys ?? 0, madeMs };
}

/** Runs `read` on a file; the error for a damaged file names it. */
function naming<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw damageOf(path, error);
  }
}

/** Refuses a path where no copy may be. */
function checkPlace(path: string, place: string, force: boolean): void {
  if (!existsSync(dirname(place)))
    throw new UnfitPlace(`there is no folder ${dirname(place)}: make it first, or mount its disk`);
  const found = lstatSync(place, { throwIfNoEntry: false });
  const own = [path, controlPathOf(path)].flatMap((one) => ['', ...COMPANIONS].map((end) => one + end));
  const isOwn = own.some((one) => {
    const other = statSync(one, { throwIfNoEntry: false });
    return resolve(one) === place || (found && other?.ino === found.ino && other.dev === found.dev);
  });
  if (isOwn) throw new UnfitPlace(`${place} belongs to the store itself: give the backup another name`);
  if (found === undefined) return;
  if (!found.isFile())
    throw new UnfitPlace(`${place} is a folder, a link or a device: give the backup the name of a new file`);
  if (!force)
    throw new WouldReplace(`${place} exists already: choose another name, or add --force to replace it`);
}

/** The size in bytes of a copy of a file; 0 where there is no control file. */
function bytesOf(path: string, kind: FileKind): number {
  if (kind === 'control' && !existsSync(path)) return 0;
  using database = new Database(path, 'read', kind);
  return copyBytes(database);
}

/**
 * Copies the data into `partial` and checks that the copy is sound and equals the store, row by row. Gives
 * the hash of the rows. SQLite chooses the state that it copies, so a second connection holds the state of
 * the moment before. Where an import ended between the two, the copy is made again.
 */
function copyData(path: string, partial: string, tell: CopyOptions['tell']): string {
  for (let attempt = 0; attempt < copyAttemptsMax; attempt++) {
    truncateSync(partial);
    using held = new Database(path, 'read', 'store');
    held.exec('begin');
    held.pragma('user_version');
    tell('reading the store');
    requireSound(held, dataDatasets);
    tell('copying');
    vacuumInto(path, 'store', partial);
    tell('reading the store again');
    const expected = digestOf(held);
    held.exec('commit');
    tell('reading the copy');
    if (soundDigest(partial, 'store', `the copy of ${path}`) === expected) return expected;
  }
  throw new StoreUnusable(
    `${copyAttemptsMax} copies of ${path} differ from it: an import ended during each of them, or the disk does not keep what is written; try again`,
  );
}

/** Refuses a file of which anything is damaged. @throws StoreUnusable that names the damage */
function requireSound(database: Database, tables: readonly Dataset[]): void {
  const found = [...scrub(database, tables)].flatMap(({ damage }) => damage);
  if (found.length === 0) return;
  const named = found.slice(0, copyDamageNamedMax).map(damageWords).join('; ');
  const more = found.length > copyDamageNamedMax ? `; and ${found.length - copyDamageNamedMax} more` : '';
  throw new StoreUnusable(
    `${database.path} is damaged, and is not copied: ${named}${more}; bourse doctor --deep says what to do, and earlier backups are as they were`,
  );
}

/** The control file as one sound file's bytes, and its number of keys; null where the store has none yet. */
function copyControl(path: string, place: string): { bytes: Uint8Array; keys: number } | null {
  const control = controlPathOf(path);
  if (!existsSync(control)) return null;
  using keys = new Database(control, 'read', 'control');
  requireSound(keys, controlDatasets);
  using partial = makePartial(`${place}.keys`);
  vacuumInto(control, 'control', partial.path);
  soundDigest(partial.path, 'control', `the copy of ${control}`);
  using copy = new Database(partial.path, 'read', 'control');
  return { bytes: readFileSync(partial.path), keys: keysIn(copy) };
}
