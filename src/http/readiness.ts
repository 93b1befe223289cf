// Readiness: whether the service can answer requests for data now. It tries one that reads the store and needs nothing in it.
import { type QueryQueue, QueueError } from './queue/query-queue.ts';

/** True where the query thread answers, or is overloaded: overload passes, and other workers have it too. */
export async function canAnswer(queue: Pick<QueryQueue, 'submit'>, nowMs: number): Promise<boolean> {
  const probe = { endpoint: 'economicEventCodes', parameters: { country_iso_code: 'US' } } as const;
  try {
    const answer = await queue.submit({ ...probe, nowMs, wrapCsv: false }, () => false);
    if (answer.kind === 'answer') answer.release?.();
    return true;
  } catch (error) {
    return error instanceof QueueError && error.problem === 'full';
  }
}
