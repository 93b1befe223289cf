// Entity tags (contract 9.7) of an answer's data, without `reference`, page key, base address and the
// caller's key.
import { crc32 } from 'node:zlib';
import type { Answer } from '../../queries/query.ts';
import { JSON_TYPE } from '../../queries/render/envelope.ts';
import type { HttpResponse } from '../message.ts';

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
