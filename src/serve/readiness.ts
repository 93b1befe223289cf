// Readiness: whether the service can answer requests for data now. It tries one that reads the store and
// needs nothing in it.
import { setTimeout as sleep } from 'node:timers/promises';
import { errors } from '../contract/errors.ts';
import { httpLimits } from './limits.ts';
import { type QueryQueue, QueueError } from './threads/query-queue.ts';

/** The message to callers while the store cannot be reached. */
export const STORE_AWAY = 'The service cannot reach its store now.';

type Queue = Pick<QueryQueue, 'submit'>;

/**
 * Null where the query thread answers, or is overloaded: overload passes, and other workers have it too. Else
 * what callers are answered, also where there is no answer within a second.
 */
export async function problemOf(queue: Queue, nowMs: number): Promise<string | null> {
  const over = new AbortController();
  const { signal } = over;
  const late = sleep(httpLimits.readinessMs, errors.unavailable.meaning, { ref: false, signal });
  late.catch(() => undefined);
  try {
    return await Promise.race([problemOfProbe(queue, nowMs, () => signal.aborted), late]);
  } finally {
    over.abort();
  }
}

async function problemOfProbe(queue: Queue, nowMs: number, isGone: () => boolean): Promise<string | null> {
  const probe = { endpoint: 'economicEventCodes', parameters: { country_iso_code: 'US' } } as const;
  try {
    const answer = await queue.submit({ ...probe, nowMs, wrapCsv: false }, isGone);
    if (answer.kind === 'answer') answer.release?.();
    return null;
  } catch (error) {
    const problem = error instanceof QueueError ? error.problem : 'fault';
    if (problem === 'full') return null;
    return problem === 'unavailable' ? STORE_AWAY : errors.unavailable.meaning;
  }
}
