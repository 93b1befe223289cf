// A thread that reads a whole file for its hash, while the file is imported.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { type Digest, PIECE_BYTES, TextCheck } from './text-check.ts';

function digestOf(path: string): Digest {
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

parentPort!.postMessage(digestOf(workerData as string));
