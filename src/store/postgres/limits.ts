// Bounds of connections to PostgreSQL, each with its reason.

/**
 * A server without an answer for so long counts as gone: callers are told within two seconds, and may have
 * waited for their key before.
 */
export const PATIENCE_MS = 1_500;

/** A statement that takes longer is given up by the server itself. */
export const STATEMENT_MS = 1_250;

/** Requests wait for a connection too. */
export const CONNECT_MS = 1_000;

/**
 * The server notices within a minute that the machine of a connection has vanished, whatever it is waiting
 * for: its write would keep the lock of writers for two hours otherwise
 * (postgresql.org/docs/15/runtime-config-connection.html). On this side that holds while it waits for an
 * answer; what is just being sent to a server that vanished is given up when TCP does, after about 15
 * minutes.
 */
export const KEEPALIVE = { idleS: 30, intervalS: 10, count: 3 } as const;

/** Time for the server to end its side of a connection: one that is silent would keep the process. */
export const CLOSE_MS = 3_000;

/**
 * Time in which it is asked whether a write was published whose connection was lost: a standby that takes
 * over needs a part of it.
 */
export const LOST_OUTCOME_MS = 30_000;

/** Pause between two questions. */
export const LOST_PAUSE_MS = 100;
