// The page of metrics, and the door of a port that has nothing else (contract 9.3).
import { prometheusContentType } from '@prometheus-io/client';
import type { Observe } from '../base/observe.ts';
import { Refusal } from '../contract/errors.ts';
import { type DoorRequest, errorReply, methodNotAllowed, pageReply, preflight, requestIdOf } from './door.ts';
import type { Page } from './page.ts';
import type { DoorReply } from './reply.ts';

/** Where metrics are. */
export const METRICS_PATH = '/metrics';

/** Metrics as a page. Web pages of others get no leave to read it: it needs no key. */
export function metricsPage(text: () => Promise<string>): Page {
  return async () => ({
    headers: { 'Content-Type': prometheusContentType, 'Cache-Control': 'no-store' },
    body: await text(),
    isOurs: true,
  });
}

/** Answers on a port of metrics alone. Its requests are no callers': only its faults are observed. */
export class MetricsDoor {
  readonly #page: Page;
  readonly #observe: Observe;

  constructor(page: Page, observe: Observe) {
    this.#page = page;
    this.#observe = observe;
  }

  /** Answers one request; never throws. */
  async answer(request: Pick<DoorRequest, 'method' | 'target'>): Promise<DoorReply> {
    const requestId = requestIdOf(undefined);
    try {
      return await this.#serve(request, requestId);
    } catch (error) {
      if (error instanceof Refusal) return errorReply(error.word, error.facts, requestId);
      const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#observe({ kind: 'fault', requestId, where: 'metrics', cause });
      return errorReply('internal', { message: 'The service failed to give its metrics.' }, requestId);
    }
  }

  async #serve(
    { method, target }: Pick<DoorRequest, 'method' | 'target'>,
    requestId: string,
  ): Promise<DoorReply> {
    if (target.split('?', 1)[0] !== METRICS_PATH)
      throw new Refusal('unknown_path', {
        message: 'This port has nothing but metrics.',
        hint: `They are at ${METRICS_PATH}.`,
      });
    if (method === 'OPTIONS') return preflight(requestId);
    if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(method);
    return pageReply(await this.#page(() => ''), requestId);
  }
}
