// A write whose connection was lost: whether it was published all the same, and the error that its caller
// gets.
import { setTimeout as sleep } from 'node:timers/promises';
import { isAway, StoreUnavailable } from '../store.ts';
import type { Connection } from './connecting.ts';
import { LOST_OUTCOME_MS, LOST_PAUSE_MS } from './limits.ts';
import type { Session } from './session.ts';
import { type Publication, wasPublished } from './state.ts';

/** A process of the server; its number alone is used again. */
export type ServerProcess = readonly [pid: number, startedAt: string];

/** The process that runs the statements of a session. */
export async function processOf(session: Session): Promise<ServerProcess> {
  const [found] = await session.ask(
    'select pid, backend_start::text from pg_stat_activity where pid = pg_backend_pid()',
  );
  return found as unknown as ServerProcess;
}

/**
 * Ends a process that still has not noticed the loss of its connection: its commit may be under way, or never
 * begin.
 */
const endText = `select pg_terminate_backend(pid)::int from pg_stat_activity
  where pid = $1 and backend_start = $2::timestamptz`;

/** Nobody can tell in time whether a write was published: its blocks stay. */
export class UnknownCommit extends StoreUnavailable {}

/** True if a version was published by a process whose connection was lost. @throws UnknownCommit */
export async function wasPublishedBefore(
  connection: Connection,
  process: ServerProcess,
  publication: Publication,
): Promise<boolean> {
  const over = sleep(LOST_OUTCOME_MS, null, { ref: false });
  const endMs = performance.now() + LOST_OUTCOME_MS;
  const ask = async (): Promise<boolean | null> => {
    for (; performance.now() < endMs; await sleep(LOST_PAUSE_MS)) {
      try {
        const session = await connection.session();
        if ((await session.ask(endText, process)).length === 0)
          return await wasPublished(session, publication);
      } catch (error) {
        if (!isAway(error)) throw error;
      }
    }
    return null;
  };
  const found = await Promise.race([ask(), over]);
  if (found !== null) return found;
  throw new UnknownCommit(
    `the connection to PostgreSQL was lost while a write was being published, and for ${LOST_OUTCOME_MS / 1_000} seconds nobody could be asked whether it was. Run the same command again: where it was, that changes nothing.`,
  );
}
