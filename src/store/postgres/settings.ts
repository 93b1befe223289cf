// How connections are set up for each use of a store.
import type { Mode } from '../store.ts';
import type { SessionSettings } from './connecting.ts';

const patient = { patienceMs: Number.POSITIVE_INFINITY, connectMs: 10_000 } as const;

/** Values decide which index serves a list: each execution is planned by its own (`plan_cache_mode`). */
const planned = { plan_cache_mode: 'force_custom_plan' } as const;

/** A caller waits for an answer at most this long: then the server counts as gone. */
const STATEMENT_MS = 1_500;
const PATIENCE_MS = 2_000;

export const settingsOf: Readonly<Record<Mode, SessionSettings>> = {
  serve: {
    set: { ...planned, statement_timeout: STATEMENT_MS },
    patienceMs: PATIENCE_MS,
    connectMs: STATEMENT_MS,
  },
  read: { set: planned, ...patient },
  inspect: { set: {}, ...patient },
  write: { set: planned, writes: true, ...patient },
};
