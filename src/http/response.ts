// Responses, made by pure functions: errors, preflight, built-in pages, answers of queries.
import { type ErrorFacts, type ErrorWord, errors, Refusal } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import type { Answer } from '../queries/query.ts';
import { errorBody, JSON_TYPE } from '../queries/render/envelope.ts';
import type { PageContent } from './built-in-pages.ts';
import { etagOf } from './cache/etag.ts';
import type { HttpResponse } from './message.ts';
import type { Caller } from './request.ts';

const ALLOW = 'GET, HEAD, OPTIONS';

const EXPOSED = [
  ...['ETag', 'Link', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After'],
  ...['X-Count', 'X-Next-Page-Key', 'X-Request-Id'],
].join(', ');

/** Headers of every response. Alone they do not let web pages of other origins read it. */
const sameOrigin = {
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const;

const anyOrigin = {
  ...sameOrigin,
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
} as const;

/** The bytes of a body. */
export const bodyBytes = ({ body }: HttpResponse): number =>
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
      ...(word === 'method_not_allowed' ? { Allow: ALLOW } : {}),
      ...(word === 'unavailable' ? { 'Retry-After': String(limits.retryAfterSeconds) } : {}),
      ...(word === 'missing_key' || word === 'invalid_key' ? { 'WWW-Authenticate': 'Bearer' } : {}),
    },
    body: [body],
  };
}

/** The refusal of a method that no endpoint has (contract 6.6). */
export function methodNotAllowed(method: string): Refusal {
  return new Refusal('method_not_allowed', {
    message: `The method ${method} is not allowed: use GET.`,
    allowed: ['GET', 'HEAD', 'OPTIONS'],
  });
}

/** The response to OPTIONS. */
export function preflightResponse(requestId: string): HttpResponse {
  return {
    status: 204,
    headers: {
      ...anyOrigin,
      Allow: ALLOW,
      'Access-Control-Allow-Methods': ALLOW,
      'Access-Control-Allow-Headers': 'Authorization, If-None-Match, X-Request-Id',
      'Access-Control-Max-Age': '86400',
      'X-Request-Id': requestId,
    },
    body: [],
  };
}

/** A built-in page as a response. */
export function pageResponse(
  { status = 200, headers, body, isSameOrigin = false }: PageContent,
  requestId: string,
): HttpResponse {
  const bytes = Buffer.from(body);
  return {
    status,
    headers: {
      ...(isSameOrigin ? sameOrigin : anyOrigin),
      'Content-Length': String(bytes.length),
      'X-Request-Id': requestId,
      ...headers,
    },
    body: [bytes],
  };
}

/** An answer of the query thread as a response, with what that thread does not know: base address and the caller's key. */
export function answerResponse(
  answer: Answer & { kind: 'answer' },
  baseAddress: string,
  caller: Caller,
): HttpResponse {
  const { next } = answer;
  const key = caller.inQuery ? `&secret_key=${encodeURIComponent(caller.secret)}` : '';
  const url = next === null ? null : `${baseAddress}${next.address}${key}&next_page_key=${next.key}`;
  const at = next?.at ?? null;
  const body =
    url === null || at === null
      ? [answer.body]
      : [answer.body.subarray(0, at), Buffer.from(url), answer.body.subarray(at)];
  return {
    status: 200,
    headers: {
      ...anyOrigin,
      'Content-Type': answer.contentType,
      'Content-Length': String(body.reduce((sum, piece) => sum + piece.length, 0)),
      'Cache-Control': 'private, no-cache',
      ETag: etagOf(answer),
      Vary: 'Accept, Accept-Encoding',
      ...answer.headers,
      ...(url !== null && answer.headers['X-Count'] !== undefined ? { Link: `<${url}>; rel="next"` } : {}),
    },
    body,
    ...(answer.release === undefined ? {} : { release: answer.release }),
  };
}

/** A response with a copy of its body, which shares no memory. */
export function copyOf({ release, body, ...rest }: HttpResponse): HttpResponse {
  const copy = { ...rest, body: body.map((piece) => Uint8Array.from(piece)) };
  release?.();
  return copy;
}
