// The hash of a whole file, and the check of every byte of a text for what DuckDB would read wrongly without
// an error. As a program it is the thread that reads a file for these while the file is imported.
import { isUtf8 } from 'node:buffer';
import { createHash, hash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { answerQuestions, WorkerClient } from '../../base/worker-client.ts';
import { limits } from '../../contract/limits.ts';

/** Facts that only the whole file shows. */
export type Digest = {
  /** The hash of the bytes as they came, compressed or not. */
  readonly sha256: string;
  /** True if `_` or `+-` occurs below the header: DuckDB reads `1_000` and `+-1` as numbers. */
  readonly mayHaveOddNumbers: boolean;
  /** True if the file has an odd number of quotes. */
  readonly hasOpenQuote: boolean;
  readonly isUtf8: boolean;
  /**
   * True if a line is longer than a row may be: at the end of a file, DuckDB ignores such a line without an
   * error.
   */
  readonly hasLongLine: boolean;
  /** True if the last line has an end, or its last cell a closing quote. Any other file may be cut off. */
  readonly isEnded: boolean;
};

/**
 * The largest file that the importing thread reads itself: starting another thread takes as long as reading
 * this.
 */
export const SMALL_FILE_BYTES = 1024 * 1024;

/** Bytes read at a time. */
export const PIECE_BYTES = 4 * 1024 * 1024;

const [UNDERSCORE, PLUS, MINUS, QUOTE] = [0x5f, 0x2b, 0x2d, 0x22];

/** Checks all bytes of a text, piece by piece. */
export class TextCheck {
  #mayHaveOddNumbers = false;
  /** True if the piece before ended in a plus. */
  #endsInPlus = false;
  #inHeader = true;
  #quotes = 0;
  #isUtf8 = true;
  /** The first bytes of a character that continues in the next piece. */
  #rest: Uint8Array = new Uint8Array(0);
  /** Bytes since the last line break. */
  #lineBytes = 0;
  #hasLongLine = false;
  #lastByte = 0;

  /** The result, with the hash of the file's bytes. */
  digest(sha256: string): Digest {
    return {
      sha256,
      mayHaveOddNumbers: this.#mayHaveOddNumbers,
      hasOpenQuote: this.#quotes % 2 === 1,
      isUtf8: this.#isUtf8 && this.#rest.length === 0,
      isEnded: this.#lineBytes === 0 || (this.#lastByte === QUOTE && this.#quotes % 2 === 0),
      hasLongLine: this.#hasLongLine || this.#lineBytes > limits.importRowBytesMax,
    };
  }

  take(piece: Uint8Array): void {
    this.#lastByte = piece.at(-1) ?? this.#lastByte;
    this.#measureLines(piece);
    const rows = this.#inHeader ? piece.subarray(headerEnd(piece)) : piece;
    this.#inHeader &&= rows.length === 0;
    this.#mayHaveOddNumbers ||= rows.includes(UNDERSCORE) || this.#hasTwoSigns(rows);
    // Most files have none, and a search for the first is much faster than a loop.
    const first = piece.indexOf(QUOTE);
    if (first >= 0) for (let at = first; at < piece.length; at++) if (piece[at] === QUOTE) this.#quotes++;
    const all = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const end = lastStart(all);
    this.#isUtf8 &&= isUtf8(all.subarray(0, end));
    this.#rest = Uint8Array.from(all.subarray(end));
  }

  #hasTwoSigns(rows: Uint8Array): boolean {
    const isSplit = this.#endsInPlus && rows[0] === MINUS;
    if (rows.length > 0) this.#endsInPlus = rows[rows.length - 1] === PLUS;
    return isSplit || Buffer.from(rows.buffer, rows.byteOffset, rows.length).includes('+-');
  }

  /** Jumps from a line break to the last one within the longest allowed line. */
  #measureLines(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; ) {
      const end = Math.min(at + limits.importRowBytesMax - this.#lineBytes + 1, piece.length);
      const last = lastBreak(piece.subarray(at, end));
      this.#lineBytes = last < 0 ? this.#lineBytes + end - at : end - at - last - 1;
      this.#hasLongLine ||= this.#lineBytes > limits.importRowBytesMax;
      if (this.#hasLongLine) return;
      at = end;
    }
  }
}

/** The index of the last line break; -1 where there is none. */
const lastBreak = (bytes: Uint8Array): number => Math.max(bytes.lastIndexOf(0x0a), bytes.lastIndexOf(0x0d));

/** The end of the first line; the length of the bytes where it has none. */
function headerEnd(bytes: Uint8Array): number {
  const end = bytes.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  return end < 0 ? bytes.length : end;
}

/** The index of a last, incomplete character; the length where there is none. */
function lastStart(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte >= 0x80 && byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** A digest that is being computed, or will be when it is asked for; `close` stops that. */
export type Digesting = {
  readonly digest: () => Promise<Digest>;
  readonly close: () => Promise<void>;
};

/**
 * Computes the digest of a file: where its `content` was read, when it is asked for; else in a thread, while
 * the file is read.
 */
export function digesting(path: string, content: Uint8Array | undefined): Digesting {
  if (content !== undefined) {
    let found: Digest | null = null;
    return { digest: async () => (found ??= digestOfBytes(content)), close: async () => undefined };
  }
  const program = new URL(import.meta.url);
  const thread = new WorkerClient<string, Digest>('the thread that reads a file', program);
  const digest = thread.ask(path);
  // It has no other question: a file that nobody closes holds no thread, and so no process.
  void digest.catch(() => undefined).then(() => thread.stop());
  return { digest: () => digest, close: () => thread.stop() };
}

function digestOfBytes(content: Uint8Array): Digest {
  const check = new TextCheck();
  check.take(content);
  return check.digest(hash('sha256', content));
}

/** Reads a file from its beginning to its end. @throws errors of the file system */
function digestOf(path: string): Digest {
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

/** SHA-256 of a file, in hexadecimal. @throws the system's error where it cannot be read */
export async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest('hex');
}

if (import.meta.main) answerQuestions(digestOf);
