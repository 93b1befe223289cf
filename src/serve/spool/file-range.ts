// Which part of a file a request wants (RFC 9110, 14 and 13.1.5).

/** Bytes of a file: from, included, to, not. */
type ByteRange = { readonly from: number; readonly to: number };

const FORM = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/i;

/**
 * The range that `Range` asks for; `whole` where there is none, where it has another form or several ranges,
 * or where `If-Range` names another file; null where it begins after the end.
 */
export function rangeOf(
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
