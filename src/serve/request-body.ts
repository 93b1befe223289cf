// Reads the body of a request, of the one path that has bodies: bounded in bytes and in time.
import type { IncomingMessage } from 'node:http';
import { Refusal } from '../contract/errors.ts';
import { httpLimits } from './limits.ts';

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
