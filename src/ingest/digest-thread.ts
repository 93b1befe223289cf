// A thread that reads a file from end to end for its hash, while the file is being imported.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

/** What only the whole file shows. */
export type Digest = {
  /** Of the bytes as they were given, compressed or not. */
  readonly sha256: string;
  /** Whether an underscore stands anywhere: DuckDB takes `1_000` for a number. */
  readonly hasUnderscore: boolean;
};

/** Bytes read at a time. */
export const PIECE_BYTES = 4 * 1024 * 1024;

export const UNDERSCORE = 0x5f;

function digestOf(path: string): Digest {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const file = openSync(path, 'r');
  let hasUnderscore = false;
  try {
    for (;;) {
      const count = readSync(file, piece);
      if (count === 0) return { sha256: hash.digest('hex'), hasUnderscore };
      const read = piece.subarray(0, count);
      hash.update(read);
      hasUnderscore ||= read.includes(UNDERSCORE);
    }
  } finally {
    closeSync(file);
  }
}

parentPort?.postMessage(digestOf(workerData as string));
