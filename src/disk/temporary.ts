// Names of temporary files hold their process, so that files of a process that was killed can be removed later.
import { readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A process number is valid only in its own namespace: containers that share a folder do not share their numbers. */
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

/** Removes a folder's files whose name has the mark of a process that has ended; the group of `pattern` finds the mark. */
export function removeLeftovers(folder: string, pattern: RegExp): void {
  for (const name of readdirSync(folder)) {
    const mark = pattern.exec(name)?.[1];
    if (mark === undefined) continue;
    try {
      if (isLeft(mark, statSync(join(folder, name)).mtimeMs))
        rmSync(join(folder, name), { recursive: true, force: true });
    } catch {
      // Files of other users stay.
    }
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
