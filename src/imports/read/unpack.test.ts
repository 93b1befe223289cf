// Where the frames of Zstandard data end (RFC 8878, 3.1), for pieces of any size; the oracle is Node's
// compressor.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { constants, createZstdDecompress, zstdCompressSync } from 'node:zlib';
import { fc } from '../../../test/seed.ts';
import { FileProblem } from './file-problem.ts';
import { zstdFrames } from './unpack.ts';

const skippable = (bytes: number): Buffer => {
  const head = Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]);
  head.writeUInt32LE(bytes, 4);
  return Buffer.concat([head, Buffer.alloc(bytes, 7)]);
};

const text = fc.oneof(
  fc.uint8Array({ maxLength: 2_000 }),
  fc.nat({ max: 400_000 }).map((length) => new Uint8Array(length)),
);
const settings = fc.record({
  checksum: fc.constantFrom(0, 1),
  contentSize: fc.constantFrom(0, 1),
  level: fc.constantFrom(1, 9, 19),
});
const frame = fc.tuple(text, settings).map(([bytes, { checksum, contentSize, level }]) => ({
  plain: Buffer.from(bytes),
  packed: zstdCompressSync(bytes, {
    params: {
      [constants.ZSTD_c_checksumFlag]: checksum,
      [constants.ZSTD_c_contentSizeFlag]: contentSize,
      [constants.ZSTD_c_compressionLevel]: level,
    },
  }),
}));
const part = fc.oneof(
  { weight: 4, arbitrary: frame },
  {
    weight: 1,
    arbitrary: fc.nat({ max: 300 }).map((bytes) => ({ plain: Buffer.alloc(0), packed: skippable(bytes) })),
  },
);

function inPieces(bytes: Buffer, size: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

test('several frames in pieces of any size are all unpacked', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 5_000 }),
      async (parts, size) => {
        const packed = Buffer.concat(parts.map((one) => one.packed));
        const frames = zstdFrames('x', Readable.from(inPieces(packed, size)));
        const stream = Readable.from(frames).pipe(createZstdDecompress());
        assert.ok((await buffer(stream)).equals(Buffer.concat(parts.map((one) => one.plain))));
      },
    ),
    { numRuns: 30 },
  );
});

test('data that is cut off inside a frame, or goes on as something else, is refused', async () => {
  await fc.assert(
    fc.asyncProperty(
      frame,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.boolean(),
      async ({ packed }, where, isCut) => {
        const at = 1 + Math.floor(where * (packed.length - 2));
        const bytes = isCut
          ? packed.subarray(0, at)
          : Buffer.concat([packed, Buffer.from('more than nothing')]);
        await assert.rejects(buffer(zstdFrames('x', Readable.from([bytes]))), (error) => {
          assert.ok(error instanceof FileProblem, String(error));
          assert.match(error.message, isCut ? /cut off/ : /something else follows/);
          return true;
        });
      },
    ),
    { numRuns: 40 },
  );
});
