// Names of temporary files hold their process, so that files of a process that was killed can be removed
// later.
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderProblem } from './space.ts';

/**
 * A process number is valid only in its own namespace: containers that share a folder do not share their
 * numbers.
 */
let namespace = '0';
try {
  namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
} catch {
  // Other systems have no namespaces.
}

/** A file of another namespace counts as left over at this age: no import or backup takes so long. */
const FOREIGN_LEFT_MS = 24 * 60 * 60 * 1000;

/** The part of this process in the names of its temporary files: `PID.NAMESPACE`. */
export const ownMark = `${process.pid}.${namespace}`;

/** Makes a temporary folder. @throws FolderUnusable */
export function makeTemporary(prefix: string): string {
  try {
    return mkdtempSync(join(tmpdir(), `${prefix}${ownMark}-`));
  } catch (error) {
    throw folderProblem(error, tmpdir(), 'set TMPDIR to another one');
  }
}

/** Removes a temporary file or folder; what cannot be removed stays. */
export function removeTemporary(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Somebody else has closed it, or has put something else in its place.
  }
}

/**
 * Removes a folder's files whose name has the mark of a process that has ended; the group of `pattern` finds
 * the mark.
 */
export function removeLeftovers(folder: string, pattern: RegExp): void {
  for (const name of namesIn(folder)) {
    const mark = pattern.exec(name)?.[1];
    if (mark === undefined) continue;
    const { mtimeMs } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {};
    // Files of other users stay.
    if (mtimeMs !== undefined && isLeft(mark, mtimeMs)) removeTemporary(join(folder, name));
  }
}

/** The names in a folder; none if it cannot be read: the next write there fails and says why. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isLeft(mark: string, changedMs: number): boolean {
  const [pid, home] = mark.split('.');
  if (home !== namespace) return Date.now() - changedMs > FOREIGN_LEFT_MS;
  // In a container, every start has the same process number.
  if (Number(pid) === process.pid) return changedMs < performance.timeOrigin;
  return !isRunning(Number(pid));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The kind of a path that does not lead to a file, in words; null for a file, and where nothing is found. */
export function otherThanFile(path: string): string | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isFile()) return null;
    if (found.isDirectory()) return 'a folder';
    if (found.isFIFO()) return 'a pipe';
    return found.isSocket() ? 'a socket' : 'a device';
  } catch {
    // Opening the path reports why it cannot be reached.
    return null;
  }
}
