// Readiness: whether the service can answer requests for data now. It tries one that reads the store and
// needs nothing in it. And the state of the service, as far as it is known beside the store.
import { setTimeout as sleep } from 'node:timers/promises';
import { errors } from '../contract/errors.ts';
import type { ServiceState } from '../queries/service-state.ts';
import { isAway, type StoreSpace } from '../store/store.ts';
import type { ControlClient } from './keys/control-client.ts';
import { httpLimits } from './limits.ts';
import { type QueryQueue, QueueError } from './threads/query-queue.ts';

/** The message to callers while the store cannot be reached. */
export const STORE_AWAY = 'The service cannot reach its store now.';

type Queue = Pick<QueryQueue, 'submit'>;

/** The result of `asked`; `late` where there is none within a second. */
async function inTime<T, L>(asked: Promise<T>, late: L): Promise<T | L> {
  const over = new AbortController();
  const later = sleep(httpLimits.readinessMs, late, { ref: false, signal: over.signal });
  later.catch(() => undefined);
  try {
    return await Promise.race([asked, later]);
  } finally {
    over.abort();
  }
}

/**
 * Null where the query thread answers, or is overloaded: overload passes, and other workers have it too. Else
 * what callers are answered, also where there is no answer within a second.
 */
export async function problemOf(queue: Queue, nowMs: number): Promise<string | null> {
  let isOver = false;
  try {
    return await inTime(
      problemOfProbe(queue, nowMs, () => isOver),
      errors.unavailable.meaning,
    );
  } finally {
    isOver = true;
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

/** The parts of a service that tell of its state. */
type StateParts = {
  /** Why it cannot answer requests for data; null where it can. */
  readonly problem: () => Promise<string | null>;
  readonly scrubbing: { readonly damaged: readonly string[] };
  readonly control: Pick<ControlClient, 'state'>;
  readonly engine: { space(): Promise<StoreSpace> };
};

/** Null where the store cannot be reached, or not within a second. */
const unlessAway = <T>(asked: Promise<T>): Promise<T | null> =>
  inTime(asked, null).catch((error: unknown) => {
    if (isAway(error)) return null;
    throw error;
  });

async function readState(parts: StateParts): Promise<ServiceState> {
  const { scrubbing, control, engine } = parts;
  const [problem, kept, space] = await Promise.all([
    parts.problem(),
    unlessAway(control.state()),
    unlessAway(engine.space()),
  ]);
  return {
    health: { ready: problem === null, problem, damaged: [...scrubbing.damaged] },
    disk: { store_bytes: space?.storeBytes ?? null, free_bytes: space?.freeBytes ?? null },
    keys: kept && [...kept.keys],
    check: kept?.check ?? null,
  };
}

/**
 * Reads the state of a service, as far as its HTTP process knows it (contract 7.6). Calls at the same time
 * share a reading: in PostgreSQL each takes a connection.
 */
export function serviceState(parts: StateParts): () => Promise<ServiceState> {
  let reading: Promise<ServiceState> | null = null;
  return () => {
    reading ??= readState(parts).finally(() => {
      reading = null;
    });
    return reading;
  };
}
