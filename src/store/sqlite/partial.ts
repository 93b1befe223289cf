// Files that become visible whole or not at all: written beside their final name under a temporary one, then renamed.
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
import { troubleOf } from './database.ts';

/** What SQLite keeps beside a file. */
export const COMPANIONS = ['-journal', '-wal', '-shm'] as const;

/** Makes an empty file beside `place` that only its owner may read. Removes what a killed process left there. */
export function makePartial(place: string): string {
  const folder = dirname(place);
  const name = basename(place).replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  removeLeftovers(folder, new RegExp(`^${name}\\.(\\d+\\.\\d+)\\.partial(?:-journal|-wal|-shm)?$`));
  const partial = `${place}.${ownMark}.partial`;
  try {
    writeFileSync(partial, '', { mode: 0o600, flag: 'wx' });
    return partial;
  } catch (error) {
    throw folderProblem(error, folder, 'name another');
  }
}

/** Removes a temporary file, if it was not moved. */
export function discardPartial(partial: string): void {
  for (const companion of ['', ...COMPANIONS]) rmSync(partial + companion, { force: true });
}

/** Gives a file the owner and the permissions of another one, where that is there. */
export function takeOwner(made: string, from: string): void {
  const old = statSync(from, { throwIfNoEntry: false });
  if (old === undefined) return;
  if (process.getuid?.() === 0) chownSync(made, old.uid, old.gid);
  chmodSync(made, old.mode & 0o777);
}

/** Waits until a file, or a folder's list of names, is on the disk. No connection of this process may have it open. */
export function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** The same error, or a `DiskFull` where the disk of the folder had no space for so many bytes. */
export const writeProblem = async (error: unknown, folder: string, bytes: number): Promise<unknown> =>
  troubleOf(error) === 'full' ? diskFull(folder, bytes, error) : error;
