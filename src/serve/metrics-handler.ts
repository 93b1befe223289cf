// The metrics page, and the request handler of a port that serves only metrics (contract 9.3).
import { prometheusContentType } from 'prom-client';
import { causeOf, type Observe } from '../base/observe.ts';
import { Refusal } from '../contract/errors.ts';
import { type AddressSettings, pageRequestOf } from './base-address.ts';
import type { BuiltInPage } from './built-in-pages.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { checkHead, readTarget, requestIdOf, WHOLE_SERVICE } from './request.ts';
import { errorResponse, methodNotAllowed, pageResponse, preflightResponse } from './response.ts';

/** The path of the metrics. */
export const METRICS_PATH = '/metrics';

/**
 * Metrics as a page. It needs no key, so web pages of other origins may not read it, nor any page by a name
 * that is not ours.
 */
export function metricsPage(text: () => Promise<string>): BuiltInPage {
  return async ({ checkHost }) => {
    checkHost();
    return {
      headers: { 'Content-Type': prometheusContentType, 'Cache-Control': 'no-store' },
      body: [Buffer.from(await text())],
      isSameOrigin: true,
    };
  };
}

/**
 * Handles the requests of a port that serves only metrics. Only faults are observed: no caller sends these
 * requests.
 */
export class MetricsHandler {
  readonly #page: BuiltInPage;
  readonly #address: AddressSettings;
  readonly #observe: Observe;

  constructor(page: BuiltInPage, address: AddressSettings, observe: Observe) {
    this.#page = page;
    this.#address = address;
    this.#observe = observe;
  }

  /** Handles one request; never throws. */
  async handle(request: HttpRequest): Promise<HttpResponse> {
    const requestId = requestIdOf(request);
    try {
      checkHead(request);
      const { method } = request;
      const { path, headers } = readTarget(request);
      if (method === 'OPTIONS' && path === WHOLE_SERVICE) return preflightResponse(requestId);
      if (path !== METRICS_PATH) {
        const hint = `They are at ${METRICS_PATH}.`;
        throw new Refusal('unknown_path', { message: 'This port serves metrics only.', hint });
      }
      if (method === 'OPTIONS') return preflightResponse(requestId);
      if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(method);
      return pageResponse(await this.#page(pageRequestOf(this.#address, headers)), requestId);
    } catch (error) {
      if (error instanceof Refusal) return errorResponse(error.word, error.facts, requestId);
      this.#observe({ kind: 'fault', requestId, where: 'metrics', cause: causeOf(error) });
      return errorResponse('internal', { message: 'The service failed to give its metrics.' }, requestId);
    }
  }
}
