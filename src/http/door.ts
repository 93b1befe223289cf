// The door: one request in, one reply out. Route, method, key, parameters, then the query thread (contract 6.4).
import { randomUUID } from 'node:crypto';
import type { Observe } from '../base/observe.ts';
import { type ErrorFacts, type ErrorWord, errors, Refusal } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import type { KeyRing } from '../keys/keys.ts';
import type { Quotas, Taken } from '../keys/quotas.ts';
import type { Answer, QueryRequest } from '../queries/query.ts';
import { errorBody, JSON_TYPE } from '../queries/render/envelope.ts';
import { type AddressSettings, baseAddress, decidingHeaders } from './address.ts';
import { encoded } from './encoding.ts';
import { tagOf, unlessHeld } from './etag.ts';
import type { PageAnswer, Pages } from './page.ts';
import { QueueError } from './query-pool.ts';
import { overQuota, withQuota } from './quota.ts';
import type { DoorReply } from './reply.ts';
import type { ReplyCache } from './reply-cache.ts';
import { type Match, matchRoute, parseRequest, queryText, type RawQuery, readQuery } from './route.ts';

/** A request as the door sees it: no socket, so that it can be tried in process. */
export type DoorRequest = {
  readonly method: string;
  /** The request target as sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** When it could have been answered, by `performance.now()`; absent where that is now. */
  readonly arrivedMs?: number;
  /** The turn of the event loop in which it is taken up: all that is taken up in it had arrived before. */
  readonly turn?: number;
  /** Whether whoever asked has gone. */
  readonly isGone: () => boolean;
};

export type DoorParts = {
  /** What is answered beside the endpoints. */
  readonly pages: Pages;
  readonly keys: Pick<KeyRing, 'verify'>;
  readonly quotas: Pick<Quotas, 'take'>;
  readonly replies: ReplyCache;
  readonly submit: (request: QueryRequest, isGone: () => boolean) => Promise<Answer>;
  readonly address: AddressSettings;
  readonly observe: Observe;
  readonly nowMs: () => number;
};

const ALLOW = 'GET, HEAD, OPTIONS';

const EXPOSED = [
  ...['ETag', 'Link', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After'],
  ...['X-Count', 'X-Next-Page-Key', 'X-Request-Id'],
].join(', ');

/** Headers of every answer; pages of others have no leave to read it. */
const forOurs = {
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const;

const common = {
  ...forOurs,
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
} as const;

/** What is known of a request while it is answered, for the observation at its end. */
type Trace = {
  /** The pattern of the path. */
  route: string | null;
  keyId: string | null;
  word: ErrorWord | null;
  /** The caller's key, which no error may repeat. */
  secret: string | null;
  /** Where the key has a quota. */
  taken: Taken | null;
};

type Caller = { readonly secret: string; readonly inQuery: boolean };

function headerOf(request: DoorRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

const OWN_REQUEST_ID = new RegExp(`^[A-Za-z0-9._-]{1,${limits.requestIdCharactersMax}}$`);

/** Shorter ids stand in an address by chance; a key is longer. */
const KEY_CHARACTERS_LEAST = 20;

/** Whether a request id that was sent is the request's key: it would be logged (contract 7.4). */
function isKeyOf(request: DoorRequest, id: string | undefined): boolean {
  if (id === undefined || id.length < KEY_CHARACTERS_LEAST) return false;
  return request.target.includes(id) || (headerOf(request, 'authorization')?.includes(id) ?? false);
}

/** The caller's own request id where it is one, else a new one (contract 6.5). */
export function requestIdOf(sent: string | undefined): string {
  return sent !== undefined && OWN_REQUEST_ID.test(sent) ? sent : randomUUID();
}

/** An error as a reply (contract 6.2). */
export function errorReply(word: ErrorWord, facts: ErrorFacts, requestId: string): DoorReply {
  const body = Buffer.from(JSON.stringify(errorBody(word, facts, requestId)));
  return {
    status: errors[word].status,
    headers: {
      ...common,
      'Content-Type': JSON_TYPE,
      'Content-Length': String(body.length),
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
      ...(word === 'method_not_allowed' ? { Allow: ALLOW } : {}),
      ...(word === 'unavailable' ? { 'Retry-After': String(limits.retryAfterSeconds) } : {}),
      ...(word === 'missing_key' || word === 'invalid_key' ? { 'WWW-Authenticate': 'Bearer' } : {}),
    },
    body: [body],
  };
}

/** What arrived is not repeated where the caller's own key is in it, such as after a mistyped `&` (contract 6.2). */
function withoutKey(facts: ErrorFacts, secret: string | null): ErrorFacts {
  const { got, ...rest } = facts;
  return secret === null || got?.includes(secret) !== true ? facts : rest;
}

/** The caller's key: from the query, as specified, or from the Authorization header (contract 7.1). */
function callerOf(request: DoorRequest, query: RawQuery): Caller | null {
  const inQuery = queryText(query, 'secret_key');
  if (inQuery !== undefined && inQuery !== '') return { secret: inQuery, inQuery: true };
  const bearer = /^Bearer +(\S+)$/i.exec(headerOf(request, 'authorization') ?? '');
  return bearer === null ? null : { secret: bearer[1]!, inQuery: false };
}

/** Whether a caller wants CSV inside the JSON envelope (contract 5.3). */
function wantsWrappedCsv(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const types = accept.split(',').map((part) => part.split(';')[0]!.trim().toLowerCase());
  return types.includes('application/json') && !types.includes('text/csv') && !types.includes('*/*');
}

/** Answers requests. */
export class Door {
  readonly #parts: DoorParts;

  constructor(parts: DoorParts) {
    this.#parts = parts;
  }

  /** Answers one request; never throws. Every reply is observed. */
  async answer(request: DoorRequest): Promise<DoorReply> {
    const startedMs = request.arrivedMs ?? performance.now();
    const sent = headerOf(request, 'x-request-id');
    const requestId = requestIdOf(isKeyOf(request, sent) ? undefined : sent);
    const trace: Trace = { route: null, keyId: null, word: null, secret: null, taken: null };
    const reply = withQuota(await this.#reply(request, requestId, trace), trace.taken);
    const isGone = request.isGone();
    this.#parts.observe({
      kind: 'request',
      requestId,
      method: request.method,
      route: trace.route,
      status: isGone ? null : reply.status,
      word: isGone ? null : trace.word,
      keyId: trace.keyId,
      durationMs: performance.now() - startedMs,
      bytes:
        isGone || request.method === 'HEAD' ? 0 : reply.body.reduce((sum, piece) => sum + piece.length, 0),
    });
    return reply;
  }

  async #reply(request: DoorRequest, requestId: string, trace: Trace): Promise<DoorReply> {
    try {
      return await this.#serve(request, requestId, trace);
    } catch (error) {
      const { word, facts } = this.#problemOf(error, requestId);
      trace.word = word;
      return errorReply(word, withoutKey(facts, trace.secret), requestId);
    }
  }

  #problemOf(error: unknown, requestId: string): { word: ErrorWord; facts: ErrorFacts } {
    if (error instanceof Refusal) return error;
    if (error instanceof QueueError && error.problem !== 'fault') {
      return {
        word: 'unavailable',
        facts: { message: 'The service has more requests waiting than it can answer soon.' },
      };
    }
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#parts.observe({ kind: 'fault', requestId, where: 'request', cause });
    return {
      word: 'internal',
      facts: { message: 'The service failed to answer; nothing is wrong with the request.' },
    };
  }

  async #serve(request: DoorRequest, requestId: string, trace: Trace): Promise<DoorReply> {
    checkHead(request);
    const { path, query } = splitTarget(request.target);
    const page = this.#parts.pages.get(path);
    const match = page === undefined ? matchRoute(path) : null;
    trace.route = match?.route.endpoint.path ?? (page === undefined ? null : path);
    if (trace.route === null) throw unknownPath();
    if (request.method === 'OPTIONS') return preflight(requestId);
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed(request.method);
    if (match !== null) return this.#ask(request, match, query, requestId, trace);
    return pageReply(await page!(() => baseAddress(this.#parts.address, request.headers)), requestId);
  }

  /** The reply at hand, or else one that the query thread is asked for. */
  async #ask(
    request: DoorRequest,
    match: Match,
    sent: string,
    requestId: string,
    trace: Trace,
  ): Promise<DoorReply> {
    const { replies, address } = this.#parts;
    const { name: endpoint } = match.route;
    const { parameters } = match.route.endpoint;
    const query = readQuery(
      sent,
      (parameter) => parameter === 'secret_key' || parameters[parameter]?.in === 'query',
    );
    const caller = await this.#admit(request, match, query, trace);
    const state = replies.lasts(endpoint) ? await replies.state(request.turn) : Number.NaN;
    const name = Number.isNaN(state) ? '' : nameOf(request, address);
    const kept = Number.isNaN(state) ? undefined : replies.find(name, this.#parts.nowMs());
    if (kept !== undefined) return addressed(kept.reply, request, requestId);
    const base = baseAddress(address, request.headers);
    const answer = await this.#parts.submit(
      {
        endpoint,
        parameters: parseRequest(match, query),
        nowMs: this.#parts.nowMs(),
        wrapCsv: wantsWrappedCsv(headerOf(request, 'accept')),
      },
      request.isGone,
    );
    if (answer.kind === 'refusal') throw new Refusal(answer.word, answer.facts);
    const reply = finish(answer, base, caller);
    const { goodUntilMs } = answer;
    if (goodUntilMs === undefined) return inLikedCoding(addressed(reply, request, requestId), request);
    const own = ownOf(await inLikedCoding(reply, request));
    replies.keep(endpoint, name, { reply: own, goodUntilMs }, state);
    return addressed(own, request, requestId);
  }

  /** The caller, whose key holds and has a request left. @throws Refusal (contract 6.3, 7.2) */
  async #admit(request: DoorRequest, { route }: Match, query: RawQuery, trace: Trace): Promise<Caller> {
    const caller = callerOf(request, query);
    if (caller === null)
      throw new Refusal('missing_key', {
        message: 'secret_key is missing: every endpoint needs a key.',
        param: 'secret_key',
      });
    const least = route.endpoint.keyCharactersMin ?? 0;
    if (caller.secret.length < least) {
      throw new Refusal('invalid_parameter', {
        message: `secret_key is too short: on this endpoint a key has at least ${least} characters.`,
        param: 'secret_key',
        allowed: `minimum length ${least}`,
      });
    }
    const key = await this.#parts.keys.verify(caller.secret, this.#parts.nowMs());
    if (key === null)
      throw new Refusal('invalid_key', {
        message: 'secret_key is not a valid key of this service.',
        param: 'secret_key',
      });
    trace.keyId = key.key_id;
    trace.secret = caller.secret;
    const taking = this.#parts.quotas.take(key);
    if (taking !== null) trace.taken = await taking;
    if (trace.taken?.isAdmitted === false) throw overQuota(trace.taken.quota);
    return caller;
  }
}

/** @throws Refusal of a request that is malformed or too long, whatever it asks for */
function checkHead({ headers, target }: DoorRequest): void {
  if (Array.isArray(headers.host))
    throw new Refusal('bad_request', {
      message: 'The request has more than one Host header: send one.',
      param: 'Host',
    });
  if (target.length <= limits.uriBytesMax) return;
  const message = `The request address is longer than ${limits.uriBytesMax} characters.`;
  throw new Refusal('uri_too_long', { message });
}

/** Parts an origin-form or absolute-form target (RFC 9112, 3.2) at its query; a fragment is no part of a request. */
function splitTarget(target: string): { path: string; query: string } {
  const origin = /^https?:\/\/[^/?#]*/i.exec(target);
  const rest = origin === null ? target : target.slice(origin[0].length) || '/';
  const end = rest.indexOf('#');
  const whole = end < 0 ? rest : rest.slice(0, end);
  const mark = whole.indexOf('?');
  return mark < 0 ? { path: whole, query: '' } : { path: whole.slice(0, mark), query: whole.slice(mark + 1) };
}

function unknownPath(): Refusal {
  return new Refusal('unknown_path', {
    message: 'No endpoint has this path.',
    hint: 'Paths begin with /api/v2/, such as /api/v2/stock/bars/US:AAPL/1M/latest.',
  });
}

/** The refusal of a method that no endpoint has (contract 6.6). */
export function methodNotAllowed(method: string): Refusal {
  return new Refusal('method_not_allowed', {
    message: `The method ${method} is not allowed: use GET.`,
    allowed: ['GET', 'HEAD', 'OPTIONS'],
  });
}

/** What a page answers as a reply. */
export function pageReply(
  { status = 200, headers, body, isOurs = false }: PageAnswer,
  requestId: string,
): DoorReply {
  const bytes = Buffer.from(body);
  return {
    status,
    headers: {
      ...(isOurs ? forOurs : common),
      'Content-Length': String(bytes.length),
      'X-Request-Id': requestId,
      ...headers,
    },
    body: [bytes],
  };
}

/** The answer to OPTIONS. */
export function preflight(requestId: string): DoorReply {
  return {
    status: 204,
    headers: {
      ...common,
      Allow: ALLOW,
      'Access-Control-Allow-Methods': ALLOW,
      'Access-Control-Allow-Headers': 'Authorization, If-None-Match, X-Request-Id',
      'Access-Control-Max-Age': '86400',
      'X-Request-Id': requestId,
    },
    body: [],
  };
}

/** All of a request that its reply depends on. */
const nameOf = (request: DoorRequest, address: AddressSettings): string =>
  ['authorization', 'accept', 'accept-encoding', ...decidingHeaders(address)]
    .map((name) => headerOf(request, name) ?? '')
    .concat(request.target)
    .join('\n');

/** A reply whose body is nobody else's. */
function ownOf({ release, body, ...rest }: DoorReply): DoorReply {
  const own = { ...rest, body: body.map((piece) => Uint8Array.from(piece)) };
  release?.();
  return own;
}

/** A reply to one request: with its id, and without a body that the caller holds. */
function addressed(reply: DoorReply, request: DoorRequest, requestId: string): DoorReply {
  const named = { ...reply, headers: { ...reply.headers, 'X-Request-Id': requestId } };
  return unlessHeld(named, headerOf(request, 'if-none-match'));
}

const inLikedCoding = (reply: DoorReply, request: DoorRequest): DoorReply | Promise<DoorReply> =>
  encoded(reply, headerOf(request, 'accept-encoding'));

/** Completes an answer with what the query thread is not told: base address and the caller's key. */
function finish(answer: Answer & { kind: 'answer' }, base: string, caller: Caller): DoorReply {
  const { next } = answer;
  const key = caller.inQuery ? `&secret_key=${encodeURIComponent(caller.secret)}` : '';
  const url = next === null ? null : `${base}${next.address}${key}&next_page_key=${next.key}`;
  const at = next?.at ?? null;
  const body =
    url === null || at === null
      ? [answer.body]
      : [answer.body.subarray(0, at), Buffer.from(url), answer.body.subarray(at)];
  return {
    status: 200,
    headers: {
      ...common,
      'Content-Type': answer.contentType,
      'Content-Length': String(body.reduce((sum, piece) => sum + piece.length, 0)),
      'Cache-Control': 'private, no-cache',
      ETag: tagOf(answer),
      Vary: 'Accept, Accept-Encoding',
      ...answer.headers,
      ...(url !== null && answer.headers['X-Count'] !== undefined ? { Link: `<${url}>; rel="next"` } : {}),
    },
    body,
    ...(answer.release === undefined ? {} : { release: answer.release }),
  };
}
