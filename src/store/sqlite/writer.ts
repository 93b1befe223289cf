// Which process writes to a SQLite file in WAL mode, by the system's list of locks.
import { readFileSync, statSync } from 'node:fs';

/** Byte of the shared memory file that a writer locks (sqlite.org/walformat.html, "WAL locks"). */
const WRITE_LOCK_BYTE = 120;

/**
 * The number of the process that is writing to the file at `path` (proc_locks(5)); null where the system does
 * not list it.
 */
export function writerOf(path: string): number | null {
  try {
    const { ino } = statSync(`${path}-shm`);
    const range = `${ino} ${WRITE_LOCK_BYTE} ${WRITE_LOCK_BYTE}`;
    const lock = new RegExp(`POSIX +ADVISORY +WRITE (\\d+) \\w+:\\w+:${range}$`, 'm');
    return Number(lock.exec(readFileSync('/proc/locks', 'utf8'))?.[1]) || null;
  } catch {
    // Other systems have no such list. The number is only shown to a person.
    return null;
  }
}
