// Opens SQLite files, and says why one cannot be opened: the only place that imports node:sqlite.
import { closeSync, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import {
  closedAmong,
  diskFullNow,
  folderProblem,
  isReadOnlyDisk,
  OWNER_NEEDS,
  STORE_NEEDS,
} from '../../disk/space.ts';
import { storeLimits } from '../limits.ts';
import { type Mode, StoreDamaged, StoreUnavailable, StoreUnusable } from '../store.ts';
import { isPassing, troubleOf } from './trouble.ts';

/** A connection to a file, a value given to SQLite, and a prepared statement. */
export type {
  DatabaseSync as Connection,
  SQLInputValue as SqlValue,
  StatementSync as Statement,
} from 'node:sqlite';

/** The size of a page of new files. */
export const PAGE_BYTES = 16_384;

/**
 * The shared memory of the log (sqlite.org/walformat.html#the_wal_index_file_format), which reading takes
 * too.
 */
const SHARED_MEMORY_BYTES = 32_768;

/** A log with one page, in blocks of the disk. */
const LOG_BYTES_LEAST = PAGE_BYTES + 4_096;

/**
 * The path or address for SQLite. A file without a log has no writer: it can be read without making a log
 * (sqlite.org/uri.html).
 */
function locationOf(path: string, mode: Mode): string | URL {
  const makesLog = mode === 'write' || (mode !== 'inspect' && !isReadOnlyDisk(dirname(path)));
  if (makesLog || existsSync(`${path}-wal`)) return path;
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return url;
}

/** Opens a file, which mode `write` makes where it is missing. @throws StoreUnusable */
export function openConnection(path: string, mode: Mode): DatabaseSync {
  try {
    // Only its maker may read a new file. An existing file is not opened: closing it would release this
    // process' locks on it.
    if (mode === 'write' && !existsSync(path)) closeSync(openSync(path, 'a', 0o600));
    return new DatabaseSync(locationOf(path, mode), {
      readOnly: mode !== 'write',
      timeout: storeLimits.busyTimeoutMs,
    });
  } catch (error) {
    throw notOpened(path, error, mode);
  }
}

/**
 * The error of a file that cannot be opened. It finds out which path cannot be written to: SQLite needs the
 * folder too, for the log, but does not name it. To be called once the file is closed, because its shared
 * memory then takes no space.
 */
export function notOpened(path: string, error: unknown, mode: Mode): StoreUnusable {
  const folder = dirname(path);
  if (troubleOf(error) === 'full') {
    const neededBytes = SHARED_MEMORY_BYTES + (mode === 'write' ? LOG_BYTES_LEAST : 0);
    const full = diskFullNow(folder, neededBytes, error);
    return new StoreUnavailable(full.message, { cause: full });
  }
  const closed =
    troubleOf(error) === 'closed' ? closedAmong([folder, path], mode === 'write' ? OWNER_NEEDS : null) : null;
  const cause = folderProblem(error, folder, STORE_NEEDS) as Error;
  const reason = closed ?? cause.message;
  const message = `${path} cannot be opened: ${reason}`;
  if (troubleOf(error) === 'damaged')
    return new StoreDamaged(
      `${message}; if it was a store, it is damaged: restore a backup (bourse restore FILE --force)`,
      { cause },
    );
  return isPassing(error) ? new StoreUnavailable(message, { cause }) : new StoreUnusable(message, { cause });
}
