// Encoded bodies (contract 9.7): chooses the coding that a caller prefers, and encodes a body.
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { limits } from '../contract/limits.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { headerOf } from './request.ts';
import { bodyBytes } from './response.ts';

const gzipLevel = { level: zlib.constants.Z_BEST_SPEED };
const zstdLevel = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };
const gzipInPool = promisify<Uint8Array, zlib.ZlibOptions, Uint8Array>(zlib.gzip);
const zstdInPool = promisify<Uint8Array, zlib.ZstdOptions, Uint8Array>(zlib.zstdCompress);

const codecs = {
  zstd: {
    atOnce: (body: Uint8Array): Uint8Array => zlib.zstdCompressSync(body, zstdLevel),
    inPool: (body: Uint8Array) => zstdInPool(body, zstdLevel),
  },
  gzip: {
    atOnce: (body: Uint8Array): Uint8Array => zlib.gzipSync(body, gzipLevel),
    inPool: (body: Uint8Array) => gzipInPool(body, gzipLevel),
  },
};

/** A coding of a body. */
type Coding = keyof typeof codecs;

const LISTED = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/i;

function weightsOf(acceptEncoding: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of acceptEncoding.split(',')) {
    const [, name, weight = '1'] = LISTED.exec(part) ?? [];
    if (name !== undefined) weights.set(name.toLowerCase(), Number(weight));
  }
  return weights;
}

/**
 * The coding that a caller prefers, null for none; and whether it refuses a body without a coding (RFC 9110,
 * 12.5.3). A star counts for gzip only: a caller that does not name zstd may not know it. At equal weights
 * zstd wins: it is faster and smaller.
 */
function preferenceOf(acceptEncoding: string) {
  const weights = weightsOf(acceptEncoding);
  const star = weights.get('*');
  const zstd = weights.get('zstd') ?? 0;
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? star ?? 0;
  const weight = Math.max(zstd, gzip);
  const identity = weights.get('identity');
  const isPreferred = weight > 0 && weight >= (identity ?? 0);
  return {
    coding: isPreferred ? (gzip > zstd ? ('gzip' as const) : ('zstd' as const)) : null,
    isDemanded: identity === 0 || (identity === undefined && star === 0),
  };
}

/** The coding that a response's caller prefers, where that saves enough or is demanded; null for none. */
export function codingFor(response: HttpResponse, request: HttpRequest): Coding | null {
  const acceptEncoding = headerOf(request, 'accept-encoding');
  if (acceptEncoding === undefined || response.status !== 200) return null;
  const { coding, isDemanded } = preferenceOf(acceptEncoding);
  const isSmall = Number(response.headers['Content-Length']) < limits.encodedBytesLeast;
  return isSmall && !isDemanded ? null : coding;
}

/** Where a body is put together that is encoded at once: thousands a second would be garbage otherwise. */
const workspace = Buffer.allocUnsafeSlow(limits.encodedAtOnceBytesMax);

/** A body in one piece, in the workspace. */
function joinedInWorkspace(body: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const piece of body) {
    workspace.set(piece, length);
    length += piece.length;
  }
  return workspace.subarray(0, length);
}

/** The body of a response in a coding. */
export function encodedBody(response: HttpResponse, coding: Coding): Uint8Array | Promise<Uint8Array> {
  const { atOnce, inPool } = codecs[coding];
  const isLarge = bodyBytes(response) > limits.encodedAtOnceBytesMax;
  return isLarge ? inPool(Buffer.concat(response.body)) : atOnce(joinedInWorkspace(response.body));
}

/** A response with an encoded body in place of its own. */
export function withEncodedBody(response: HttpResponse, coding: Coding, body: Uint8Array): HttpResponse {
  const changed = { 'Content-Encoding': coding, 'Content-Length': String(body.length) };
  return { status: response.status, headers: { ...response.headers, ...changed }, body: [body] };
}

/** The encoded bodies of pages that last as long as the process. */
export class EncodedPages {
  readonly #forms = new WeakMap<readonly Uint8Array[], Map<Coding, Promise<Uint8Array>>>();

  /** A page in the coding that its caller prefers. Its body is the same array at every request. */
  async inForm(page: HttpResponse, request: HttpRequest): Promise<HttpResponse> {
    const response = { ...page, headers: { ...page.headers, Vary: 'Accept-Encoding' } };
    const coding = codingFor(response, request);
    if (coding === null) return response;
    const forms = this.#forms.get(page.body) ?? new Map<Coding, Promise<Uint8Array>>();
    this.#forms.set(page.body, forms);
    const body = forms.get(coding) ?? Promise.resolve(encodedBody(page, coding));
    forms.set(coding, body);
    return withEncodedBody(response, coding, await body);
  }
}
