// Errors of SQLite and of the system, by what a caller can do about them.
import { isDiskFull } from '../../disk/space.ts';

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

/** Whether SQLite itself found the disk full, and not the work in a transaction that wrote elsewhere. */
export function isFull(error: unknown): boolean {
  const { errcode = 0 } = error as { errcode?: number };
  return errcode === SQLITE_IOERR_SHMSIZE || troubles[errcode & 0xff] === 'full';
}
