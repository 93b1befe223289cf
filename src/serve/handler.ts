// The request handler: one request in, one response out. A request passes the stages in their order: path and
// method, key, quota, parameters, then data (contract 6.4).
import { causeOf } from '../base/observe.ts';
import { type ErrorFacts, type ErrorWord, Refusal } from '../contract/errors.ts';
import { isAway } from '../store/store.ts';
import { addressFact, forwardedAddress } from './base-address.ts';
import { EncodedPages } from './encoding.ts';
import { KnownRequests, type MetRequest } from './known-requests.ts';
import type { HttpRequest, HttpResponse, WrittenResponse } from './message.ts';
import { AnswerSizes } from './outgoing/unsent-bytes.ts';
import { STORE_AWAY } from './readiness.ts';
import { mayHoldKey, requestIdOf } from './request.ts';
import { type HandlerParts, RequestContext, type Service } from './request-context.ts';
import * as responses from './response.ts';
import { stages } from './stages.ts';
import { StreamedAnswers } from './streamed-answers.ts';
import { QueueError } from './threads/query-queue.ts';

/** Handles requests. */
export class RequestHandler {
  readonly #service: Service;
  readonly #known = new KnownRequests();

  constructor(parts: HandlerParts) {
    this.#service = {
      ...parts,
      sizes: new AnswerSizes(),
      streamed: new StreamedAnswers(),
      encodedPages: new EncodedPages(),
      handle: (request) => this.handle(request),
      reportProblem: (error, requestId) => void this.#problemOf(error, requestId),
    };
  }

  /**
   * Handles one request; never throws. Every response is observed: one that is sent as it is read at its end.
   */
  async handle(request: HttpRequest): Promise<HttpResponse> {
    const startedMs = request.arrivedMs ?? performance.now();
    const context = new RequestContext(request, requestIdOf(request));
    const response = await this.#pass(context).catch((error: unknown) => {
      context.held.dispose();
      context.held = new DisposableStack();
      const { word, facts } = this.#problemOf(error, context.requestId);
      context.word = word;
      return responses.errorResponse(word, withoutKey(facts), context.requestId);
    });
    return this.#complete(context, response, startedMs);
  }

  /** The name of a known request by its bytes; null where it is not known. */
  knownName(bytes: Buffer): string | null {
    return this.#known.nameOf(bytes, this.#service.nowMs());
  }

  /**
   * Answers a known request without its parser; null where it must be handled as any other. It is observed
   * as any other.
   */
  answerKnown(met: MetRequest): Promise<WrittenResponse | null> {
    return this.#known.answer(met, this.#service);
  }

  async #pass(context: RequestContext): Promise<HttpResponse> {
    for (const stage of stages) {
      const given = stage(context, this.#service);
      const response = given instanceof Promise ? await given : given;
      if (response !== undefined) return response;
    }
    throw new Error('no stage has answered');
  }

  /** A response with what all of them have, which holds the bytes of its body until it is released. */
  #complete(context: RequestContext, answered: HttpResponse, startedMs: number): HttpResponse {
    const { request, requestId, route: pattern, word, keyId, counted, ignored, expected, held } = context;
    const told = responses.withIgnored(answered, ignored);
    const response = responses.withQuota(told, counted);
    const isGone = request.isGone();
    const bytes = request.method === 'HEAD' ? 0 : responses.bodyBytes(response);
    const { observe, unsent } = this.#service;
    const forwarded = this.#forwardedBy(request);
    this.#known.add(context, told, forwarded, this.#service);
    const facts = {
      ...({ kind: 'request', requestId, method: request.method, route: pattern, keyId } as const),
      ...{ status: isGone ? null : response.status, word: isGone ? null : word },
      ...addressFact(forwarded ?? request.address),
      durationMs: performance.now() - startedMs,
    };
    held.defer(unsent.hold(keyId, bytes));
    expected.dispose();
    const whole = { ...response, owner: keyId, release: () => held.dispose() };
    if (response.rest === undefined) {
      observe({ ...facts, bytes: isGone ? 0 : bytes });
      return whole;
    }
    const { rest, taken } = responses.countTaken(response, response.rest);
    held.defer(() => observe({ ...facts, bytes: taken() }));
    return { ...whole, rest };
  }

  /** The caller's address as a trusted proxy names it. */
  #forwardedBy({ headers }: HttpRequest): string | null {
    return this.#service.address.trustProxy ? forwardedAddress(headers) : null;
  }

  #problemOf(error: unknown, requestId: string): { word: ErrorWord; facts: ErrorFacts } {
    if (error instanceof Refusal) return error;
    if (isAway(error) || (error instanceof QueueError && error.problem === 'unavailable')) {
      this.#service.observe({ kind: 'unavailable', cause: (error as Error).message });
      return { word: 'unavailable', facts: { message: STORE_AWAY } };
    }
    if (error instanceof QueueError && error.problem !== 'fault') {
      const message = 'The service has more requests waiting than it can answer soon.';
      return { word: 'unavailable', facts: { message } };
    }
    const damage = error instanceof QueueError ? error.damage : null;
    if (damage !== null) {
      this.#service.observe({ kind: 'fault', requestId, where: 'data', cause: damage });
      const message = `Stored data that this answer needs is damaged: ${damage}. The operator of the service can restore it.`;
      return { word: 'internal', facts: { message } };
    }
    this.#service.observe({ kind: 'fault', requestId, where: 'request', cause: causeOf(error) });
    const message = 'The service failed to answer; nothing is wrong with the request.';
    return { word: 'internal', facts: { message } };
  }
}

/** An error does not repeat a text that holds a key, such as after a mistyped `&` (contract 6.2). */
function withoutKey(facts: ErrorFacts): ErrorFacts {
  const { got, ...rest } = facts;
  return got !== undefined && mayHoldKey(got) ? rest : facts;
}
