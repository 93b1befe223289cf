// The request handler: one request in, one response out. Path and method, key, parameters, then data (contract 6.4).
import { causeOf, type Observe } from '../base/observe.ts';
import { type ErrorFacts, type ErrorWord, Refusal } from '../contract/errors.ts';
import type { KeyRing } from '../keys/api-keys.ts';
import type { CountedRequest, Quotas } from '../keys/quotas.ts';
import type { Answer, QueryRequest } from '../queries/query.ts';
import { type AddressSettings, baseAddress, decidingHeaders } from './base-address.ts';
import type { BuiltInPages } from './built-in-pages.ts';
import { notModifiedIfHeld } from './cache/etag.ts';
import type { ResponseCache } from './cache/response-cache.ts';
import { encoded } from './encoding.ts';
import { ignoredHeader } from './ignored-parameters.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { QueueError } from './queue/query-queue.ts';
import type { Caller } from './request.ts';
import * as requests from './request.ts';
import * as responses from './response.ts';
import { type Match, matchRoute, parseRequest, type RawQuery, readQuery } from './route.ts';

/** The parts of a service that the request handler works with. */
export type HandlerParts = {
  readonly pages: BuiltInPages;
  readonly keys: Pick<KeyRing, 'verify'>;
  readonly quotas: Pick<Quotas, 'count'>;
  readonly cache: ResponseCache;
  readonly submit: (request: QueryRequest, isGone: () => boolean) => Promise<Answer>;
  readonly address: AddressSettings;
  readonly observe: Observe;
  readonly nowMs: () => number;
};

/** Facts about a request that are found while it is handled, for the observation at its end. */
type Trace = {
  readonly requestId: string;
  /** The pattern of the path. */
  route: string | null;
  keyId: string | null;
  word: ErrorWord | null;
  /** The caller's key, which no error may repeat. */
  secret: string | null;
  /** Null where the key has no quota. */
  counted: CountedRequest | null;
  /** What `X-Ignored-Parameters` says; null where no parameter is ignored. */
  ignored: string | null;
};

/** Handles requests. */
export class RequestHandler {
  readonly #parts: HandlerParts;

  constructor(parts: HandlerParts) {
    this.#parts = parts;
  }

  /** Handles one request; never throws. Every response is observed. */
  async handle(request: HttpRequest): Promise<HttpResponse> {
    const startedMs = request.arrivedMs ?? performance.now();
    const requestId = requests.requestIdOf(request);
    const nothing = { route: null, keyId: null, word: null, secret: null, counted: null, ignored: null };
    const trace: Trace = { requestId, ...nothing };
    const answered = await this.#route(request, trace).catch((error: unknown) => {
      const { word, facts } = this.#problemOf(error, requestId);
      trace.word = word;
      return responses.errorResponse(word, withoutKey(facts, trace.secret), requestId);
    });
    const response = responses.withIgnored(responses.withQuota(answered, trace.counted), trace.ignored);
    const isGone = request.isGone();
    this.#parts.observe({
      kind: 'request',
      requestId,
      method: request.method,
      route: trace.route,
      status: isGone ? null : response.status,
      word: isGone ? null : trace.word,
      keyId: trace.keyId,
      durationMs: performance.now() - startedMs,
      bytes: isGone || request.method === 'HEAD' ? 0 : responses.bodyBytes(response),
    });
    return response;
  }

  #problemOf(error: unknown, requestId: string): { word: ErrorWord; facts: ErrorFacts } {
    if (error instanceof Refusal) return error;
    if (error instanceof QueueError && error.problem !== 'fault') {
      const message = 'The service has more requests waiting than it can answer soon.';
      return { word: 'unavailable', facts: { message } };
    }
    const damage = error instanceof QueueError ? error.damage : null;
    if (damage !== null) {
      this.#parts.observe({ kind: 'fault', requestId, where: 'data', cause: damage });
      const message = `Stored data that this answer needs is damaged: ${damage}. The operator of the service can repair it.`;
      return { word: 'internal', facts: { message } };
    }
    this.#parts.observe({ kind: 'fault', requestId, where: 'request', cause: causeOf(error) });
    const message = 'The service failed to answer; nothing is wrong with the request.';
    return { word: 'internal', facts: { message } };
  }

  async #route(request: HttpRequest, trace: Trace): Promise<HttpResponse> {
    const { requestId } = trace;
    requests.checkHead(request);
    const { path, query } = requests.splitTarget(request.target);
    const page = this.#parts.pages.get(path);
    const match = page === undefined ? matchRoute(path) : null;
    trace.route = match?.route.endpoint.path ?? (page === undefined ? null : path);
    if (trace.route === null) {
      const hint = 'Paths begin with /api/v2/, such as /api/v2/stock/bars/US:AAPL/1M/latest.';
      throw new Refusal('unknown_path', { message: 'No endpoint has this path.', hint });
    }
    if (request.method === 'OPTIONS') return responses.preflightResponse(requestId);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw responses.methodNotAllowed(request.method);
    if (match !== null) return this.#data(request, match, query, trace);
    return responses.pageResponse(
      await page!(() => baseAddress(this.#parts.address, request.headers)),
      requestId,
    );
  }

  /** Data, from the response cache or from the query thread. */
  async #data(request: HttpRequest, match: Match, sent: string, trace: Trace): Promise<HttpResponse> {
    const { cache, address, submit } = this.#parts;
    const { name: endpoint, known } = match.route;
    const { query, ignored } = readQuery(sent, (name) => known.includes(name));
    trace.ignored = ignoredHeader(ignored, known);
    const caller = await this.#admit(request, match, query, trace);
    const state = cache.isCacheable(endpoint) ? await cache.state(request.batch) : null;
    const nowMs = this.#parts.nowMs();
    const name = state === null ? '' : cacheNameOf(request, address);
    const cached = state === null ? undefined : cache.find(name, nowMs);
    if (cached !== undefined) return completed(cached.response, request, trace.requestId);
    const base = baseAddress(address, request.headers);
    const parameters = parseRequest(match, query);
    const wrapCsv = requests.wantsWrappedCsv(request);
    const answer = await submit({ endpoint, parameters, nowMs, wrapCsv }, request.isGone);
    if (answer.kind === 'refusal') throw new Refusal(answer.word, answer.facts);
    const response = responses.answerResponse(answer, base, caller);
    const { goodUntilMs } = answer;
    if (goodUntilMs === undefined) return encoded(completed(response, request, trace.requestId), request);
    const copy = responses.copyOf(await encoded(response, request));
    cache.add(endpoint, name, { response: copy, goodUntilMs }, state);
    return completed(copy, request, trace.requestId);
  }

  /** The caller, with a valid key that has a request left. @throws Refusal (contract 6.3, 7.2) */
  async #admit(request: HttpRequest, { route }: Match, query: RawQuery, trace: Trace): Promise<Caller> {
    const param = 'secret_key';
    const caller = requests.callerOf(request, query);
    if (caller === null) {
      const message = 'secret_key is missing: every endpoint needs a key.';
      throw new Refusal('missing_key', { message, param });
    }
    const least = route.endpoint.keyCharactersMin ?? 0;
    if (caller.secret.length < least) {
      const message = `secret_key is too short: on this endpoint a key has at least ${least} characters.`;
      throw new Refusal('invalid_parameter', { message, param, allowed: `minimum length ${least}` });
    }
    const key = await this.#parts.keys.verify(caller.secret, this.#parts.nowMs());
    if (key === null)
      throw new Refusal('invalid_key', { message: 'secret_key is not a valid key of this service.', param });
    trace.keyId = key.key_id;
    trace.secret = caller.secret;
    const counting = this.#parts.quotas.count(key);
    if (counting !== null) trace.counted = await counting;
    if (trace.counted?.isAdmitted === false) throw responses.overQuota(trace.counted.quota);
    return caller;
  }
}

/** An error does not repeat a text with the caller's own key in it, such as after a mistyped `&` (contract 6.2). */
function withoutKey(facts: ErrorFacts, secret: string | null): ErrorFacts {
  const { got, ...rest } = facts;
  return secret === null || got?.includes(secret) !== true ? facts : rest;
}

/** Everything in a request that its response depends on. */
const cacheNameOf = (request: HttpRequest, address: AddressSettings): string =>
  ['authorization', 'accept', 'accept-encoding', ...decidingHeaders(address)]
    .map((name) => requests.headerOf(request, name) ?? '')
    .concat(request.target)
    .join('\n');

/** The response to one request: with its id, and without a body that its caller has already. */
function completed(response: HttpResponse, request: HttpRequest, requestId: string): HttpResponse {
  const headers = { ...response.headers, 'X-Request-Id': requestId };
  return notModifiedIfHeld({ ...response, headers }, requests.headerOf(request, 'if-none-match'));
}
