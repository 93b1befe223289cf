// A thread that reads a file from end to end for its hash, while the file is being imported.
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

/** What only the whole file shows. */
export type Digest = {
  /** Of the bytes as they were given, compressed or not. */
  readonly sha256: string;
  /** Whether an underscore stands anywhere below the header: DuckDB takes `1_000` for a number. */
  readonly hasUnderscore: boolean;
  /** Whether the file has an odd number of quotes. */
  readonly hasOpenQuote: boolean;
  readonly isUtf8: boolean;
};

/** Bytes read at a time. */
export const PIECE_BYTES = 4 * 1024 * 1024;

const UNDERSCORE = 0x5f;

const QUOTE = 0x22;

/** Looks at all bytes of a text, piece by piece. */
export class TextCheck {
  hasUnderscore = false;
  #inHeader = true;
  #quotes = 0;
  #isUtf8 = true;
  /** The beginning of a character whose end is in the next piece. */
  #rest: Uint8Array = new Uint8Array(0);

  take(piece: Uint8Array): void {
    const rows = this.#inHeader ? piece.subarray(headerEnd(piece)) : piece;
    this.#inHeader &&= rows.length === 0;
    this.hasUnderscore ||= rows.includes(UNDERSCORE);
    // Most files have none, and a search for the first is much faster than a loop.
    const first = piece.indexOf(QUOTE);
    if (first >= 0) for (let at = first; at < piece.length; at++) if (piece[at] === QUOTE) this.#quotes++;
    const all = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const end = lastStart(all);
    this.#isUtf8 &&= isUtf8(all.subarray(0, end));
    this.#rest = Uint8Array.from(all.subarray(end));
  }

  get hasOpenQuote(): boolean {
    return this.#quotes % 2 === 1;
  }

  get isUtf8(): boolean {
    return this.#isUtf8 && this.#rest.length === 0;
  }
}

/** Where the first line ends; the length of the bytes where it does not. */
function headerEnd(bytes: Uint8Array): number {
  const end = bytes.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  return end < 0 ? bytes.length : end;
}

/** Where a character begins that the bytes do not end; their length where there is none. */
function lastStart(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte >= 0x80 && byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function digestOf(path: string): Digest {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const file = openSync(path, 'r');
  const check = new TextCheck();
  try {
    for (;;) {
      const count = readSync(file, piece);
      if (count === 0) {
        const { hasUnderscore, hasOpenQuote, isUtf8: isText } = check;
        return { sha256: hash.digest('hex'), hasUnderscore, hasOpenQuote, isUtf8: isText };
      }
      const read = piece.subarray(0, count);
      hash.update(read);
      check.take(read);
    }
  } finally {
    closeSync(file);
  }
}

parentPort?.postMessage(digestOf(workerData as string));
