// The hash of a whole file, and what its text is checked for.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { type Digest, PIECE_BYTES, TextCheck } from './text-check.ts';

/** The largest file that the importing thread reads itself: starting another thread takes as long as reading this. */
export const SMALL_FILE_BYTES = 1024 * 1024;

/** Reads a file from its beginning to its end. @throws errors of the file system */
export function digestOf(path: string): Digest {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const file = openSync(path, 'r');
  const check = new TextCheck();
  try {
    for (let count = readSync(file, piece); count > 0; count = readSync(file, piece)) {
      const read = piece.subarray(0, count);
      hash.update(read);
      check.take(read);
    }
    return check.digest(hash.digest('hex'));
  } finally {
    closeSync(file);
  }
}
