// The request handler: one request in, one response out. Path and method, key, parameters, then data (contract 6.4).
import { causeOf, type Observe } from '../base/observe.ts';
import { type ErrorFacts, type ErrorWord, Refusal } from '../contract/errors.ts';
import type { KeyRing } from '../keys/api-keys.ts';
import type { CountedRequest, Quotas } from '../keys/quotas.ts';
import type { Answer, QueryRequest } from '../queries/query.ts';
import { isAway } from '../store/store.ts';
import { type AddressSettings, baseAddress, pageRequestOf } from './base-address.ts';
import type { BuiltInPages } from './built-in-pages.ts';
import { etagOf, notModifiedIfHeld } from './cache/etag.ts';
import type { CachedAnswer, ResponseCache } from './cache/response-cache.ts';
import { type Coding, codingFor, encodedBody, withEncodedBody } from './encoding.ts';
import { mayHoldKey } from './held-keys.ts';
import { ignoredHeader } from './ignored-parameters.ts';
import { httpLimits } from './limits.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { type ParsedRequest, ParsedRequests } from './parsed-requests.ts';
import { full, QueueError } from './queue/query-queue.ts';
import { STORE_AWAY } from './readiness.ts';
import type { Caller } from './request.ts';
import * as requests from './request.ts';
import * as responses from './response.ts';
import { type Match, matchRoute, type RawQuery, readQuery, unknownPath } from './route.ts';
import { AnswerSizes } from './sending/answer-sizes.ts';
import type { UnsentBytes } from './sending/unsent-bytes.ts';
import { StreamedAnswers } from './streamed-answers.ts';

/** The parts of a service that the request handler works with. */
export type HandlerParts = {
  readonly pages: BuiltInPages;
  readonly keys: Pick<KeyRing, 'verify'>;
  readonly quotas: Pick<Quotas, 'count'>;
  readonly cache: ResponseCache;
  readonly unsent: UnsentBytes;
  /** Whether this thread keeps up well enough to answer one more request of a key. */
  readonly admits: (keyId: string | null) => boolean;
  readonly submit: (request: QueryRequest, isGone: () => boolean, keyId: string | null) => Promise<Answer>;
  readonly address: AddressSettings;
  /** The version of the program. */
  readonly version: string;
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
  /** Null where the key has no quota. */
  counted: CountedRequest | null;
  /** Ends the count of the bytes that the answer was expected to have; null where it was not admitted yet. */
  uncount: (() => void) | null;
  /** What `X-Ignored-Parameters` says; null where no parameter is ignored. */
  ignored: string | null;
};

/** An answer, and its name in the cache; null where it is not there. */
type FoundAnswer = {
  readonly name: string | null;
  readonly cached: CachedAnswer;
  /** The version of the store that has this answer; undefined where damage hides it. */
  readonly dataVersion: number | undefined;
};

/** A caller whose request is answered, and the moment that its key is pinned to, where it has one. */
type Admitted = { readonly caller: Caller; readonly pinned: { readonly pinnedMs: number } | null };

/** Handles requests. */
export class RequestHandler {
  readonly #parts: HandlerParts;
  readonly #sizes = new AnswerSizes();
  readonly #parsed = new ParsedRequests();
  readonly #streamed = new StreamedAnswers();

  constructor(parts: HandlerParts) {
    this.#parts = parts;
  }

  /** Handles one request; never throws. Every response is observed. */
  async handle(request: HttpRequest): Promise<HttpResponse> {
    const startedMs = request.arrivedMs ?? performance.now();
    const requestId = requests.requestIdOf(request);
    const trace: Trace = {
      requestId,
      route: null,
      keyId: null,
      word: null,
      counted: null,
      uncount: null,
      ignored: null,
    };
    const answered = await this.#route(request, trace).catch((error: unknown) => {
      const { word, facts } = this.#problemOf(error, requestId);
      trace.word = word;
      return responses.errorResponse(word, withoutKey(facts), requestId);
    });
    const response = responses.withIgnored(responses.withQuota(answered, trace.counted), trace.ignored);
    const isGone = request.isGone();
    const bytes = request.method === 'HEAD' ? 0 : responses.bodyBytes(response);
    this.#parts.observe({
      kind: 'request',
      requestId,
      method: request.method,
      route: trace.route,
      status: isGone ? null : response.status,
      word: isGone ? null : trace.word,
      keyId: trace.keyId,
      durationMs: performance.now() - startedMs,
      bytes: isGone ? 0 : bytes,
    });
    const uncount = this.#parts.unsent.hold(trace.keyId, bytes);
    trace.uncount?.();
    return responses.counted(response, trace.keyId, uncount);
  }

  #problemOf(error: unknown, requestId: string): { word: ErrorWord; facts: ErrorFacts } {
    if (error instanceof Refusal) return error;
    if (isAway(error) || (error instanceof QueueError && error.problem === 'unavailable')) {
      this.#parts.observe({ kind: 'unavailable', cause: (error as Error).message });
      return { word: 'unavailable', facts: { message: STORE_AWAY } };
    }
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

  async #route(sent: HttpRequest, trace: Trace): Promise<HttpResponse> {
    const { requestId } = trace;
    requests.checkHead(sent);
    const { path, query, headers } = requests.readTarget(sent);
    if (path === requests.WHOLE_SERVICE && sent.method === 'OPTIONS')
      return responses.preflightResponse(requestId);
    const request = { ...sent, headers };
    const page = this.#parts.pages.get(path);
    const match = page === undefined ? matchRoute(path) : null;
    trace.route = match?.route.endpoint.path ?? (page === undefined ? null : path);
    if (trace.route === null) throw unknownPath();
    if (request.method === 'OPTIONS') return responses.preflightResponse(requestId);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw responses.methodNotAllowed(request.method);
    if (match !== null) return this.#data(request, match, query, trace);
    const content = await page!(pageRequestOf(this.#parts.address, headers));
    const bytes = content.body.reduce((sum, piece) => sum + piece.length, 0);
    // Health and metrics are answered at any load.
    if (bytes > httpLimits.smallPageBytes) trace.uncount = await this.#parts.unsent.admit(null, bytes);
    const ifNoneMatch = requests.headerOf(request, 'if-none-match');
    return notModifiedIfHeld(responses.pageResponse(content, requestId), ifNoneMatch);
  }

  /** Data, from the response cache or from the query thread. */
  async #data(request: HttpRequest, match: Match, sent: string, trace: Trace): Promise<HttpResponse> {
    const { address, version } = this.#parts;
    const { name: endpoint, known } = match.route;
    const { query, ignored } = readQuery(sent, (name) => known.includes(name));
    trace.ignored = ignoredHeader(ignored, known);
    const { caller, pinned } = await this.#admit(request, match, query, trace);
    const base = baseAddress(address, request.headers);
    const parsed = this.#parsed.parse(match, query);
    const { parameters } = parsed;
    const wrapCsv = parameters.format === 'csv' && requests.wantsWrappedCsv(request);
    const service = { baseAddress: base, version };
    const nowMs = this.#parts.nowMs();
    const isAboutService = endpoint === 'addressInfo';
    const asked = { endpoint, parameters, wrapCsv, nowMs, ...pinned, ...(isAboutService && { service }) };
    if (match.route.endpoint.isStreamed) return this.#stream(asked, request, trace);
    const found = await this.#answer(asked, parsed, request, trace);
    const { cached, dataVersion } = found;
    const url = responses.nextPageUrl(cached.answer, base, caller);
    const { requestId } = trace;
    const response = responses.answerResponse(cached.answer, cached.etag, { url, dataVersion, requestId });
    const whole = notModifiedIfHeld(response, requests.headerOf(request, 'if-none-match'));
    return this.#inForm(whole, codingFor(whole, request), found, url);
  }

  /** A streamed answer: its first step decides between a response and a refusal. */
  async #stream(asked: QueryRequest, request: HttpRequest, trace: Trace): Promise<HttpResponse> {
    const { admits, submit, unsent } = this.#parts;
    const { requestId, keyId } = trace;
    if (!admits(keyId)) throw full;
    trace.uncount = await unsent.admit(keyId, httpLimits.streamedStepBytes);
    const read = (step: QueryRequest): Promise<Answer> => submit(step, request.isGone, keyId);
    const { first, rest, release } = await this.#streamed.begin(keyId, asked, read);
    const begun = responses.streamedResponse(first, requestId);
    const observedRest = (): Promise<Uint8Array | null> =>
      rest().catch((error: unknown) => {
        this.#problemOf(error, requestId);
        throw error;
      });
    return { ...begun, rest: observedRest, release };
  }

  /** A response in the form that its caller takes: in a coding, else a large one in one piece. The form of a cached answer is kept. */
  async #inForm(
    whole: HttpResponse,
    coding: Coding | null,
    { name, cached }: FoundAnswer,
    url: string | null,
  ): Promise<HttpResponse> {
    const isJoined = name !== null && responses.bodyBytes(whole) > httpLimits.cachedAtOnceBytesMax;
    if (coding === null && !(isJoined && whole.body.length > 1)) return whole;
    const { cache } = this.#parts;
    const form = `${coding ?? 'joined'} ${url ?? ''}`;
    const kept = name === null ? undefined : cache.encoding(name, cached, form);
    // Many callers of one page would each copy it, and take each other's place.
    if (coding === null && kept === undefined && !cache.hasRoomFor(name!, cached)) return whole;
    const made = kept ?? (coding === null ? Buffer.concat(whole.body) : await encodedBody(whole, coding));
    const body = kept ?? (name === null ? made : cache.addEncoding(name, cached, form, made));
    return coding === null ? { ...whole, body: [body] } : withEncodedBody(whole, coding, body);
  }

  /** The answer to a request, from the response cache or from the query thread. */
  async #answer(
    asked: QueryRequest,
    parsed: ParsedRequest,
    request: HttpRequest,
    trace: Trace,
  ): Promise<FoundAnswer> {
    const { admits, cache, submit, unsent } = this.#parts;
    const { keyId } = trace;
    if (!admits(keyId)) throw full;
    const version = cache.isCacheable(asked.endpoint) ? await cache.version(request.batch) : null;
    const name = cacheNameOf(parsed, asked);
    const found = version === null ? undefined : cache.find(name, version, asked.nowMs);
    const expected = found?.answer.body.length ?? this.#sizes.expected(asked);
    trace.uncount = await unsent.admit(keyId, expected);
    if (found !== undefined) {
      this.#parsed.keep(parsed);
      return { name, cached: found, dataVersion: Math.max(found.answer.dataVersion!, version!) };
    }
    const answer = await submit(asked, request.isGone, keyId);
    if (answer.kind === 'refusal') throw new Refusal(answer.word, answer.facts);
    this.#sizes.add(asked, answer.body.length);
    if (answer.body.length > expected) {
      // Many may have been admitted at once. It waits for one look at the kernel's queues at most, and not for room.
      const uncountExpected = trace.uncount;
      const more = answer.body.length - expected;
      const uncountMore = await unsent.admit(keyId, more, 0).catch((error: unknown) => {
        answer.release?.();
        throw error;
      });
      trace.uncount = () => {
        uncountExpected();
        uncountMore();
      };
    }
    const { goodUntilMs, source, dataVersion } = answer;
    const etag = etagOf(answer);
    const mayBeKept = goodUntilMs !== undefined && source !== undefined;
    if (!mayBeKept || !cache.takes(asked.endpoint, name, answer.body.length))
      return { name: null, cached: { answer, etag, goodUntilMs: 0 }, dataVersion };
    const cached = { answer: responses.copyOf(answer), etag, goodUntilMs };
    cache.add(name, cached, source);
    return { name, cached, dataVersion };
  }

  /** The caller, with a valid key that has a request left. @throws Refusal (contract 6.3, 7.2) */
  async #admit(request: HttpRequest, { route }: Match, query: RawQuery, trace: Trace): Promise<Admitted> {
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
    const counting = this.#parts.quotas.count(key);
    if (counting !== null) trace.counted = await counting;
    if (trace.counted?.isAdmitted === false) throw responses.overQuota(trace.counted.quota);
    return { caller, pinned: key.as_of_ms === null ? null : { pinnedMs: key.as_of_ms } };
  }
}

/** An error does not repeat a text that holds a key, such as after a mistyped `&` (contract 6.2). */
function withoutKey(facts: ErrorFacts): ErrorFacts {
  const { got, ...rest } = facts;
  return got !== undefined && mayHoldKey(got) ? rest : facts;
}

/** Everything that an answer depends on. */
function cacheNameOf({ name }: ParsedRequest, { wrapCsv, pinnedMs }: QueryRequest): string {
  const form = wrapCsv ? `${name} wrapped` : name;
  return pinnedMs === undefined ? form : `${form} pinned to ${pinnedMs}`;
}
