// Reads a text in pieces of whole lines.
import { closeSync, openSync, readSync } from 'node:fs';

const [LF, CR] = [0x0a, 0x0d];

/** Bytes that are read at a time: they stay in the processor's cache while their cells are read. */
const PIECE_BYTES = 256 * 1024;

/** Whole lines, `bytes[0 .. to)`; the next ones overwrite them. */
type Lines = {
  readonly bytes: Uint8Array;
  readonly to: number;
  /** Whether the first line of the text ends in CR LF. */
  readonly hasCr: boolean;
};

/**
 * The lines of a text, a last one without an end as if it had one; at the end false where a line is too long
 * for a piece.
 */
export function* linePieces(path: string, content: Uint8Array | undefined): Generator<Lines, boolean> {
  if (content === undefined) return yield* piecesOfFile(path);
  if (content.length > 0) yield endedLines(content, content.length, firstLineHasCr(content));
  return true;
}

function* piecesOfFile(path: string): Generator<Lines, boolean> {
  const file = openSync(path, 'r');
  try {
    const bytes = new Uint8Array(PIECE_BYTES);
    let hasCr: boolean | null = null;
    for (let rest = 0; ; ) {
      const count = readSync(file, bytes, rest, PIECE_BYTES - rest, null);
      const filled = rest + count;
      hasCr ??= firstLineHasCr(bytes);
      if (count === 0 && rest > 0) yield endedLines(bytes, rest, hasCr);
      if (count === 0) return true;
      const to = bytes.subarray(0, filled).lastIndexOf(LF) + 1;
      if (to > 0) yield { bytes, to, hasCr };
      else if (filled === PIECE_BYTES) return false;
      bytes.copyWithin(0, to, filled);
      rest = filled - to;
    }
  } finally {
    closeSync(file);
  }
}

const firstLineHasCr = (bytes: Uint8Array): boolean => bytes[bytes.indexOf(LF) - 1] === CR;

/** The lines of `bytes[0 .. to)`; a copy where the last one has no end. */
function endedLines(bytes: Uint8Array, to: number, hasCr: boolean): Lines {
  if (bytes[to - 1] === LF) return { bytes, to, hasCr };
  const ended = new Uint8Array(to + 2);
  ended.set(bytes.subarray(0, to));
  ended.set(hasCr ? [CR, LF] : [LF], to);
  return { bytes: ended, to: to + (hasCr ? 2 : 1), hasCr };
}
