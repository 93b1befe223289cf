// Which process writes to a SQLite file in WAL mode, by the system's list of locks.
import { readFileSync, statSync } from 'node:fs';

/** Byte of the shared memory file that a writer locks (sqlite.org/walformat.html, "WAL locks"). */
const WRITE_LOCK_BYTE = 120;

/** The process that is writing to the file at `path`, where the system tells it (proc_locks(5)); else null. */
export function writerOf(path: string): number | null {
  try {
    const { ino } = statSync(`${path}-shm`);
    const lock = new RegExp(
      `POSIX +ADVISORY +WRITE (\\d+) \\w+:\\w+:${ino} ${WRITE_LOCK_BYTE} ${WRITE_LOCK_BYTE}$`,
      'm',
    );
    const pid = Number(lock.exec(readFileSync('/proc/locks', 'utf8'))?.[1] ?? 0);
    return pid > 0 ? pid : null;
  } catch {
    // Other systems have no such list. The number is only shown to a person.
    return null;
  }
}
