// Readiness: whether the service can answer requests for data now. It tries one that reads the store and needs nothing in it.
import { errors } from '../contract/errors.ts';
import { type QueryQueue, QueueError } from './queue/query-queue.ts';

/** What callers are told while the store cannot be reached. */
export const STORE_AWAY = 'The service cannot reach its store now.';

/** Null where the query thread answers, or is overloaded: overload passes, and other workers have it too. Else what callers are told. */
export async function problemOf(queue: Pick<QueryQueue, 'submit'>, nowMs: number): Promise<string | null> {
  const probe = { endpoint: 'economicEventCodes', parameters: { country_iso_code: 'US' } } as const;
  try {
    const answer = await queue.submit({ ...probe, nowMs, wrapCsv: false }, () => false);
    if (answer.kind === 'answer') answer.release?.();
    return null;
  } catch (error) {
    const problem = error instanceof QueueError ? error.problem : 'fault';
    if (problem === 'full') return null;
    return problem === 'unavailable' ? STORE_AWAY : errors.unavailable.meaning;
  }
}
