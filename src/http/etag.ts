// Entity tags (contract 9.7): of what an answer says, without `reference`, page key, base address and the caller's key.
import { crc32 } from 'node:zlib';
import type { Answer } from '../queries/query.ts';
import { JSON_TYPE } from '../queries/render/envelope.ts';
import type { DoorReply } from './reply.ts';

/**
 * The tag of an answer: weak, for its bytes also hold what differs by caller and moment, so that every encoding of it has the
 * same. The checksum costs a third of the quickest hash (docs/decisions/0017).
 */
export function tagOf({ body, contentType, next }: Answer & { kind: 'answer' }): string {
  const said = body.subarray(next?.at ?? beginOf(body, contentType));
  const sum = crc32(said, crc32(`${contentType} ${next === null}`));
  return `W/"${sum.toString(36)}-${said.length.toString(36)}"`;
}

/** Where an answer begins to say what it says: behind the envelope's head, of which `reference` is a part. */
function beginOf(body: Uint8Array, contentType: string): number {
  if (contentType !== JSON_TYPE) return 0;
  return Math.max(0, Buffer.from(body.buffer, body.byteOffset, body.length).indexOf('"result":'));
}

const LISTED = /(?:W\/)?("[^"]*")/g;

/** Whether a caller holds what a tag names, compared weakly (RFC 9110, 13.1.2). */
function isHeld(tag: string, ifNoneMatch: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = tag.slice('W/'.length);
  return Array.from(ifNoneMatch.matchAll(LISTED)).some((found) => found[1] === opaque);
}

/** Of a body that is not sent (RFC 9110, 15.4.5). */
const bodyHeaders = new Set(
  'Content-Encoding Content-Length Content-Type Link X-Count X-Next-Page-Key'.split(' '),
);

/** A 304 without a body in place of an answer that the caller holds. */
export function unlessHeld(reply: DoorReply, ifNoneMatch: string | undefined): DoorReply {
  const tag = reply.headers.ETag;
  if (ifNoneMatch === undefined || tag === undefined || !isHeld(tag, ifNoneMatch)) return reply;
  const headers = Object.entries(reply.headers).filter(([name]) => !bodyHeaders.has(name));
  return { ...reply, status: 304, headers: Object.fromEntries(headers), body: [] };
}
