// The frames that a reader process sends of a file: a short head, then columns as they are in memory.
import { writevSync } from 'node:fs';
import { type Chunk, shortText, type TextCells } from './chunk.ts';
import type { FileProblem } from './file-problem.ts';

/** A part of a frame's body. Numbers come before texts, so that each part begins where its type may. */
type Part = Float64Array | Int32Array | Uint8Array;

/** A message of a reader process: `head` is sent as JSON, the parts are sent as they are. */
export type Frame<H = object> = { readonly head: H; readonly parts: readonly Part[] };

/** Before the head are its length and that of the body. */
const LENGTHS_BYTES = 8;

/** Writes a frame; waits while the other side does not read. @throws where the other side is gone */
export function writeFrame(file: number, { head, parts }: Frame): void {
  const text = Buffer.from(JSON.stringify(head));
  const start = Buffer.allocUnsafe(LENGTHS_BYTES + text.length);
  start.writeUInt32LE(text.length, 0);
  start.writeUInt32LE(
    parts.reduce((sum, { byteLength }) => sum + byteLength, 0),
    4,
  );
  start.set(text, LENGTHS_BYTES);
  let rest: Uint8Array[] = [start, ...parts.map(bytesOf)].filter(({ length }) => length > 0);
  while (rest.length > 0) {
    let written = writevSync(file, rest);
    const next = rest.findIndex(({ length }) => {
      if (written < length) return true;
      written -= length;
      return false;
    });
    rest = next < 0 ? [] : [rest[next]!.subarray(written), ...rest.slice(next + 1)];
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Part): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** A frame that came: its head, and its body from the first byte of a buffer on. */
export type ReceivedFrame = { readonly head: object; readonly body: ArrayBuffer };

/** Makes frames of the pieces that come. */
export class FrameParser {
  readonly #take: (frame: ReceivedFrame) => void;
  /** Bodies that were read: new ones would be slow, and make the collector of garbage run. */
  readonly #spare: ArrayBuffer[] = [];
  readonly #lengths = Buffer.alloc(LENGTHS_BYTES);
  #head = Buffer.alloc(0);
  #body = new Uint8Array(0);
  /** Bytes of the present frame that came, and the first that is none of its. */
  #at = 0;
  #headEnd = LENGTHS_BYTES;
  #end = LENGTHS_BYTES;

  constructor(take: (frame: ReceivedFrame) => void) {
    this.#take = take;
  }

  /** Takes the body of a frame back. */
  give({ body }: ReceivedFrame): void {
    if (body.byteLength > 0) this.#spare.push(body);
  }

  add(piece: Uint8Array): void {
    for (let from = 0; from < piece.length; ) {
      if (this.#at < LENGTHS_BYTES) from = this.#copy(piece, from, this.#lengths, 0);
      else if (this.#at < this.#headEnd) from = this.#copy(piece, from, this.#head, LENGTHS_BYTES);
      else from = this.#copy(piece, from, this.#body, this.#headEnd);
      if (this.#at === LENGTHS_BYTES) this.#begin();
      if (this.#at === this.#end) this.#finish();
    }
  }

  /**
   * Copies what belongs into a part of the frame, which begins at `start`; the place behind it in the piece.
   */
  #copy(piece: Uint8Array, from: number, into: Uint8Array, start: number): number {
    const to = Math.min(piece.length, from + into.length - (this.#at - start));
    into.set(piece.subarray(from, to), this.#at - start);
    this.#at += to - from;
    return to;
  }

  #begin(): void {
    const [head, body] = [this.#lengths.readUInt32LE(0), this.#lengths.readUInt32LE(4)];
    this.#head = Buffer.allocUnsafe(head);
    this.#headEnd = LENGTHS_BYTES + head;
    this.#end = this.#headEnd + body;
    this.#body = new Uint8Array(this.#bufferFor(body), 0, body);
  }

  #bufferFor(bytes: number): ArrayBuffer {
    if (bytes === 0) return new ArrayBuffer(0);
    for (let spare = this.#spare.pop(); spare !== undefined; spare = this.#spare.pop())
      if (spare.byteLength >= bytes) return spare;
    return new ArrayBuffer(bytes);
  }

  #finish(): void {
    const head = JSON.parse(this.#head.toString()) as object;
    const body = this.#body.buffer;
    [this.#at, this.#headEnd, this.#end] = [0, LENGTHS_BYTES, LENGTHS_BYTES];
    this.#take({ head, body });
  }
}

/** Gives the parts of a body, one after the other. */
export class BodyParts {
  readonly #body: ArrayBuffer;
  #at = 0;

  constructor(body: ArrayBuffer) {
    this.#body = body;
  }

  numbers(count: number): Float64Array<ArrayBuffer> {
    return new Float64Array(this.#body, this.#next(count * Float64Array.BYTES_PER_ELEMENT), count);
  }

  integers(count: number): Int32Array<ArrayBuffer> {
    return new Int32Array(this.#body, this.#next(count * Int32Array.BYTES_PER_ELEMENT), count);
  }

  bytes(count: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#body, this.#next(count), count);
  }

  #next(bytes: number): number {
    this.#at += bytes;
    return this.#at - bytes;
  }
}

/** The head of the last frame of a reading. */
export type Ended =
  | { readonly kind: 'end' }
  /** The file needs a careful reading. */
  | { readonly kind: 'care' }
  | { readonly kind: 'problem'; readonly problem: FileProblem['kind']; readonly message: string }
  | { readonly kind: 'fault'; readonly cause: string };

/** The head of a frame of rows; `texts` and `hasNulls` are by column, the surplus cells last. */
export type ChunkHead = Pick<Chunk, 'count' | 'firstRow'> & {
  /** Bytes of each column of texts. */
  readonly texts: readonly number[];
  readonly hasNulls: readonly boolean[];
  readonly numbers: number;
  readonly hasSurplus: boolean;
};

/** The rows of a frame. They are gone when the next frame is read. */
export function chunkOf({ count, firstRow, ...head }: ChunkHead, body: ArrayBuffer): Chunk {
  const parts = new BodyParts(body);
  const numbers = Array.from({ length: head.numbers }, () => parts.numbers(count));
  const starts = head.texts.map(() => parts.integers(count + 1));
  const texts = head.texts.map((bytes, index) => {
    const nulls = head.hasNulls[index]! ? parts.bytes(count) : null;
    return new SentTexts(starts[index]!, nulls, parts.bytes(bytes));
  });
  const surplus = head.hasSurplus ? texts.pop()! : null;
  return { count, firstRow, texts, numbers, surplus };
}

/** A column of texts that a frame brought. */
class SentTexts implements TextCells {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** 1 for each row without a text; null where each has one. */
  readonly #nulls: Uint8Array | null;

  constructor(starts: Int32Array, nulls: Uint8Array | null, bytes: Uint8Array) {
    this.starts = starts;
    this.ends = starts.subarray(1);
    this.#nulls = nulls;
    this.bytes = bytes;
  }

  gather(): void {
    // The cells came as bytes, one after the other.
  }

  isNull(row: number): boolean {
    return this.#nulls !== null && this.#nulls[row] === 1;
  }

  repeats(row: number): boolean {
    const { bytes, starts, ends } = this;
    if (row === 0 || this.isNull(row) || this.isNull(row - 1)) return false;
    const [start, before] = [starts[row]!, starts[row - 1]!];
    const length = start - before;
    if (length > SHORT_MAX || ends[row]! - start !== length) return false;
    for (let at = 0; at < length; at++) if (bytes[start + at] !== bytes[before + at]) return false;
    return true;
  }

  text(row: number): string | null {
    return this.isNull(row) ? null : shortText(this.bytes, this.starts[row]!, this.ends[row]!);
  }
}

/** Bytes of a text that is compared with the one before it. */
const SHORT_MAX = 12;
