// The hash of a whole file, and what its text is checked for.
import { createHash, hash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { type Digest, PIECE_BYTES, TextCheck } from './text-check.ts';

/**
 * The largest file that the importing thread reads itself: starting another thread takes as long as reading
 * this.
 */
export const SMALL_FILE_BYTES = 1024 * 1024;

/** The digest of a file that was read whole. */
export function digestOfBytes(content: Uint8Array): Digest {
  const check = new TextCheck();
  check.take(content);
  return check.digest(hash('sha256', content));
}

/** Reads a file from its beginning to its end. @throws errors of the file system */
export function digestOf(path: string): Digest {
  const sum = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const file = openSync(path, 'r');
  const check = new TextCheck();
  try {
    for (let count = readSync(file, piece); count > 0; count = readSync(file, piece)) {
      const read = piece.subarray(0, count);
      sum.update(read);
      check.take(read);
    }
    return check.digest(sum.digest('hex'));
  } finally {
    closeSync(file);
  }
}
