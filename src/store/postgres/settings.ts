// How connections are set up for each use of a store.
import type { Mode } from '../store.ts';
import type { SessionSettings } from './connecting.ts';
import { CONNECT_MS, PATIENCE_MS, STATEMENT_MS } from './limits.ts';

const patient = { patienceMs: Number.POSITIVE_INFINITY, connectMs: 10_000 } as const;

/** Values decide which index serves a list: each execution is planned by its own (`plan_cache_mode`). */
const planned = { plan_cache_mode: 'force_custom_plan' } as const;

/**
 * A list is a walk of an index that stops at the end of the page. PostgreSQL would collect and sort the rows
 * of one that it takes for small: more work the more a filter finds, and its guess is as old as its
 * statistics. A search for options, whose order no index has, is sorted all the same: PostgreSQL only takes a
 * sort for dearer than every walk. Blocks are sorted bucket by bucket along their index, so
 * `enable_incremental_sort` stays on. Plans are not compiled: a request is over sooner.
 */
const walking = { enable_bitmapscan: 'off', enable_seqscan: 'off', enable_sort: 'off', jit: 'off' } as const;

/** Of the control tables, on which requests wait as on others. */
export const controlSettings: SessionSettings = { set: {}, patienceMs: PATIENCE_MS, connectMs: CONNECT_MS };

export const settingsOf: Readonly<Record<Mode, SessionSettings>> = {
  serve: {
    set: { ...planned, ...walking, statement_timeout: STATEMENT_MS },
    patienceMs: PATIENCE_MS,
    connectMs: CONNECT_MS,
  },
  read: { set: planned, ...patient },
  inspect: { set: {}, ...patient },
  write: { set: planned, writes: true, ...patient },
};
