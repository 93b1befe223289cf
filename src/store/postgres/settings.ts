// How connections are set up for each use of a store.
import type { Mode } from '../store.ts';
import type { SessionSettings } from './connecting.ts';

const patient = { patienceMs: Number.POSITIVE_INFINITY, connectMs: 10_000 } as const;

/** Values decide which index serves a list: each execution is planned by its own (`plan_cache_mode`). */
const planned = { plan_cache_mode: 'force_custom_plan' } as const;

/** A server without an answer for so long counts as gone: callers are told within two seconds, and may have waited for their key before. */
const PATIENCE_MS = 1_500;
/** A statement that takes longer is given up by the server itself. */
const STATEMENT_MS = 1_250;
/** Requests wait for a connection too. */
const CONNECT_MS = 1_000;

/** Of the control tables, on which requests wait as on others. */
export const controlSettings: SessionSettings = { set: {}, patienceMs: PATIENCE_MS, connectMs: CONNECT_MS };

export const settingsOf: Readonly<Record<Mode, SessionSettings>> = {
  serve: {
    set: { ...planned, statement_timeout: STATEMENT_MS },
    patienceMs: PATIENCE_MS,
    connectMs: CONNECT_MS,
  },
  read: { set: planned, ...patient },
  inspect: { set: {}, ...patient },
  write: { set: planned, writes: true, ...patient },
};
