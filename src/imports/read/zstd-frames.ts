// Cuts Zstandard data at the ends of its frames (RFC 8878, 3.1): Node's decompressor ignores data that
// follows a frame in the same piece.
import { contentProblem, type FileProblem } from './file-problem.ts';

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

/** A frame ends here. Other steps are a number of bytes; a step of up to 4 bytes returns them. */
const END_OF_FRAME = -1;

/** The grammar of frames. */
function* grammar(problem: (how: string) => Error): Generator<number, never, Buffer> {
  for (;;) {
    yield END_OF_FRAME;
    const magic = (yield 4).readUInt32LE();
    if ((magic & 0xffff_fff0) >>> 0 === SKIPPABLE) {
      yield (yield 4).readUInt32LE();
      continue;
    }
    if (magic !== MAGIC) throw problem('something else follows its last frame');
    const descriptor = (yield 1)[0]!;
    yield headerBytes(descriptor);
    for (let isLast = false; !isLast; ) {
      const block = (yield 3).readUIntLE(0, 3);
      isLast = (block & 1) !== 0;
      yield ((block >> 1) & 3) === RUN_LENGTH_BLOCK ? 1 : block >> 3;
    }
    if ((descriptor & HAS_CHECKSUM) !== 0) yield CHECKSUM_BYTES;
  }
}

/**
 * Cuts data into pieces that end where a frame ends. @throws FileProblem that begins with `name`, for other
 * or incomplete data
 */
export async function* zstdFrames(name: string, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const problem = (how: string): FileProblem =>
    contentProblem(name, `the zstd data is damaged: ${how}. Nothing was imported.`);
  const steps = grammar(problem);
  const field = Buffer.alloc(4);
  let step = steps.next().value;
  let done = 0;
  let isBetween = true;
  for await (const piece of source) {
    let start = 0;
    for (let at = 0; ; ) {
      if (step === END_OF_FRAME) {
        if (at > start) yield piece.subarray(start, at);
        start = at;
        isBetween = true;
      } else {
        const count = Math.min(step - done, piece.length - at);
        if (step <= field.length) piece.copy(field, done, at, at + count);
        if (count > 0) isBetween = false;
        at += count;
        done += count;
        if (done < step) break;
      }
      done = 0;
      step = steps.next(field).value;
    }
    if (start < piece.length) yield piece.subarray(start);
  }
  if (!isBetween) throw problem('it is incomplete: the file was cut off');
}
