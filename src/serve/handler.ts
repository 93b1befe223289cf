// The request handler: one request in, one response out. Path and method, key, parameters, then data
// (contract 6.4).
import { randomUUID } from 'node:crypto';
import { causeOf, type Observe } from '../base/observe.ts';
import { type ErrorFacts, type ErrorWord, errors, Refusal } from '../contract/errors.ts';
import type { Answer, QueryRequest } from '../queries/query.ts';
import type { ApiKey } from '../store/control.ts';
import { isAway } from '../store/store.ts';
import { type Assistants, answerMessage, MCP_PATH } from './assistants.ts';
import {
  type AddressSettings,
  addressFact,
  baseAddress,
  forwardedAddress,
  pageRequestOf,
} from './base-address.ts';
import type { BuiltInPages } from './built-in-pages.ts';
import { etagOf, notModifiedIfHeld } from './cache/etag.ts';
import type { CachedAnswer, ResponseCache } from './cache/response-cache.ts';
import { type Coding, codingFor, EncodedPages, encodedBody, withEncodedBody } from './encoding.ts';
import type { KeyRing } from './keys/api-keys.ts';
import { type CountedRequest, type Quotas, uncounted } from './keys/quotas.ts';
import { httpLimits } from './limits.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { AnswerSizes, type UnsentBytes } from './outgoing/unsent-bytes.ts';
import { type ParsedRequest, ParsedRequests } from './parsed-requests.ts';
import { STORE_AWAY } from './readiness.ts';
import type { Caller } from './request.ts';
import * as requests from './request.ts';
import { mayHoldKey } from './request.ts';
import * as responses from './response.ts';
import { ignoredHeader } from './response.ts';
import { type Match, matchRoute, type RawQuery, readQuery, unknownPath } from './route.ts';
import { fileResponse } from './spool/file-response.ts';
import { type Begin, makingOf, type StartMaker } from './spool/making.ts';
import type { ParquetSpool } from './spool/parquet-spool.ts';
import { StreamedAnswers } from './streamed-answers.ts';
import { full, QueueError } from './threads/query-queue.ts';

/** The parts of a service that the request handler works with. */
export type HandlerParts = {
  readonly pages: BuiltInPages;
  readonly keys: Pick<KeyRing, 'verify'>;
  readonly quotas: Pick<Quotas, 'count'>;
  readonly cache: ResponseCache;
  readonly unsent: UnsentBytes;
  /**
   * Whether this thread keeps up well enough to answer one more request of a key, which has waited to be
   * read.
   */
  readonly admits: (keyId: string | null, waitedMs: number) => boolean;
  readonly submit: (
    request: QueryRequest,
    isGone: () => boolean,
    keyId: string | null,
    waitedMs?: number,
  ) => Promise<Answer>;
  readonly address: AddressSettings;
  readonly spool: ParquetSpool;
  readonly startParquet: StartMaker;
  /** Absent where no assistant is answered. */
  readonly assistants?: Assistants;
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
  /** The count of the bytes that the answer is expected to have: released once there is a response. */
  readonly expected: DisposableStack;
  /** What the response holds: released once, when it has been sent or never will be. */
  held: DisposableStack;
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
  readonly #encodedPages = new EncodedPages();

  constructor(parts: HandlerParts) {
    this.#parts = parts;
  }

  /**
   * Handles one request; never throws. Every response is observed: one that is sent as it is read at its end.
   */
  async handle(request: HttpRequest): Promise<HttpResponse> {
    const startedMs = request.arrivedMs ?? performance.now();
    const requestId = requests.requestIdOf(request);
    const trace: Trace = {
      requestId,
      route: null,
      keyId: null,
      word: null,
      counted: null,
      expected: new DisposableStack(),
      held: new DisposableStack(),
      ignored: null,
    };
    const answered = await this.#route(request, trace).catch((error: unknown) => {
      trace.held.dispose();
      trace.held = new DisposableStack();
      const { word, facts } = this.#problemOf(error, requestId);
      trace.word = word;
      return responses.errorResponse(word, withoutKey(facts), requestId);
    });
    const response = responses.withIgnored(responses.withQuota(answered, trace.counted), trace.ignored);
    const isGone = request.isGone();
    const bytes = request.method === 'HEAD' ? 0 : responses.bodyBytes(response);
    const facts = {
      kind: 'request',
      requestId,
      method: request.method,
      route: trace.route,
      status: isGone ? null : response.status,
      word: isGone ? null : trace.word,
      keyId: trace.keyId,
      ...addressFact(this.#addressOf(request)),
      durationMs: performance.now() - startedMs,
    } as const;
    const observe = (sent: number): void => this.#parts.observe({ ...facts, bytes: sent });
    const { keyId, held } = trace;
    held.defer(this.#parts.unsent.hold(keyId, bytes));
    trace.expected.dispose();
    const whole = { ...response, owner: keyId, release: () => held.dispose() };
    if (response.rest === undefined) {
      observe(isGone ? 0 : bytes);
      return whole;
    }
    const { rest, taken } = responses.countTaken(response, response.rest);
    held.defer(() => observe(taken()));
    return { ...whole, rest };
  }

  /** The caller's address. */
  #addressOf({ headers, address }: HttpRequest): string | undefined {
    return (this.#parts.address.trustProxy ? forwardedAddress(headers) : null) ?? address;
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
      const message = `Stored data that this answer needs is damaged: ${damage}. The operator of the service can restore it.`;
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
    const { assistants } = this.#parts;
    if (path === MCP_PATH && assistants !== undefined)
      return answerMessage({ ...this.#parts, assistants }, request, query, trace, (asked) =>
        this.handle(asked),
      );
    const page = this.#parts.pages.get(path);
    const match = page === undefined ? matchRoute(path) : null;
    trace.route = match?.route.endpoint.path ?? (page === undefined ? null : path);
    if (trace.route === null) throw unknownPath(path);
    if (request.method === 'OPTIONS') return responses.preflightResponse(requestId);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw responses.methodNotAllowed(request.method);
    if (match !== null) return this.#data(request, match, query, trace);
    const content = await page!(pageRequestOf(this.#parts.address, headers));
    const bytes = content.body.reduce((sum, piece) => sum + piece.length, 0);
    // Health and metrics are answered at any load.
    if (bytes > httpLimits.smallPageBytes) trace.expected.defer(await this.#parts.unsent.admit(null, bytes));
    const ifNoneMatch = requests.headerOf(request, 'if-none-match');
    const response = notModifiedIfHeld(responses.pageResponse(content, requestId), ifNoneMatch);
    return content.isLasting === true ? this.#encodedPages.inForm(response, request) : response;
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
    if (match.route.endpoint.isStreamed)
      return parameters.format === 'parquet'
        ? this.#file(asked, parsed, request, trace)
        : this.#stream(asked, request, trace);
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
    if (!admits(keyId, request.waitedMs ?? 0)) throw full;
    trace.expected.defer(await unsent.admit(keyId, httpLimits.streamedStepBytes));
    const read = (step: QueryRequest): Promise<Answer> => submit(step, request.isGone, keyId);
    const { first, rest } = await this.#streamed.begin(keyId, asked, read, trace.held);
    const begun = responses.streamedResponse(first, requestId);
    const observedRest = (): Promise<Uint8Array | null> =>
      rest().catch((error: unknown) => {
        this.#problemOf(error, requestId);
        throw error;
      });
    return { ...begun, rest: observedRest };
  }

  /** Parquet: a file that is made before its first byte, or was made for an earlier request. */
  async #file(
    asked: QueryRequest,
    parsed: ParsedRequest,
    request: HttpRequest,
    trace: Trace,
  ): Promise<HttpResponse> {
    const { admits, submit, unsent, spool, startParquet, observe } = this.#parts;
    const { requestId } = trace;
    const keyId = trace.keyId!;
    if (!admits(keyId, request.waitedMs ?? 0)) throw full;
    const name = await this.#fileNameOf(parsed, asked, request);
    // A range goes on with the file of the ranges before it.
    if (!isRange(request)) spool.forgetOld(name, asked.nowMs);
    trace.expected.defer(await unsent.admit(keyId, httpLimits.spoolPieceBytes));
    const steps: Begin = (csv, isGone, held) =>
      this.#streamed.begin(keyId, csv, (step) => submit(step, isGone, keyId), held);
    const file = await spool
      .get(name, keyId, request.isGone, makingOf(steps, asked, startParquet))
      .catch((error: unknown) => {
        if (error instanceof Refusal && error.cause !== undefined)
          observe({ kind: 'fault', requestId, where: 'request', cause: causeOf(error.cause) });
        throw error;
      });
    trace.held.defer(file.release);
    const response = fileResponse(file, request, requestId);
    if (response.status === errors.range_not_satisfiable.status) trace.word = 'range_not_satisfiable';
    return response;
  }

  /** Whether a range is of a file that the key's quota has counted: each counts once (contract 9.11). */
  async #isPaid(
    request: HttpRequest,
    match: Match,
    query: RawQuery,
    asked: Pick<QueryRequest, 'wrapCsv' | 'pinnedMs'>,
    { key_id }: ApiKey,
  ): Promise<boolean> {
    if (!match.route.endpoint.isStreamed || !isRange(request)) return false;
    const name = await this.#fileNameOf(this.#parsed.parse(match, query), asked, request);
    return this.#parts.spool.isPaid(name, key_id);
  }

  /** The name of a request's file: what its rows depend on, and the version of the stored data. */
  async #fileNameOf(
    parsed: ParsedRequest,
    asked: Pick<QueryRequest, 'wrapCsv' | 'pinnedMs'>,
    { batch }: Pick<HttpRequest, 'batch'>,
  ): Promise<string> {
    const { cache } = this.#parts;
    const version = await cache.version(batch);
    // Where the version is not known, no two requests have the same file.
    return `${version === null ? randomUUID() : `${cache.id} ${version}`} ${cacheNameOf(parsed, asked)}`;
  }

  /**
   * A response in the form that its caller takes: in a coding, else a large one in one piece. The form of a
   * cached answer is kept.
   */
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
    if (!admits(keyId, request.waitedMs ?? 0)) throw full;
    const name = cacheNameOf(parsed, asked);
    const version = cache.has(name) ? await cache.version(request.batch) : null;
    const found = version === null ? undefined : cache.find(name, version, asked.nowMs);
    const expected = found?.answer.body.length ?? this.#sizes.expected(asked);
    trace.expected.defer(await unsent.admit(keyId, expected));
    if (found !== undefined) {
      this.#parsed.keep(parsed);
      return { name, cached: found, dataVersion: Math.max(found.answer.dataVersion!, version!) };
    }
    const answer = await submit(asked, request.isGone, keyId, request.waitedMs);
    if (answer.kind === 'refusal') throw new Refusal(answer.word, answer.facts);
    if (answer.release !== undefined) trace.held.defer(answer.release);
    this.#sizes.add(asked, answer.body.length);
    // Many may have been admitted at once. It waits for one look at the kernel's queues at most, and not for
    // room.
    const more = answer.body.length - expected;
    if (more > 0) trace.expected.defer(await unsent.admit(keyId, more, 0));
    const { goodUntilMs, source, dataVersion } = answer;
    const etag = etagOf(answer);
    const mayBeKept = goodUntilMs !== undefined && source !== undefined;
    if (!mayBeKept || !cache.takes(name, answer.body.length))
      return { name: null, cached: { answer, etag, goodUntilMs: 0 }, dataVersion };
    const cached = { answer: responses.ownAnswer(answer), etag, goodUntilMs };
    cache.add(name, cached, source);
    return { name, cached, dataVersion };
  }

  /** The caller, with a valid key that has a request left. @throws Refusal (contract 6.3, 7.2) */
  async #admit(request: HttpRequest, match: Match, query: RawQuery, trace: Trace): Promise<Admitted> {
    const param = 'secret_key';
    const caller = requests.callerOf(request, query);
    if (caller === null) {
      const message = 'secret_key is missing: every endpoint needs a key.';
      throw new Refusal('missing_key', { message, param });
    }
    const least = match.route.endpoint.keyCharactersMin ?? 0;
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
    const pinned = key.as_of_ms === null ? null : { pinnedMs: key.as_of_ms };
    if (
      trace.counted !== null &&
      (await this.#isPaid(request, match, query, { ...pinned, wrapCsv: false }, key))
    )
      trace.counted = uncounted(trace.counted);
    if (trace.counted?.isAdmitted === false) throw responses.overQuota(trace.counted.quota);
    return { caller, pinned };
  }
}

/** Whether a request asks for a part of an answer. */
const isRange = (request: HttpRequest): boolean =>
  request.method === 'GET' && requests.headerOf(request, 'range') !== undefined;

/** An error does not repeat a text that holds a key, such as after a mistyped `&` (contract 6.2). */
function withoutKey(facts: ErrorFacts): ErrorFacts {
  const { got, ...rest } = facts;
  return got !== undefined && mayHoldKey(got) ? rest : facts;
}

/** Everything that an answer depends on. */
function cacheNameOf(
  { name }: ParsedRequest,
  { wrapCsv, pinnedMs }: Pick<QueryRequest, 'wrapCsv' | 'pinnedMs'>,
): string {
  const form = wrapCsv ? `${name} wrapped` : name;
  return pinnedMs === undefined ? form : `${form} pinned to ${pinnedMs}`;
}
