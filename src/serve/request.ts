// Reads a request: its id, path and query, the caller's key, the accepted types.
import { randomUUID } from 'node:crypto';
import { Refusal } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import { isOrHoldsKey } from './held-keys.ts';
import type { HttpRequest } from './message.ts';
import { queryText, type RawQuery } from './route.ts';

/** A caller's key, and whether it was in the query or in a header. */
export type Caller = { readonly secret: string; readonly inQuery: boolean };

/** A header's text; of a repeated one the first. */
export function headerOf(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

const OWN_REQUEST_ID = new RegExp(`^[A-Za-z0-9._-]{1,${limits.requestIdCharactersMax}}$`);

/**
 * The caller's own request id, or a new one where it is invalid or holds a key: ids are logged (contract 6.5,
 * 7.4).
 */
export function requestIdOf(request: HttpRequest): string {
  const sent = headerOf(request, 'x-request-id');
  if (sent === undefined || !OWN_REQUEST_ID.test(sent)) return randomUUID();
  const authorization = headerOf(request, 'authorization') ?? '';
  return isOrHoldsKey(sent, request.target, authorization) ? randomUUID() : sent;
}

/** The caller's key: from the query, as specified, or from the Authorization header (contract 7.1). */
export function callerOf(request: HttpRequest, query: RawQuery): Caller | null {
  const inQuery = queryText(query, 'secret_key');
  if (inQuery !== undefined && inQuery !== '') return { secret: inQuery, inQuery: true };
  const bearer = /^Bearer +(\S+)$/i.exec(headerOf(request, 'authorization') ?? '');
  return bearer === null ? null : { secret: bearer[1]!, inQuery: false };
}

/** A type that a caller refuses: its weight is 0 (RFC 9110, 12.4.2). */
const REFUSED = /;\s*q=0(?:\.0*)?\s*(?:;|$)/i;

/** True if a caller wants CSV inside the JSON envelope (contract 5.3). */
export function wantsWrappedCsv(request: HttpRequest): boolean {
  const accept = headerOf(request, 'accept');
  if (accept === undefined) return false;
  const named = accept.split(',').filter((part) => part.includes('/') && !REFUSED.test(part));
  const types = named.map((part) => part.split(';', 1)[0]!.trim().toLowerCase());
  return types.includes('application/json') && !types.includes('text/csv') && !types.includes('*/*');
}

/** Refuses a request that is malformed or too long, whatever its path. @throws Refusal */
export function checkHead({ headers, target }: Pick<HttpRequest, 'headers' | 'target'>): void {
  if (Array.isArray(headers.host)) {
    const message = 'The request has more than one Host header: send one.';
    throw new Refusal('bad_request', { message, param: 'Host' });
  }
  if (target.length <= limits.uriBytesMax) return;
  const message = `The request address is longer than ${limits.uriBytesMax} characters.`;
  throw new Refusal('uri_too_long', { message });
}

/** The target of OPTIONS for all paths (RFC 9112, 3.2.4). */
export const WHOLE_SERVICE = '*';

type Target = { readonly path: string; readonly query: string; readonly headers: HttpRequest['headers'] };

/**
 * Path and query of an origin-form or absolute-form target (RFC 9112, 3.2); a fragment is not part of a
 * request. The host of an absolute form replaces the Host header.
 */
export function readTarget({ target, headers }: Pick<HttpRequest, 'target' | 'headers'>): Target {
  const [origin, host] = /^https?:\/\/([^/?#]*)/i.exec(target) ?? [];
  const whole = target.slice(origin?.length ?? 0).split('#', 1)[0]!;
  const mark = whole.indexOf('?');
  const [path, query] = mark < 0 ? [whole, ''] : [whole.slice(0, mark), whole.slice(mark + 1)];
  // Only an absolute form can be without a path: it is that of the root.
  return { path: path || '/', query, headers: host === undefined ? headers : { ...headers, host } };
}
