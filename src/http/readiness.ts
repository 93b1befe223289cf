// Whether requests for data can be answered now: tried with one that reads the store and needs nothing in it.
import { type QueryPool, QueueError } from './query-pool.ts';

/** True where the query thread answers, or has more to do than it can: that passes, and elsewhere it is no better. */
export async function canAnswer(pool: Pick<QueryPool, 'submit'>, nowMs: number): Promise<boolean> {
  const probe = {
    endpoint: 'economicEventCodes',
    parameters: { country_iso_code: 'US' },
    nowMs,
    wrapCsv: false,
  } as const;
  try {
    const answer = await pool.submit(probe, () => false);
    if (answer.kind === 'answer') answer.release?.();
    return true;
  } catch (error) {
    return error instanceof QueueError && error.problem === 'full';
  }
}
