// Cuts Zstandard data at the ends of its frames (RFC 8878, 3.1): Node's decompressor ignores data that follows a frame in the same piece.
import { Transform, type TransformCallback } from 'node:stream';
import { FileProblem } from './file-problem.ts';

const MAGIC = 0xfd2f_b528;
const SKIPPABLE = 0x184d_2a50;
const CHECKSUM_BYTES = 4;
const HAS_CHECKSUM = 4;

/** A block that holds one byte, to be repeated. */
const RUN_LENGTH_BLOCK = 1;

/** Bytes of the frame header's content size field, by its flag. */
const CONTENT_SIZE_BYTES = [0, 2, 4, 8];
const DICTIONARY_ID_BYTES = [0, 1, 2, 4];

/** Bytes of a frame header after its descriptor. */
function headerBytes(descriptor: number): number {
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeBytes = CONTENT_SIZE_BYTES[descriptor >> 6]! || (isSingleSegment ? 1 : 0);
  return sizeBytes + DICTIONARY_ID_BYTES[descriptor & 3]! + (isSingleSegment ? 0 : 1);
}

/** What the grammar needs next: bytes to read, bytes to skip, or a cut. */
type Step = { readonly kind: 'read' | 'skip'; readonly bytes: number } | { readonly kind: 'cut' };

const read = (bytes: number): Step => ({ kind: 'read', bytes });
const skip = (bytes: number): Step => ({ kind: 'skip', bytes });

/** The grammar of frames. Each `read` step returns its bytes. */
function* grammar(problem: (how: string) => Error): Generator<Step, never, Buffer> {
  for (;;) {
    yield { kind: 'cut' };
    const magic = (yield read(4)).readUInt32LE();
    if ((magic & 0xffff_fff0) >>> 0 === SKIPPABLE) {
      yield skip((yield read(4)).readUInt32LE());
      continue;
    }
    if (magic !== MAGIC) throw problem('something else follows its last frame');
    const descriptor = (yield read(1))[0]!;
    yield skip(headerBytes(descriptor));
    for (let isLast = false; !isLast; ) {
      const block = (yield read(3)).readUIntLE(0, 3);
      isLast = (block & 1) !== 0;
      yield skip(((block >> 1) & 3) === RUN_LENGTH_BLOCK ? 1 : block >> 3);
    }
    if ((descriptor & HAS_CHECKSUM) !== 0) yield skip(CHECKSUM_BYTES);
  }
}

/** Passes data on in pieces that end where a frame ends. Other data is a FileProblem that begins with `name`. */
export class ZstdFrames extends Transform {
  readonly #name: string;
  readonly #steps: Generator<Step, never, Buffer>;
  #step: Step;
  /** Bytes of the current step so far, and the bytes that a `read` step returns. */
  #done = 0;
  readonly #field = Buffer.alloc(4);
  /** Whether no byte of the next frame has arrived yet. */
  #isBetween = true;

  constructor(name: string) {
    super();
    this.#name = name;
    this.#steps = grammar((how) => this.#problem(how));
    this.#step = this.#steps.next().value;
  }

  override _transform(piece: Buffer, _: BufferEncoding, done: TransformCallback): void {
    try {
      this.#cut(piece);
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  override _flush(done: TransformCallback): void {
    done(this.#isBetween ? null : this.#problem('it is incomplete: the file was cut off'));
  }

  #cut(piece: Buffer): void {
    let start = 0;
    let at = 0;
    for (;;) {
      const step = this.#step;
      if (step.kind === 'cut') {
        if (at > start) this.push(piece.subarray(start, at));
        start = at;
        this.#isBetween = true;
      } else {
        const count = Math.min(step.bytes - this.#done, piece.length - at);
        if (step.kind === 'read') piece.copy(this.#field, this.#done, at, at + count);
        if (count > 0) this.#isBetween = false;
        at += count;
        this.#done += count;
        if (this.#done < step.bytes) break;
      }
      this.#done = 0;
      this.#step = this.#steps.next(this.#field).value;
    }
    if (start < piece.length) this.push(piece.subarray(start));
  }

  #problem(how: string): FileProblem {
    return new FileProblem(
      'content',
      `${this.#name}: the zstd data is damaged: ${how}. Nothing was imported.`,
    );
  }
}
