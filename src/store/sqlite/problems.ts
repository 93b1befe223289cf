// Errors of SQLite and of the system, by what a caller can do about them.
import { diskFull, isDiskFull } from '../../base/space.ts';

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

/** True if SQLite itself found the disk full, and not the work in a transaction that wrote elsewhere. */
export function isFull(error: unknown): boolean {
  const { errcode = 0 } = error as { errcode?: number };
  return errcode === SQLITE_IOERR_SHMSIZE || troubles[errcode & 0xff] === 'full';
}

const SQLITE_IOERR = 10;

/**
 * The file is locked by another process, also as a race for its log (15), or its path leads to no file that
 * can be opened.
 */
const passing: ReadonlySet<number> = new Set([5, 14, 15]);

/**
 * As above, by extended code: the log or its shared memory cannot be made anew, or the file was moved away.
 */
const passingExtended: ReadonlySet<number> = new Set([264, 520, 1032, 1288, 1544]);

/**
 * A place of the disk that cannot be read, a file that ends too early, and what a file system or a layer
 * below found damaged.
 */
const lastingReads: ReadonlySet<number> = new Set([266, 522, 8202, 8458]);

/**
 * True if an error of SQLite may pass by itself: the file cannot be reached now. Damage does not pass, nor
 * does an unreadable place.
 */
export function isPassing(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  if (errcode === undefined) return false;
  if ((errcode & 0xff) === SQLITE_IOERR) return !lastingReads.has(errcode);
  return passing.has(errcode & 0xff) || passingExtended.has(errcode);
}

/** The same error, or a `DiskFull` where the folder's disk had no space for so many bytes. */
export const writeProblem = async (error: unknown, folder: string, bytes: number): Promise<unknown> =>
  troubleOf(error) === 'full' ? diskFull(folder, bytes, error) : error;
