// Reads a request: its id, path and query, the caller's key, the accepted types.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Refusal } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import { httpLimits } from './limits.ts';
import type { HttpRequest } from './message.ts';
import { queryText, type RawQuery } from './route.ts';

const RUN = new RegExp(`[\\w-]{${limits.issuedKeyCharacters},}`, 'g');

const decodedOnce = (text: string): string =>
  text.replace(/%([2-7][\da-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/**
 * A text percent-decoded twice: ASCII alone, which issued keys and request ids have, so nothing is malformed.
 */
const decodedTwice = (text: string): string => (text.includes('%') ? decodedOnce(decodedOnce(text)) : text);

/**
 * True if a text holds what may be an issued key. Those have letters of both cases, unlike a letter that is
 * repeated.
 */
export const mayHoldKey = (text: string): boolean =>
  Array.from(decodedTwice(text).matchAll(RUN)).some(([run]) => /[a-z]/.test(run) && /[A-Z]/.test(run));

/**
 * The texts that a request has where keys are sent, in lower case: in its query and in its Authorization
 * header.
 */
function sentKeys(target: string, authorization: string): string[] {
  const inQuery = target
    .split(/[?&#]/)
    .map((pair) => decodedTwice(pair).toLowerCase())
    .filter((pair) => pair.startsWith('secret_key='))
    .map((pair) => pair.slice('secret_key='.length).replaceAll('+', ' ').trim());
  const words = authorization.toLowerCase().split(/[\s,]/);
  const inHeader = words.filter((word, index) => word !== 'bearer' && (index > 0 || words.length === 1));
  return [...inQuery, ...inHeader].filter((key) => key.length >= httpLimits.secretCharactersMin);
}

/**
 * True if a request id may be or hold a key: one of this request, or any run of as many characters as keys
 * have.
 */
function isOrHoldsKey(id: string, target: string, authorization: string): boolean {
  if (id.search(RUN) >= 0) return true;
  const lower = id.toLowerCase();
  const whole = `${target}\n${decodedTwice(target)}\n${authorization}`.toLowerCase();
  if (id.length >= httpLimits.keyPartCharactersMin && whole.includes(lower)) return true;
  return sentKeys(target, authorization).some((key) => lower.includes(key));
}

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

const { bodyBytesMax, bodyTimeoutMs } = httpLimits;

/**
 * The refusal of a body by its headers. Chunks are refused, because each costs time, however small; null
 * where the body may be read.
 */
function problemOf({ headers }: IncomingMessage): Refusal | null {
  const length = headers['content-length'];
  const param = 'Content-Length';
  if (headers['transfer-encoding'] !== undefined || length === undefined)
    return new Refusal('bad_request', { message: 'A request with a body needs its Content-Length.', param });
  if (Number(length) <= bodyBytesMax) return null;
  const message = `The body is larger than ${bodyBytesMax} bytes: Content-Length says so.`;
  return new Refusal('bad_request', { message, param });
}

/**
 * The whole body of a request. Nothing of it is read before this is called.
 * @throws Refusal for a body without a length, one that is too large, and one that does not come in time or
 * at all
 */
export async function readBody(incoming: IncomingMessage): Promise<Uint8Array> {
  const problem = problemOf(incoming);
  if (problem !== null) throw problem;
  const pieces: Buffer[] = [];
  const late = new Refusal('timeout', { message: 'The body of the request did not arrive in time.' });
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(late), bodyTimeoutMs);
    incoming.on('data', (piece: Buffer) => pieces.push(piece));
    incoming.once('end', resolve);
    incoming.once('close', () => {
      clearTimeout(timer);
      reject(late);
    });
    incoming.once('error', () => reject(late));
  });
  return Buffer.concat(pieces);
}
