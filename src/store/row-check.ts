// The checksum of a stored row, over its table, its key and its values: a changed byte, or a row of another
// key, is found when it is read.
import { crc32 } from 'node:zlib';

/**
 * The column of the checksum. Every table of rows has it; no declaration names it, and content hashes and
 * exports leave it out.
 */
export const ROW_CHECK = 'row_check';

/** A value as an engine stores it. */
export type StoredCell = string | number | Uint8Array | null;

/** The starts of the checksums of a table's columns. */
export const columnSeedsOf = (table: string, columns: readonly string[]): Int32Array =>
  Int32Array.from(columns, (column) => crc32(`${table}.${column}`));

/** Longer texts are faster in the library's CRC-32, shorter ones here. */
const SHORT_LENGTH = 96;

/** Odd, so that no step loses what differs: another value is another checksum (FNV-1a, of 32 bits). */
const PRIME = 0x0100_0193;

/** Begins a text, so that it is never a number. */
const TEXT = 0x2_0000;

const double = new Float64Array(1);
const halves = new Uint32Array(double.buffer);

function textCheck(seed: number, text: string): number {
  let check = Math.imul(seed ^ (TEXT + text.length), PRIME);
  if (text.length > SHORT_LENGTH) return Math.imul(check ^ crc32(text), PRIME);
  for (let at = 0; at < text.length; at++) check = Math.imul(check ^ text.charCodeAt(at), PRIME);
  return check;
}

function numberCheck(seed: number, number: number): number {
  // Engines do not keep the sign of zero.
  double[0] = number + 0;
  return Math.imul(Math.imul(seed ^ halves[0]!, PRIME) ^ halves[1]!, PRIME);
}

/**
 * The checksum of the first cells of a row, one for each seed: a signed integer of 32 bits. It is the sum of
 * those of its values, and null adds nothing: a column that a later layout adds leaves the checksums of older
 * rows as they are.
 */
export function rowCheck(seeds: Int32Array, cells: readonly StoredCell[]): number {
  let sum = 0;
  for (let at = 0; at < seeds.length; at++) {
    const cell = cells[at]!;
    if (cell === null) continue;
    if (typeof cell === 'string') sum += textCheck(seeds[at]!, cell);
    else if (typeof cell === 'number') sum += numberCheck(seeds[at]!, cell);
    else sum += Math.imul(seeds[at]! ^ crc32(cell), PRIME);
  }
  return sum | 0;
}

/** The checksum of a block's place, over the checksum with which its bytes begin (`market/bars/block.ts`). */
export function blockCheck(
  seriesId: number,
  { bucket, runId, bytes }: { readonly bucket: number; readonly runId: number; readonly bytes: Uint8Array },
): number {
  return crc32(`${seriesId} ${bucket} ${runId} ${bytes.length}`, crc32(bytes.subarray(0, 4))) | 0;
}
