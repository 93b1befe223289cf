// The files of a store, and the errors of SQLite and of the system about them. Each file has one name,
// because SQLite keeps the log beside the name by which a file was opened. A new one is written under a
// temporary name, and becomes visible whole or not at all.
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { closedAmong, diskFullNow, folderProblem, isDiskFull, STORE_NEEDS } from '../../base/space.ts';
import { otherThanFile, ownMark, removeLeftovers } from '../../base/temporary.ts';
import { type Damage, DamagedData } from '../damage.ts';
import { type Mode, StoreDamaged, StoreUnavailable, StoreUnusable, UnfitPlace } from '../store.ts';

/** The result code (sqlite.org/rescode.html) of a full disk in the shared memory of the log. */
const SQLITE_IOERR_SHMSIZE = 4874;

/** The kind of an error of SQLite or of the system; null for any other error. */
export function troubleOf(error: unknown): Trouble | null {
  const { errcode, cause } = error as { errcode?: number; cause?: unknown };
  if (isDiskFull(error) || isFull(error)) return 'full';
  if (errcode !== undefined) return troubles[errcode & 0xff] ?? null;
  return cause instanceof Error ? troubleOf(cause) : null;
}

type Trouble = 'busy' | 'closed' | 'damaged' | 'full';

/** By result code (sqlite.org/rescode.html). */
const troubles: Readonly<Record<number, Trouble>> = {
  5: 'busy',
  8: 'closed',
  11: 'damaged',
  13: 'full',
  14: 'closed',
  26: 'damaged',
};

/** True if SQLite itself found the disk full, and not the work in a transaction that wrote elsewhere. */
export function isFull(error: unknown): boolean {
  const { errcode = 0 } = error as { errcode?: number };
  return errcode === SQLITE_IOERR_SHMSIZE || troubles[errcode & 0xff] === 'full';
}

const SQLITE_IOERR = 10;

/**
 * The file is locked by another process, also as a race for its log (15), or its path leads to no file that
 * can be opened.
 */
const passing: ReadonlySet<number> = new Set([5, 14, 15]);

/**
 * As above, by extended code: the log or its shared memory cannot be made anew, or the file was moved away.
 */
const passingExtended: ReadonlySet<number> = new Set([264, 520, 1032, 1288, 1544]);

/**
 * A place of the disk that cannot be read, a file that ends too early, and what a file system or a layer
 * below found damaged.
 */
const lastingReads: ReadonlySet<number> = new Set([266, 522, 8202, 8458]);

/**
 * True if an error of SQLite may pass by itself: the file cannot be reached now. Damage does not pass, nor
 * does an unreadable place.
 */
export function isPassing(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  if (errcode === undefined) return false;
  if ((errcode & 0xff) === SQLITE_IOERR) return !lastingReads.has(errcode);
  return passing.has(errcode & 0xff) || passingExtended.has(errcode);
}

/** The endings of the files that SQLite keeps beside a file. */
export const COMPANIONS = ['-journal', '-wal', '-shm'] as const;

/**
 * Makes an empty file beside `place` for its owner alone; it is removed with its scope unless it was renamed.
 * Removes leftovers of killed processes.
 */
export function makePartial(place: string): { readonly path: string } & Disposable {
  const folder = dirname(place);
  removeLeftovers(
    folder,
    new RegExp(`^${RegExp.escape(basename(place))}\\.(\\d+\\.\\d+)\\.partial(?:${COMPANIONS.join('|')})?$`),
  );
  const path = `${place}.${ownMark}.partial`;
  try {
    writeFileSync(path, '', { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw folderProblem(error, folder, 'name another');
  }
  return {
    path,
    [Symbol.dispose]() {
      for (const companion of ['', ...COMPANIONS]) rmSync(path + companion, { force: true });
    },
  };
}

/** Gives a file the owner and the permissions of an existing file; else does nothing. */
export function takeOwner(made: string, from: string): void {
  const old = statSync(from, { throwIfNoEntry: false });
  if (old === undefined) return;
  if (process.getuid?.() === 0) chownSync(made, old.uid, old.gid);
  chmodSync(made, old.mode & 0o777);
}

/**
 * Waits until a file, or a folder's list of names, is on the disk. No connection of this process may have it
 * open.
 */
export function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** The name under which a restore keeps a file that it replaces. */
export const keptName = (path: string): string => `${path}.before-restore`;

/**
 * The full path of a file without symbolic links, whether the file exists or not; the path itself where links
 * lead in a circle.
 */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return resolve(path);
  }
  const folder = dirname(resolve(path));
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    return realPathOf(resolve(folder, readlinkSync(path)));
  return folder === resolve(path) ? folder : join(realPathOf(folder), basename(path));
}

/**
 * Kinds of files: the mark in their header (sqlite.org/pragma.html#pragma_application_id), and their name in
 * messages.
 */
export const kinds = {
  /** "BRSE" */
  store: { applicationId: 0x4252_5345, called: 'a Bourse store' },
  /** "BRSC": holds hashes of keys, and a secret. */
  control: { applicationId: 0x4252_5343, called: 'the keys of a Bourse store' },
  /** "BRSB": holds both. */
  backup: { applicationId: 0x4252_5342, called: 'a Bourse backup' },
} as const;

export type FileKind = keyof typeof kinds;

/** Refuses a path that leads to something else than a file. @throws UnfitPlace */
export function requireFile(path: string, kind: FileKind): void {
  const found = otherThanFile(path);
  if (found === null) return;
  const cure = kind === 'store' && found === 'a folder' ? ` in it, such as ${join(path, 'bourse.db')}` : '';
  throw new UnfitPlace(`${path} is not ${kinds[kind].called}: it is ${found}; name a file${cure}`);
}

/**
 * The device and inode of the file that has a name now; null where there is none, or it cannot be reached.
 */
export function fileAt(path: string): string | null {
  try {
    const { dev, ino } = statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}

/** The size of a page of new files. */
export const PAGE_BYTES = 16_384;

/**
 * The shared memory of the log (sqlite.org/walformat.html#the_wal_index_file_format), which reading takes
 * too.
 */
const SHARED_MEMORY_BYTES = 32_768;

/** A log with one page, in blocks of the disk. */
const LOG_BYTES_LEAST = PAGE_BYTES + 4_096;

/** The cure for a store that belongs to another user. */
const OWNER_NEEDS = 'run this as its owner, or give the store, its folder included, to this user with chown';

/**
 * The error of a file that cannot be opened. It finds out which path cannot be written to: SQLite needs the
 * folder too, for the log, but does not name it. To be called once the file is closed, because its shared
 * memory then takes no space.
 */
export function notOpened(path: string, error: unknown, mode: Mode): StoreUnusable {
  const folder = dirname(path);
  if (troubleOf(error) === 'full') {
    const neededBytes = SHARED_MEMORY_BYTES + (mode === 'write' ? LOG_BYTES_LEAST : 0);
    const full = diskFullNow(folder, neededBytes, error);
    return new StoreUnavailable(full.message, { cause: full });
  }
  const closed =
    troubleOf(error) === 'closed' ? closedAmong([folder, path], mode === 'write' ? OWNER_NEEDS : null) : null;
  const cause = folderProblem(error, folder, STORE_NEEDS) as Error;
  const reason = closed ?? cause.message;
  const message = `${path} cannot be opened: ${reason}`;
  if (troubleOf(error) === 'damaged')
    return new StoreDamaged(
      `${message}; if it was a store, it is damaged: restore a backup (bourse restore FILE --force)`,
      { cause },
    );
  return isPassing(error) ? new StoreUnavailable(message, { cause }) : new StoreUnusable(message, { cause });
}

/**
 * The damage because of which SQLite could not run a statement; without a dataset where it is not known whose
 * pages are damaged.
 */
export const pageDamage = (dataset: string | null, error: unknown): Damage => ({
  dataset,
  place: dataset === null ? 'a page that was read' : 'a page of its table or indexes',
  problem: (error as Error).message,
});

/** The result of a statement. @throws DamagedData where the file is too damaged for it */
export function ofPages<T>(dataset: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw troubleOf(error) === 'damaged' ? new DamagedData(pageDamage(dataset, error), error) : error;
  }
}

/** The result of a read, or the damage because of which there is none. */
export function tried<T>(table: string | null, read: () => T): T | Damage {
  try {
    return read();
  } catch (error) {
    if (troubleOf(error) !== 'damaged') throw error;
    return pageDamage(table, error);
  }
}
