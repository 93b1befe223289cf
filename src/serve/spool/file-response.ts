// A spooled file as a response: whole, a range of it, or none of it.
import type { FileHandle } from 'node:fs/promises';
import { bulkTypes } from '../../contract/bars.ts';
import { httpLimits } from '../limits.ts';
import type { HttpRequest, HttpResponse } from '../message.ts';
import { headerOf } from '../request.ts';
import { anyOrigin, errorResponse, notModifiedIfHeld, versionHeader } from '../response.ts';
import type { SpooledFile } from './parquet-spool.ts';

/** Bytes of a file: from, included, to, not. */
type ByteRange = { readonly from: number; readonly to: number };

const FORM = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/i;

/**
 * The range that `Range` asks for; `whole` where there is none, where it has another form or several ranges,
 * or where `If-Range` names another file; null where it begins after the end.
 */
function rangeOf(
  range: string | undefined,
  ifRange: string | undefined,
  etag: string,
  bytes: number,
): ByteRange | 'whole' | null {
  const [form, first, last, suffix] = FORM.exec(range ?? '') ?? [];
  if (form === undefined || (ifRange !== undefined && ifRange.trim() !== etag)) return 'whole';
  if (suffix !== undefined)
    return Number(suffix) === 0 ? null : { from: Math.max(0, bytes - Number(suffix)), to: bytes };
  const from = Number(first);
  // A last byte before the first makes the header invalid, and it is ignored.
  if (last !== '' && Number(last) < from) return 'whole';
  if (from >= bytes) return null;
  return { from, to: last === '' ? bytes : Math.min(Number(last) + 1, bytes) };
}

/** The bytes of a file from one place to another, in pieces. */
function piecesOf(handle: FileHandle, from: number, to: number): () => Promise<Uint8Array | null> {
  let at = from;
  return async () => {
    if (at >= to) return null;
    const piece = Buffer.allocUnsafe(Math.min(httpLimits.spoolPieceBytes, to - at));
    const { bytesRead } = await handle.read(piece, 0, piece.length, at);
    if (bytesRead === 0) throw new Error('a spooled file ended early');
    at += bytesRead;
    return piece.subarray(0, bytesRead);
  };
}

/** The response to a request for a file. */
export function fileResponse(file: SpooledFile, request: HttpRequest, requestId: string): HttpResponse {
  const { handle, bytes, hash, dataVersion, headers } = file;
  const etag = `"${hash}"`;
  const head = {
    ...anyOrigin,
    'Content-Type': bulkTypes.parquet,
    'Cache-Control': 'private, no-cache',
    'Accept-Ranges': 'bytes',
    ...headers,
    ETag: etag,
    ...versionHeader(dataVersion),
    'X-Request-Id': requestId,
  };
  const held = notModifiedIfHeld(
    { status: 200, headers: head, body: [] },
    headerOf(request, 'if-none-match'),
  );
  if (held.status === 304) return held;
  const asked = request.method === 'GET' ? headerOf(request, 'range') : undefined;
  const range = rangeOf(asked, headerOf(request, 'if-range'), etag, bytes);
  if (range === null) {
    const message = `The answer has ${bytes} bytes: the range begins after its end.`;
    const refused = errorResponse(
      'range_not_satisfiable',
      { message, param: 'Range', got: asked! },
      requestId,
    );
    return { ...refused, headers: { ...refused.headers, 'Content-Range': `bytes */${bytes}` } };
  }
  const { from, to } = range === 'whole' ? { from: 0, to: bytes } : range;
  const part = range === 'whole' ? {} : { 'Content-Range': `bytes ${from}-${to - 1}/${bytes}` };
  return {
    status: range === 'whole' ? 200 : 206,
    headers: { ...head, 'Content-Length': String(to - from), ...part },
    body: [],
    rest: piecesOf(handle, from, to),
  };
}
