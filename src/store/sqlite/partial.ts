// Files that become visible whole or not at all: written beside their final path under a temporary name, then
// renamed.
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { diskFull, folderProblem } from '../../disk/space.ts';
import { ownMark, removeLeftovers } from '../../disk/temporary.ts';
import { Database, type FileKind } from './database.ts';
import { troubleOf } from './trouble.ts';

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

/** The size in bytes of a compact copy of a file. */
export const copyBytes = (database: Database): number =>
  (database.pragma('page_count') - database.pragma('freelist_count')) * database.pragma('page_size');

/** Copies the newest committed state of a file into an empty one, while others use it. */
export function vacuumInto(path: string, kind: FileKind, empty: string): void {
  using database = new Database(path, 'read', kind);
  database.run('vacuum into ?', [empty]);
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

/** The same error, or a `DiskFull` where the folder's disk had no space for so many bytes. */
export const writeProblem = async (error: unknown, folder: string, bytes: number): Promise<unknown> =>
  troubleOf(error) === 'full' ? diskFull(folder, bytes, error) : error;
