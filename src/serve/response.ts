// Responses, made by pure functions: errors, preflight, built-in pages, answers of queries, and the state of
// a quota. Entity tags (contract 9.7) are of an answer's data, without `reference`, page key, base address
// and the caller's key.
import { crc32 } from 'node:zlib';
import { nearest } from '../base/words.ts';
import { type ErrorFacts, type ErrorWord, errors, Refusal } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import { adjustedHeaders } from '../queries/adjusted.ts';
import type { Answer } from '../queries/query.ts';
import { errorBody, JSON_TYPE } from '../queries/render/list.ts';
import type { CountedRequest, Quota } from './keys/quotas.ts';
import type { HttpResponse } from './message.ts';
import type { Caller } from './request.ts';

/**
 * The tag of an answer. It is weak, because the bytes also differ by caller and moment; so every encoding has
 * the same tag. The checksum costs a third of the fastest hash (docs/decisions/0017).
 */
export function etagOf({ body, contentType, next }: Answer & { kind: 'answer' }): string {
  const data = body.subarray(next?.at ?? dataStart(body, contentType));
  return tagOf([data], `${contentType} ${next === null}`);
}

/** The weak tag of some bytes, and of `also`, which says what else it depends on. */
export function tagOf(pieces: readonly Uint8Array[], also = ''): string {
  const sum = pieces.reduce((before, piece) => crc32(piece, before), crc32(also));
  const length = pieces.reduce((total, piece) => total + piece.length, 0);
  return `W/"${sum.toString(36)}-${length.toString(36)}"`;
}

/** Where the data of an answer begins: after the head of the envelope, which `reference` is a part of. */
function dataStart(body: Uint8Array, contentType: string): number {
  if (contentType !== JSON_TYPE) return 0;
  return Math.max(0, Buffer.from(body.buffer, body.byteOffset, body.length).indexOf('"result":'));
}

const LISTED = /(?:W\/)?("[^"]*")/g;

/** Whether a caller holds the answer with a tag; a weak comparison (RFC 9110, 13.1.2). */
function isHeld(tag: string, ifNoneMatch: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = tag.replace(/^W\//, '');
  return Array.from(ifNoneMatch.matchAll(LISTED)).some((found) => found[1] === opaque);
}

/**
 * Headers that a 304 leaves out, because they describe the body (RFC 9110, 15.4.5). The key of the next page
 * stays: the tag does not cover it, and one that a caller kept is of an earlier moment.
 */
const bodyHeaders = new Set('Content-Encoding Content-Length Content-Type Link X-Count'.split(' '));

/** The response, or a 304 without a body where the caller holds the answer already. */
export function notModifiedIfHeld(response: HttpResponse, ifNoneMatch: string | undefined): HttpResponse {
  const tag = response.headers.ETag;
  if (ifNoneMatch === undefined || tag === undefined || !isHeld(tag, ifNoneMatch)) return response;
  const headers = Object.entries(response.headers).filter(([name]) => !bodyHeaders.has(name));
  return { ...response, status: 304, headers: Object.fromEntries(headers), body: [] };
}

const IGNORED_HEADER = 'X-Ignored-Parameters';

/** A name as a header may show it. A key has more characters, so none is shown after a mistyped `=`. */
const SHOWN = new RegExp(`^[\\w.[\\]-]{1,${limits.ignoredNameCharactersMax}}$`);

/** Names of other services for parameters of ours. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['dateformat', 'timestamps'],
  ['timezone', 'tz'],
  ['fields', 'columns'],
  ['strike_price_gte', 'strike_from'],
  ['strike_price_lte', 'strike_to'],
  ['expiration_date_gte', 'expiration_from'],
  ['expiration_date_lte', 'expiration_to'],
]);

/**
 * The known name that is likely meant: `from` is `from_date`, `adjst` is `adjust`. Every short name is near one
 * of two letters.
 */
function likely(name: string, known: readonly string[]): string {
  const other = otherNames.get(name.toLowerCase().replaceAll('.', '_'));
  const meant =
    known.find((one) => one === other) ??
    known.find((one) => one.startsWith(`${name}_`)) ??
    nearest(
      name,
      known.filter((one) => one.length > 2),
    );
  return meant === undefined ? name : `${name} (${meant}?)`;
}

/**
 * The header's value: up to 10 names, each with the known one that is likely meant, and how many more there
 * are; null without names. A name that is too long, or has other characters than names have, is only counted.
 */
export function ignoredHeader(names: readonly string[], known: readonly string[]): string | null {
  if (names.length === 0) return null;
  const shown = names.filter((name) => SHOWN.test(name)).slice(0, limits.ignoredNamesMax);
  const more = names.length - shown.length;
  const told = shown.map((name) => likely(name, known));
  return [...told, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

const METHODS = ['GET', 'HEAD', 'OPTIONS'];
const ALLOW = METHODS.join(', ');

const EXPOSED = [
  ...[
    'Accept-Ranges',
    'Content-Range',
    'ETag',
    'Link',
    'RateLimit-Limit',
    'RateLimit-Remaining',
    'RateLimit-Reset',
    'Retry-After',
  ],
  ...[
    'X-Adjust-Incomplete',
    'X-Adjusted-By',
    'X-Adjusted-Contracts',
    'X-As-Of',
    'X-As-Of-Limits',
    'X-Count',
    'X-Data-Version',
    IGNORED_HEADER,
    'X-Missing-Symbols',
    'X-Next-Page-Key',
    'X-No-Data',
    'X-Request-Id',
    'X-Symbol-History',
  ],
].join(', ');

/**
 * The headers that web pages of other origins may send: those of ours, and those that browsers and libraries
 * add by themselves.
 */
const SENT = [
  ...['Authorization', 'Content-Type', 'If-None-Match', 'If-Range', 'Mcp-Method', 'Mcp-Name'],
  ...['Mcp-Protocol-Version', 'Range', 'User-Agent', 'X-Request-Id', 'X-Requested-With'],
].join(', ');

/** Headers of every response. With these alone, web pages of other origins cannot read it. */
const sameOrigin = { 'Referrer-Policy': 'no-referrer', 'X-Content-Type-Options': 'nosniff' } as const;

/** Headers of answers, which web pages of every origin may read. */
export const anyOrigin = {
  ...sameOrigin,
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
} as const;

/** The length of a body in bytes. */
export const bodyBytes = ({ body }: Pick<HttpResponse, 'body'>): number =>
  body.reduce((sum, piece) => sum + piece.length, 0);

/** An error as a response (contract 6.2). */
export function errorResponse(word: ErrorWord, facts: ErrorFacts, requestId: string): HttpResponse {
  const body = Buffer.from(JSON.stringify(errorBody(word, facts, requestId)));
  return {
    status: errors[word].status,
    headers: {
      ...anyOrigin,
      'Content-Type': JSON_TYPE,
      'Content-Length': String(body.length),
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
      ...(word === 'method_not_allowed' ? { Allow: [facts.allowed].flat().join(', ') } : {}),
      ...(word === 'unavailable' ? { 'Retry-After': String(limits.retryAfterSeconds) } : {}),
      ...(word === 'missing_key' || word === 'invalid_key' ? { 'WWW-Authenticate': 'Bearer' } : {}),
    },
    body: [body],
  };
}

/** The refusal of a method that a path does not have (contract 6.6). */
export function methodNotAllowed(method: string, allowed: readonly string[] = METHODS): Refusal {
  const message = `The method ${method} is not allowed: use ${allowed[0]}.`;
  return new Refusal('method_not_allowed', { message, allowed });
}

/** The response to OPTIONS, with the methods of the path. */
export function preflightResponse(requestId: string, methods = ALLOW): HttpResponse {
  return {
    status: 204,
    headers: {
      ...anyOrigin,
      Allow: methods,
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers': SENT,
      'Access-Control-Max-Age': '86400',
      'X-Request-Id': requestId,
    },
    body: [],
  };
}

/** The content of a page. */
export type PageContent = {
  readonly headers: Readonly<Record<string, string>>;
  /** The pieces of the body, shared by all responses. */
  readonly body: readonly Uint8Array[];
  /** Web pages of other origins may not read it. */
  readonly isSameOrigin?: boolean;
  /** Its body is the same array at every request, so that it is encoded once. */
  readonly isLasting?: boolean;
};

/** A built-in page as a response. */
export function pageResponse(
  { headers, body, isSameOrigin = false }: PageContent,
  requestId: string,
): HttpResponse {
  return {
    status: 200,
    headers: {
      ...(isSameOrigin ? sameOrigin : anyOrigin),
      'Content-Length': String(bodyBytes({ body })),
      'X-Request-Id': requestId,
      ...headers,
    },
    body,
  };
}

/**
 * The address of the next page, with base address and the caller's key, which the query thread does not know;
 * null on the last page.
 */
export function nextPageUrl(
  { next }: Answer & { kind: 'answer' },
  baseAddress: string,
  caller: Caller,
): string | null {
  const key = caller.inQuery ? `&secret_key=${encodeURIComponent(caller.secret)}` : '';
  return next === null ? null : `${baseAddress}${next.address}${key}&next_page_key=${next.key}`;
}

/** The version of the store that has an answer; nothing where damage hides it (contract 9.12). */
export const versionHeader = (version: number | undefined): Readonly<Record<string, string>> =>
  version === undefined ? {} : { 'X-Data-Version': String(version) };

/**
 * The differences between responses with one answer: the address of the next page, the version of the store,
 * the request's id.
 */
type AnswerDetails = {
  readonly url: string | null;
  readonly dataVersion: number | undefined;
  readonly requestId: string;
};

/** The pieces of an answer's body, with the address of the next page in its place. */
export function answerPieces(
  { next, body }: Answer & { kind: 'answer' },
  url: string | null,
): readonly Uint8Array[] {
  const at = next?.at ?? null;
  return url === null || at === null ? [body] : [body.subarray(0, at), Buffer.from(url), body.subarray(at)];
}

/**
 * An answer of the query thread as a response, with its tag. All its headers are made at once: each copy of
 * them costs every request.
 */
export function answerResponse(
  answer: Answer & { kind: 'answer' },
  etag: string,
  { url, dataVersion, requestId }: AnswerDetails,
): HttpResponse {
  const body = answerPieces(answer, url);
  return {
    status: 200,
    headers: {
      ...anyOrigin,
      'Content-Type': answer.contentType,
      'Content-Length': String(bodyBytes({ body })),
      'Cache-Control': 'private, no-cache',
      ETag: etag,
      Vary: 'Accept, Accept-Encoding',
      ...answer.headers,
      ...(url !== null && answer.headers['X-Count'] !== undefined ? { Link: `<${url}>; rel="next"` } : {}),
      ...versionHeader(dataVersion),
      'X-Request-Id': requestId,
    },
    body,
  };
}

/**
 * The beginning of a streamed answer as a response: without a length and a tag, which only its end could tell
 * (contract 9.11).
 */
export const streamedResponse = (
  { contentType, headers, body, dataVersion, adjusted }: Answer & { kind: 'answer' },
  requestId: string,
): HttpResponse => ({
  status: 200,
  headers: {
    ...anyOrigin,
    'Content-Type': contentType,
    ...headers,
    ...(adjusted && adjustedHeaders(adjusted, adjusted.readThrough)),
    'Cache-Control': 'private, no-cache',
    'X-Request-Id': requestId,
    ...versionHeader(dataVersion),
  },
  body: [body],
});

/**
 * An answer whose body has memory of its own: a copy, where others write to that memory once it is released,
 * or it is larger than the body.
 */
export function ownAnswer(answer: Answer & { kind: 'answer' }): Answer & { kind: 'answer' } {
  const { release, body, ...rest } = answer;
  if (release === undefined && body.byteLength === body.buffer.byteLength) return answer;
  const copy = { ...rest, body: Uint8Array.from(body) };
  release?.();
  return copy;
}

/**
 * Gives back the memory of a body that nobody reads any more, at once: the garbage collector does not see how
 * much it is, and let 4 GB of large answers wait under load.
 */
export function freeBody({ release, body }: Answer & { kind: 'answer' }): void {
  if (release !== undefined) release();
  else if (body.buffer instanceof ArrayBuffer && !body.buffer.detached) body.buffer.transfer(0);
}

/** The rest of a response that is sent as it is read, and how many bytes the connection has taken of all. */
export function countTaken(
  response: Pick<HttpResponse, 'body'>,
  restOf: () => Promise<Uint8Array | null>,
): { readonly rest: () => Promise<Uint8Array | null>; readonly taken: () => number } {
  let given = bodyBytes(response);
  let taken = 0;
  return {
    taken: () => taken,
    rest: async () => {
      // What was given before has been taken.
      taken += given;
      given = 0;
      const piece = await restOf();
      given = piece?.length ?? 0;
      return piece;
    },
  };
}

/** The state of a key's quota (contract 7.5), in the three RateLimit headers of the IETF draft. */
export const quotaHeaders = ({
  limit,
  remaining,
  resetSeconds,
}: Quota): Readonly<Record<string, string>> => ({
  'RateLimit-Limit': String(limit),
  'RateLimit-Remaining': String(remaining),
  'RateLimit-Reset': String(resetSeconds),
});

/** Adds the state of the key's quota. A request that the service failed to answer does not count. */
export function withQuota(response: HttpResponse, counted: CountedRequest | null): HttpResponse {
  if (counted === null) return response;
  const quota = response.status >= 500 ? counted.giveBack() : counted.quota;
  return {
    ...response,
    headers: {
      ...response.headers,
      ...quotaHeaders(quota),
      ...(counted.isAdmitted ? {} : { 'Retry-After': String(quota.resetSeconds) }),
    },
  };
}

/** Adds the names of the ignored query parameters; null for none (contract 4.4). */
export const withIgnored = (response: HttpResponse, ignored: string | null): HttpResponse =>
  ignored === null ? response : { ...response, headers: { ...response.headers, [IGNORED_HEADER]: ignored } };
