// Names of temporary files hold their process, so that files of a process that was killed can be removed later.
import { readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The namespace of process numbers: containers that share a folder do not share them. */
function namespaceOfPids(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}

const namespace = namespaceOfPids();

/** Age at which a file of another namespace counts as left over: no import or backup takes so long. */
const FOREIGN_LEFT_MS = 24 * 60 * 60 * 1000;

/** The mark of this process in the names of its temporary files: `PID.NAMESPACE`. */
export const ownMark = `${process.pid}.${namespace}`;

/** Removes files of a folder that carry the mark of a process that has ended; the group of `pattern` finds the mark in a name. */
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
