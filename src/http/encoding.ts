// Encoded bodies (contract 9.7): chooses the coding that a caller prefers, and encodes a body.
import { promisify } from 'node:util';
import {
  constants,
  gzip,
  gzipSync,
  type ZlibOptions,
  type ZstdOptions,
  zstdCompress,
  zstdCompressSync,
} from 'node:zlib';
import { limits } from '../contract/limits.ts';
import type { HttpResponse } from './message.ts';

type Codec = {
  readonly atOnce: (body: Uint8Array) => Uint8Array;
  readonly inPool: (body: Uint8Array) => Promise<Uint8Array>;
};

const gzipLevel: ZlibOptions = { level: constants.Z_BEST_SPEED };
const zstdLevel: ZstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const gzipInPool = promisify<Uint8Array, ZlibOptions, Uint8Array>(gzip);
const zstdInPool = promisify<Uint8Array, ZstdOptions, Uint8Array>(zstdCompress);

/** Of equal preferences the first wins: it is faster, and its bodies are smaller. */
const codecs = {
  zstd: {
    atOnce: (body) => zstdCompressSync(body, zstdLevel),
    inPool: (body) => zstdInPool(body, zstdLevel),
  },
  gzip: { atOnce: (body) => gzipSync(body, gzipLevel), inPool: (body) => gzipInPool(body, gzipLevel) },
} as const satisfies Record<string, Codec>;

type Coding = keyof typeof codecs;

/** The coding that a caller prefers, null for none; and whether it refuses a body without a coding. */
type Preference = { readonly coding: Coding | null; readonly isDemanded: boolean };

const LISTED = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/i;

function weightsOf(acceptEncoding: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of acceptEncoding.split(',')) {
    const [, name, weight = '1'] = LISTED.exec(part) ?? [];
    if (name !== undefined) weights.set(name.toLowerCase(), Number(weight));
  }
  return weights;
}

/** RFC 9110, 12.5.3. A star counts for gzip only: a caller that does not name zstd may not know it. */
function preferenceOf(acceptEncoding: string): Preference {
  const weights = weightsOf(acceptEncoding);
  const star = weights.get('*');
  const zstd = weights.get('zstd') ?? 0;
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? star ?? 0;
  const [coding, weight] = gzip > zstd ? (['gzip', gzip] as const) : (['zstd', zstd] as const);
  const identity = weights.get('identity');
  return {
    coding: weight > (identity ?? 0) || (weight > 0 && weight === identity) ? coding : null,
    isDemanded: identity === 0 || (identity === undefined && star === 0),
  };
}

/** A response with its body in the coding that its caller prefers, where that saves enough or is demanded. */
export function encoded(
  response: HttpResponse,
  acceptEncoding: string | undefined,
): HttpResponse | Promise<HttpResponse> {
  if (acceptEncoding === undefined || response.status !== 200) return response;
  const { coding, isDemanded } = preferenceOf(acceptEncoding);
  const bytes = Number(response.headers['Content-Length']);
  if (coding === null || (bytes < limits.encodedBytesLeast && !isDemanded)) return response;
  const whole = Buffer.concat(response.body);
  response.release?.();
  const { atOnce, inPool } = codecs[coding];
  if (bytes <= limits.encodedAtOnceBytesMax) return inCoding(response, coding, atOnce(whole));
  return inPool(whole).then((body) => inCoding(response, coding, body));
}

function inCoding({ status, headers }: HttpResponse, coding: Coding, body: Uint8Array): HttpResponse {
  return {
    status,
    headers: { ...headers, 'Content-Encoding': coding, 'Content-Length': String(body.length) },
    body: [body],
  };
}
