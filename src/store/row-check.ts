// The checksum of a stored row, over its table, its key and its values: a changed byte, or a row of another key, is found when it is read.
import { crc32 } from 'node:zlib';

/** The column of the checksum. Every table of rows has it; no declaration names it, and content hashes and exports leave it out. */
export const ROW_CHECK = 'row_check';

/** A value as an engine stores it. */
export type StoredCell = string | number | Uint8Array | null;

/** The start of the checksums of one table. */
export const checkSeedOf = (table: string): number => crc32(table) | 0;

/** Longer texts are faster in the library's CRC-32, shorter ones here. */
const SHORT_LENGTH = 96;

/** Odd, so that no step loses what differs: one changed value always changes the checksum (FNV-1a, of 32 bits). */
const PRIME = 0x0100_0193;

/** Marks of kinds, beyond the codes of characters: a text, its length with it, is never a number or null. */
const NULL = 0x2_0000;
const TEXT = 0x4_0000;

const double = new Float64Array(1);
const halves = new Uint32Array(double.buffer);

function addText(start: number, text: string): number {
  let sum = Math.imul(start ^ (TEXT + text.length), PRIME);
  if (text.length > SHORT_LENGTH) return Math.imul(sum ^ crc32(text), PRIME);
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), PRIME);
  return sum;
}

function addNumber(sum: number, number: number): number {
  // Engines do not keep the sign of zero.
  double[0] = number + 0;
  return Math.imul(Math.imul(sum ^ halves[0]!, PRIME) ^ halves[1]!, PRIME);
}

/** The checksum of the first `count` cells of a row, in the order of the declared columns: a signed integer of 32 bits. */
export function rowCheck(seed: number, cells: readonly StoredCell[], count = cells.length): number {
  let sum = seed;
  for (let at = 0; at < count; at++) {
    const cell = cells[at]!;
    if (typeof cell === 'string') sum = addText(sum, cell);
    else if (typeof cell === 'number') sum = addNumber(sum, cell);
    else sum = Math.imul(sum ^ (cell === null ? NULL : crc32(cell)), PRIME);
  }
  return sum;
}

/** The checksum of a block's place, over the checksum with which its bytes begin (`bars/block.ts`). */
export function blockCheck(
  seriesId: number,
  { bucket, runId, bytes }: { readonly bucket: number; readonly runId: number; readonly bytes: Uint8Array },
): number {
  return crc32(`${seriesId} ${bucket} ${runId} ${bytes.length}`, crc32(bytes.subarray(0, 4))) | 0;
}
