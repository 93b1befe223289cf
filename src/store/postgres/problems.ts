// The errors of reads and writes that failed: what is stored, and what to do.
import { StoreFull, StoreUnavailable } from '../store.ts';
import { ConnectionLost, PostgresProblem } from './session.ts';

/**
 * Of a statement for which a disk of the server has no space (postgresql.org/docs/15/errcodes-appendix.html).
 */
const DISK_FULL = '53100';

const NOTHING_STORED = 'Nothing of what it was to store is stored';

/** The error of a command's read. */
export const readProblem = (error: unknown): unknown => lost(error, 'Run the same command again.');

/** The error of a write that was not published. */
export const writeProblem = (error: unknown): unknown =>
  lost(fullProblem(error, `${NOTHING_STORED}. `), `${NOTHING_STORED}: run the same command again.`);

/**
 * The error of a write to a copy, which keeps what it has stored; or to control tables, whose other errors
 * say enough.
 */
export const fullProblem = (error: unknown, stored = ''): unknown =>
  error instanceof PostgresProblem && error.code === DISK_FULL
    ? new StoreFull(
        `a disk of the PostgreSQL server is full: ${error.message}. ${stored}Free space there, then run the same command again.`,
        { cause: error },
      )
    : error;

/** The error of a lost connection with what to do; any other error as it is. */
const lost = (error: unknown, advice: string): unknown =>
  error instanceof ConnectionLost
    ? new StoreUnavailable(`${error.message}. ${advice}`, { cause: error })
    : error;
