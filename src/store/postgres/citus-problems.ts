// What Citus says where a worker is lost (citus 13.2: remote_commands.c, remote_transaction.c,
// expected/failure_*.out).

const INTERNAL = 'XX000';

/**
 * Texts of the client library of PostgreSQL and of Citus about a lost worker; most others have a condition of
 * class 08.
 */
const lost =
  /^(?:connection not open|no connection to the server|server closed the connection|SSL (?:SYSCALL|connection|error)|could not (?:receive|send|connect)|failure on connection marked as essential)/;

/** True if an error is that of a worker that was lost. Citus has no condition of its own for it. */
export const isLostWorker = (code: string, message: string): boolean =>
  code === INTERNAL && lost.test(message);

/**
 * True if a warning says that a worker has not committed what the coordinator has. The statement succeeds
 * all the same, and its blocks may appear later, or never: a write must not count on them.
 */
export const isUncommitted = (severity: string, message: string): boolean =>
  severity === 'WARNING' && message.startsWith('failed to commit transaction on ');
