// The names of a SQLite file: SQLite keeps the log beside the name that a file was opened by, so a store has
// one name.
import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { StoreUnusable } from '../store.ts';

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
