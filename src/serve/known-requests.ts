// Requests that are known by their bytes: one that the response cache has just answered is answered again
// before the parser. What the stages ask of each request is asked of it, too (docs/decisions/0046).
import { hash, randomUUID } from 'node:crypto';
import { SizedCache } from '../base/sized-cache.ts';
import { limits } from '../contract/limits.ts';
import type { ApiKey } from '../store/control.ts';
import { addressFact } from './base-address.ts';
import type { AnswerForm, CachedAnswer } from './cache/response-cache.ts';
import { httpLimits } from './limits.ts';
import type { HttpRequest, HttpResponse, WrittenResponse } from './message.ts';
import type { RequestContext, Service } from './request-context.ts';
import { answerPieces, bodyBytes, quotaHeaders } from './response.ts';
import { strictTransport } from './tls.ts';

/** A request that was answered, with the parts of its response that all responses to it have. */
type KnownRequest = {
  readonly key: ApiKey;
  readonly route: string | null;
  /** The address that a trusted proxy named; null where none did. */
  readonly forwarded: string | null;
  readonly status: number;
  /** Status line and headers, without those of each response alone. */
  readonly head: string;
  /** The name of its answer in the response cache, and that answer while it is there. */
  readonly name: string;
  readonly answer: WeakRef<CachedAnswer>;
  /** The version of the store that the response names. */
  readonly dataVersion: number | undefined;
  readonly form: AnswerForm;
  /** When the stages were asked. */
  readonly askedMs: number;
};

const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** The beginning and the lines of one request: no folded lines, and no line that ends otherwise. */
const HEAD = /^GET [!-~]+ HTTP\/1\.1\r\n(?:[!#$%&'*+.^_`|~\w-]+:[^\0\r\n]*\r\n)*\r\n$/;
/** Headers that a body follows, or that each response repeats. */
const APART = /\r\n(?:content-length|transfer-encoding|expect|upgrade|x-request-id):/i;
/** Those that end the connection: the parser heeds the older name, too. */
const ENDING = /\r\n(?:proxy-)?connection:(?! *keep-alive\r)/i;

/**
 * True for bytes that are one whole request without a body: a parser that was between two requests before
 * them is so after them.
 */
export function isWholeRequest(bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  return HEAD.test(text) && !APART.test(text) && !ENDING.test(text);
}

/** The bytes have a key in them, so their hash stands for them. */
const hashOf = (bytes: Buffer): string => hash('sha256', bytes, 'base64url');

/** The date as a header has it, made once a second. */
let date = { second: 0, text: '' };
function dateText(nowMs: number): string {
  const second = Math.floor(nowMs / 1_000);
  if (second !== date.second) date = { second, text: new Date(nowMs).toUTCString() };
  return date.text;
}

const keptSeconds = limits.keepAliveTimeoutMs / 1_000;
const KEPT_ALIVE = `Connection: keep-alive\r\nKeep-Alive: timeout=${keptSeconds}\r\n\r\n`;

const linesOf = (headers: Readonly<Record<string, string>>): string =>
  Array.from(Object.entries(headers), ([name, value]) => `${name}: ${value}\r\n`).join('');

/** A request that may be known, as the server meets it. */
export type MetRequest = Pick<HttpRequest, 'address' | 'batch' | 'isGone'> & {
  /** As `KnownRequests.nameOf` gives it. */
  readonly name: string;
  readonly arrivedMs: number;
  readonly waitedMs: number;
};

/** The requests of one process that are known. */
export class KnownRequests {
  readonly #known = new SizedCache<KnownRequest>(httpLimits.knownBytesMax);

  /** The name of a known request by its bytes; null where it is not known, or was for a second. */
  nameOf(bytes: Buffer, nowMs: number): string | null {
    const name = hashOf(bytes);
    const askedMs = this.#known.get(name)?.askedMs;
    return askedMs === undefined || Math.abs(nowMs - askedMs) >= httpLimits.knownMs ? null : name;
  }

  /**
   * Adds a request with its response, without its quota's headers, where that is an answer of the response
   * cache that is sent at once. `forwarded` as above.
   */
  add(context: RequestContext, response: HttpResponse, forwarded: string | null, service: Service): void {
    const { request, found, form, key, route } = context;
    if (request.bytes === undefined || found === null || form === null) return;
    if (bodyBytes(response) > httpLimits.sendPieceBytes) return;
    const { 'X-Request-Id': _, ...others } = response.headers;
    const headers = service.address.scheme === 'https' ? { ...others, ...strictTransport } : others;
    const head = `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status]}\r\n${linesOf(headers)}`;
    const known: KnownRequest = {
      ...{ key, route, forwarded, status: response.status, head, form, dataVersion: found.dataVersion },
      ...{ name: found.name!, answer: new WeakRef(found.cached), askedMs: service.nowMs() },
    };
    const bytes = found.name!.length + head.length + (form.url?.length ?? 0) + httpLimits.knownOverheadBytes;
    this.#known.set(hashOf(request.bytes), known, bytes);
  }

  /**
   * The response to a known request; null where the stages must be asked, which know it anew. Nothing is
   * counted then.
   */
  async answer(met: MetRequest, service: Service): Promise<WrittenResponse | null> {
    const { cache, keys, quotas, unsent, admits, observe } = service;
    const known = this.#known.get(met.name);
    const kept = known?.answer.deref();
    if (known === undefined || kept === undefined) return null;
    const version = await cache.version(met.batch);
    const nowMs = service.nowMs();
    if (version === null || cache.find(known.name, version, nowMs) !== kept) return null;
    if (Math.max(kept.answer.dataVersion!, version) !== known.dataVersion) return null;
    const body = bodyOf(known, kept, cache);
    const { key, route, status } = known;
    const keyId = key.key_id;
    if (body === undefined || unsent.isNear(keyId) || !keys.holds(key, nowMs)) return null;
    // The stages ask for one that is late, and each asking counts.
    if (met.waitedMs > limits.queueWaitMs || !admits(keyId, met.waitedMs)) return null;
    const counted = quotas.countNow(key);
    if (counted === undefined || counted?.isAdmitted === false) return null;
    const requestId = randomUUID();
    const isGone = met.isGone();
    const bytes = bodyBytes({ body });
    observe({
      ...({ kind: 'request', requestId, method: 'GET', route, keyId, word: null } as const),
      ...{ status: isGone ? null : status, bytes: isGone ? 0 : bytes },
      ...addressFact(known.forwarded ?? met.address),
      durationMs: performance.now() - met.arrivedMs,
    });
    const quota = counted === null ? '' : linesOf(quotaHeaders(counted.quota));
    const own = `X-Request-Id: ${requestId}\r\n${quota}Date: ${dateText(nowMs)}\r\n`;
    return { head: known.head + own + KEPT_ALIVE, body, owner: keyId, release: unsent.hold(keyId, bytes) };
  }
}

/** The body that was sent; undefined where its form is kept no more. */
function bodyOf(
  { status, name, form }: KnownRequest,
  kept: CachedAnswer,
  cache: Service['cache'],
): readonly Uint8Array[] | undefined {
  if (status === 304) return [];
  if (form.coding === null) return answerPieces(kept.answer, form.url);
  const encoded = cache.encoding(name, kept, form);
  return encoded && [encoded];
}
