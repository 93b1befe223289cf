// The files of a store: each has one name, because SQLite keeps the log beside the name by which a file was
// opened. A new one is written under a temporary name, and becomes visible whole or not at all.
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
import { folderProblem } from '../../base/space.ts';
import { ownMark, removeLeftovers } from '../../base/temporary.ts';
import { StoreUnusable } from '../store.ts';

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
 * Refuses a file with several hard links: opened by two of its names, it would have two logs, and lose or
 * destroy data (sqlite.org/howtocorrupt.html, "Multiple links to the same file"). @throws StoreUnusable
 */
export function requireOneName(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.nlink <= 1) return;
  // A restore that is under way, or was killed, has given the file this name too.
  const kept = statSync(keptName(path), { throwIfNoEntry: false });
  const known = kept?.ino === found.ino && kept.dev === found.dev ? 2 : 1;
  if (found.nlink <= known) return;
  throw new StoreUnusable(
    `${path} has ${found.nlink} hard links: opened by two names, it would lose data. List them: find / -xdev -samefile ${path}. Keep the one with a -wal file beside it, if there is one, and remove the others`,
  );
}
