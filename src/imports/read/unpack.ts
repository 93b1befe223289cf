// Unpacks gzip, Zstandard and zip files into a folder, verifies them whole and bounds their size.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { crc32, createGunzip, createZstdDecompress, inflateRawSync } from 'node:zlib';
import { type Entry, fromBufferPromise, openPromise, type ZipFile } from 'yauzl';
import { limits } from '../../contract/limits.ts';
import { PIECE_BYTES } from './digest.ts';
import { contentProblem, FileProblem, unfitProblem } from './file-problem.ts';

/** The packing of a file. */
type Packing = 'gzip' | 'zstd' | 'zip';

/** The first bytes of Zstandard data, and of its frames that are skipped (RFC 8878, 3.1). */
const ZSTD_MAGIC = 0xfd2f_b528;
const isSkippable = (magic: number): boolean => (magic & 0xffff_fff0) >>> 0 === 0x184d_2a50;

/**
 * The packing that a file's first four bytes show; null for a plain file. A file of one byte that begins gzip
 * was cut off.
 */
export function packingOf(start: Buffer): Packing | null {
  if (start[0] === 0x1f && (start.length === 1 || start[1] === 0x8b)) return 'gzip';
  const magic = start.length < 4 ? 0 : start.readUInt32LE();
  if (magic === ZSTD_MAGIC || isSkippable(magic)) return 'zstd';
  // A whole archive, or one without members.
  return magic === 0x0403_4b50 || magic === 0x0605_4b50 ? 'zip' : null;
}

/** The first bytes of a file. @throws FileProblem where it cannot be read */
export async function firstBytes(name: string, path: string, count: number): Promise<Buffer> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw unfitProblem(name, `it cannot be read (${error.code})`, error);
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The packing of a file. @throws FileProblem where it cannot be read */
export const packingAt = async (name: string, path: string): Promise<Packing | null> =>
  packingOf(await firstBytes(name, path, 4));

/** The problem of packed data within packed data. */
export const packedTwice = (name: string): FileProblem =>
  contentProblem(name, 'is packed more than once. Unpack it yourself first');

/** A file of an archive up to this size is unpacked in one step. */
const QUICK_BYTES_MAX = 16 * 1024 * 1024;

/** Passes every piece on, and shows it to `look`. */
const watch = (look: (piece: Buffer) => void) =>
  async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of source) {
      look(piece);
      yield piece;
    }
  };

/** Bytes that a packed file of `bytes` bytes may unpack to. */
export const unpackedMax = (bytes: number): number =>
  Math.max(limits.unpackedBytesFree, bytes * limits.unpackedRatioMax);

/** @throws FileProblem for a file of `packedBytes` bytes that unpacks to more than it may */
export function refuseBomb(name: string, bytes: number, packedBytes: number): void {
  if (bytes <= unpackedMax(packedBytes)) return;
  throw contentProblem(
    name,
    `unpacks to more than ${limits.unpackedRatioMax} times its size, which market data never does. Nothing was imported.`,
  );
}

/** Turns the error of an unpacking library into a FileProblem. */
async function verified(name: string, packing: Packing, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (error instanceof FileProblem || !/^(Z_|ZSTD_|$)/.test(code)) throw error;
    const how = code === 'Z_BUF_ERROR' ? 'it is incomplete: the file was cut off' : message;
    const text = `${name}: the ${packing} data is damaged: ${how}. Nothing was imported.`;
    throw new FileProblem('content', text, { cause: error });
  }
}

/**
 * Unpacks a gzip or Zstandard file to `target`; the SHA-256 of the packed bytes. @throws FileProblem when it
 * is damaged
 */
export async function unpackStream(
  name: string,
  path: string,
  packing: 'gzip' | 'zstd',
  target: string,
  look: (piece: Buffer) => void,
): Promise<string> {
  const hash = createHash('sha256');
  let packedBytes = 0;
  let bytes = 0;
  const packed = watch((piece) => {
    hash.update(piece);
    packedBytes += piece.length;
  });
  const unpacked = watch((piece) => {
    bytes += piece.length;
    refuseBomb(name, bytes, packedBytes);
    look(piece);
  });
  const input = createReadStream(path, { highWaterMark: PIECE_BYTES });
  const output = createWriteStream(target);
  const isGzip = packing === 'gzip';
  const cut = (source: AsyncIterable<Buffer>) => (isGzip ? source : zstdFrames(name, source));
  const unpacker = isGzip ? createGunzip() : createZstdDecompress();
  await verified(name, packing, () => pipeline(input, packed, cut, unpacker, unpacked, output));
  return hash.digest('hex');
}

/** One file of an archive, unpacked. */
type Member = { readonly name: string; readonly path: string };

/** Whether an archiver added an entry by itself. */
const isAddedByArchiver = (name: string): boolean =>
  name.endsWith('/') || /(^|\/)(__MACOSX\/|\.DS_Store$)/.test(name);

/**
 * The names of the files in an archive, by its directory alone; null for any other file, and where they
 * cannot be read, which an import reports.
 */
export async function membersOf(path: string): Promise<string[] | null> {
  try {
    if ((await packingAt(path, path)) !== 'zip') return null;
    const names: string[] = [];
    const archive = await openPromise(path);
    for await (const { fileName } of archive.eachEntry())
      if (!isAddedByArchiver(fileName)) names.push(fileName);
    return names;
  } catch {
    return null;
  }
}

/**
 * Unpacks every file of an archive into `folder`, in the archive's order. `content` are the bytes of a small
 * archive, where they were read. @throws FileProblem when any of it is damaged
 */
export async function unpackZip(
  name: string,
  path: string,
  folder: string,
  content: Buffer | null = null,
): Promise<Member[]> {
  const members: Member[] = [];
  await verified(name, 'zip', async () => {
    const archive = await (content === null ? openPromise(path) : fromBufferPromise(content));
    let declaredBytes = 0;
    for await (const entry of archive.eachEntry()) {
      if (isAddedByArchiver(entry.fileName)) continue;
      if (entry.fileName === '[Content_Types].xml')
        throw contentProblem(name, 'is an Excel workbook. Save it as CSV (UTF-8)');
      declaredBytes += entry.uncompressedSize;
      refuseBomb(name, declaredBytes, archive.fileSize);
      if (members.length === limits.archiveMembersMax)
        throw contentProblem(name, `has more than ${limits.archiveMembersMax} files. Nothing was imported.`);
      const target = join(folder, String(members.length));
      if (entry.isEncrypted())
        throw contentProblem(
          name,
          `${entry.fileName} in it is encrypted. Unpack it yourself. Nothing was imported.`,
        );
      if (content !== null && isQuick(entry)) await unpackQuickly(archive, entry, content, target);
      else await unpackMember(archive, entry, target);
      members.push({ name: entry.fileName, path: target });
    }
  });
  if (members.length > 0) return members;
  throw contentProblem(name, 'contains no file');
}

/** How a file is packed (APPNOTE.TXT, 4.4.5): these can be unpacked in one step. */
const [STORED, DEFLATED] = [0, 8];

/** Whether a file is so small that streams and threads would take longer than unpacking it. */
const isQuick = ({ compressionMethod, uncompressedSize }: Entry): boolean =>
  [STORED, DEFLATED].includes(compressionMethod) && uncompressedSize <= QUICK_BYTES_MAX;

async function unpackQuickly(archive: ZipFile, entry: Entry, content: Buffer, target: string): Promise<void> {
  const { fileDataStart } = await archive.readLocalFileHeaderPromise(entry, { minimal: true });
  const packed = content.subarray(fileDataStart, fileDataStart + entry.compressedSize);
  const isDeflated = entry.compressionMethod === DEFLATED;
  const bytes = isDeflated ? inflateRawSync(packed, { maxOutputLength: QUICK_BYTES_MAX }) : packed;
  if (bytes.length !== entry.uncompressedSize)
    throw new Error(`${entry.fileName} has another size than it says`);
  requireChecksum(entry, crc32(bytes));
  writeFileSync(target, bytes);
}

async function unpackMember(archive: ZipFile, entry: Entry, target: string): Promise<void> {
  let checksum = 0;
  const checked = watch((piece) => {
    checksum = crc32(piece, checksum);
  });
  await pipeline(await archive.openReadStreamPromise(entry), checked, createWriteStream(target));
  requireChecksum(entry, checksum);
}

function requireChecksum(entry: Entry, checksum: number): void {
  if (checksum !== entry.crc32) throw new Error(`the checksum of ${entry.fileName} does not match`);
}

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

/** The grammar of frames of Zstandard. */
function* grammar(problem: (how: string) => Error): Generator<number, never, Buffer> {
  for (;;) {
    yield END_OF_FRAME;
    const magic = (yield 4).readUInt32LE();
    if (isSkippable(magic)) {
      yield (yield 4).readUInt32LE();
      continue;
    }
    if (magic !== ZSTD_MAGIC) throw problem('something else follows its last frame');
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
 * Cuts Zstandard data into pieces that end where a frame ends: the decompressor of Node ignores data that
 * follows a frame in the same piece. @throws FileProblem that begins with `name`, for other
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
