// Unpacks gzip, Zstandard, bzip2 and xz files, and zip and tar archives, into a folder, verifies them whole and
// bounds their size.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
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
type Packing = StreamPacking | 'zip' | 'tar';

/** A packing of one file. */
export type StreamPacking = 'gzip' | 'zstd' | 'bzip2' | 'xz';

/** The first bytes of Zstandard data, and of its frames that are skipped (RFC 8878, 3.1). */
const ZSTD_MAGIC = 0xfd2f_b528;
const isSkippable = (magic: number): boolean => (magic & 0xffff_fff0) >>> 0 === 0x184d_2a50;

/** Bytes at the beginning of a file that show its packing: the header of a tar archive. */
const START_BYTES = 512;

/**
 * The packing that a file's first bytes show; null for a plain file. A file of one byte that begins gzip was
 * cut off.
 */
export function packingOf(start: Buffer): Packing | null {
  if (start[0] === 0x1f && (start.length === 1 || start[1] === 0x8b)) return 'gzip';
  const magic = start.length < 4 ? 0 : start.readUInt32LE();
  if (magic === ZSTD_MAGIC || isSkippable(magic)) return 'zstd';
  if (start.toString('hex', 0, 6) === 'fd377a585a00') return 'xz';
  if (/^425a683[1-9](?:314159265359|177245385090)/.test(start.toString('hex', 0, 10))) return 'bzip2';
  if (start.toString('latin1', 257, 262) === 'ustar') return 'tar';
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
  packingOf(await firstBytes(name, path, START_BYTES));

/** The problem of packed data within packed data. */
export const packedTwice = (name: string): FileProblem =>
  contentProblem(name, 'is packed more than once. Unpack it yourself first');

/** A file of an archive up to this size is unpacked in one step. */
const QUICK_BYTES_MAX = 16 * 1024 * 1024;

/** Passes every piece on, and shows it to `look`. */
export const watch = (look: (piece: Buffer) => void) =>
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
    throw contentProblem(name, `the ${packing} data is damaged: ${how}. Nothing was imported.`, error);
  }
}

/** The programs of packings that Node does not have. A large dictionary of xz takes its size in memory. */
const programs = {
  bzip2: { args: ['-dc'], from: 'bzip2' },
  xz: { args: ['-dc', '-M', limits.importReaderMemory.replace('MB', 'MiB')], from: 'xz-utils' },
};

/** Unpacks by a program of the system. @throws FileProblem where it is not installed; Error by its words */
async function* byProgram(
  name: string,
  packing: keyof typeof programs,
  source: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const { args, from } = programs[packing];
  const child = spawn(packing, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const closed = once(child, 'close').catch((error: NodeJS.ErrnoException) => error);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, 200);
  });
  // The program closes its input early where the data are damaged, and says why.
  const fed = pipeline(source, child.stdin).catch(() => undefined);
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    await fed;
    const ended = await closed;
    if (ended instanceof Error)
      throw unfitProblem(
        name,
        `is packed by ${packing}, and the program ${packing} cannot be run (${ended.code}). Install ${from}, or unpack the file yourself`,
      );
    if (ended[0] !== 0 || said !== '')
      throw new Error(said.trim().replaceAll(/\s+/g, ' ') || `${packing} failed`);
  } finally {
    child.kill();
  }
}

/** Unpacks the pieces of a file. */
const plainOf =
  (name: string, packing: StreamPacking) =>
  (source: AsyncIterable<Buffer>): AsyncIterable<Buffer> => {
    if (packing === 'bzip2' || packing === 'xz') return byProgram(name, packing, source);
    const [from, unpacker] =
      packing === 'gzip' ? [source, createGunzip()] : [zstdFrames(name, source), createZstdDecompress()];
    pipeline(from, unpacker).catch((error: Error) => unpacker.destroy(error));
    return unpacker;
  };

/**
 * Unpacks a gzip, Zstandard, bzip2 or xz file to `target`; the SHA-256 of the packed bytes. @throws FileProblem when it
 * is damaged
 */
export async function unpackStream(
  name: string,
  path: string,
  packing: StreamPacking,
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
  const plain = plainOf(name, packing);
  await verified(name, packing, () => pipeline(input, packed, plain, unpacked, output));
  return hash.digest('hex');
}

/** One file of an archive, unpacked. */
type Member = { readonly name: string; readonly path: string };

/** The place of the next member in a folder. @throws FileProblem where an archive has too many */
function placeOf(name: string, folder: string, { length }: readonly Member[]): string {
  if (length < limits.archiveMembersMax) return join(folder, String(length));
  throw contentProblem(name, `has more than ${limits.archiveMembersMax} files. Nothing was imported.`);
}

/** @throws FileProblem where an archive has no member */
function someOf(name: string, members: Member[]): Member[] {
  if (members.length > 0) return members;
  throw contentProblem(name, 'contains no file');
}

/** Whether an archiver added an entry by itself. */
const isAddedByArchiver = (name: string): boolean =>
  name.endsWith('/') || /(^|\/)(__MACOSX\/|\.DS_Store$|\._[^/]*$)/.test(name);

/**
 * The names of the files in an archive; null for any other file, and where they cannot be read, which an
 * import reports. A zip has a directory, a tar is read to its end.
 */
export async function membersOf(path: string): Promise<string[] | null> {
  try {
    const packing = await packingAt(path, path);
    if (packing === null) return null;
    const names: string[] = [];
    if (packing === 'zip') {
      const archive = await openPromise(path);
      for await (const { fileName } of archive.eachEntry()) names.push(fileName);
    } else {
      const source = createReadStream(path, { highWaterMark: PIECE_BYTES });
      const plain = packing === 'tar' ? source : plainOf(path, packing)(source);
      for await (const member of tarMembers(path, plain)) names.push(member.name);
    }
    return names.filter((one) => !isAddedByArchiver(one));
  } catch {
    return null;
  }
}

/** A number of a tar header: octal digits, or binary where it is too long for them. */
const tarNumber = (field: Buffer): number =>
  field[0]! < 0x80 ? Number.parseInt(field.toString('latin1'), 8) : field.readUIntBE(field.length - 6, 6);

const textIn = (field: Buffer): string => field.toString('utf8').split('\0')[0]!;

/** The files of a tar archive (POSIX.1-2017, pax); each is read before the next. @throws FileProblem */
async function* tarMembers(name: string, source: AsyncIterable<Buffer>) {
  const problem = (how: string): FileProblem =>
    contentProblem(name, `the tar data is damaged: ${how}. Nothing was imported.`);
  const pieces = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  async function* take(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      if (rest.length === 0) {
        const next = await pieces.next();
        if (next.done === true) throw problem('it is incomplete: the file was cut off');
        rest = next.value;
      }
      const piece = rest.subarray(0, left);
      rest = rest.subarray(piece.length);
      left -= piece.length;
      if (piece.length > 0) yield piece;
    }
  }
  const whole = async (parts: AsyncIterable<Buffer>): Promise<Buffer> => {
    const all: Buffer[] = [];
    for await (const part of parts) all.push(part);
    return Buffer.concat(all);
  };
  let told: { path?: string | undefined; size?: number | undefined } = {};
  try {
    for (;;) {
      const head = await whole(take(START_BYTES));
      if (head.every((byte) => byte === 0)) return;
      const sum = head.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 0x20 : byte), 0);
      if (sum !== tarNumber(head.subarray(148, 156)))
        throw problem('the checksum of a header does not match');
      const kind = head.toString('latin1', 156, 157);
      const size = (kind === 'x' ? undefined : told.size) ?? tarNumber(head.subarray(124, 136));
      const data = take(size);
      if ('xL'.includes(kind) && size > PIECE_BYTES) throw problem('a name is too long');
      if (kind === 'x') {
        const text = (await whole(data)).toString('utf8');
        const [, path] = /^\d+ path=(.*)$/m.exec(text) ?? [];
        const [, bytes] = /^\d+ size=(\d+)$/m.exec(text) ?? [];
        told = { path, size: bytes === undefined ? undefined : Number(bytes) };
      } else if (kind === 'L') told = { path: textIn(await whole(data)) };
      else {
        const [short, prefix] = [textIn(head.subarray(0, 100)), textIn(head.subarray(345, 500))];
        // GNU tar has times where POSIX has the beginning of a long name.
        const isPosix = head.toString('latin1', 257, 263) === 'ustar\0' && prefix !== '';
        const path = told.path ?? (isPosix ? `${prefix}/${short}` : short);
        if (kind === '0' || kind === '\0') yield { name: path, size, data };
        else if (kind !== '5' && kind !== 'g')
          throw contentProblem(name, `${path} in it is a link or a special file. Nothing was imported.`);
        told = {};
      }
      for await (const _ of data);
      for await (const _ of take((START_BYTES - (size % START_BYTES)) % START_BYTES));
    }
  } finally {
    await pieces.return?.();
  }
}

/** Unpacks every file of a tar archive into `folder`, in its order. @throws FileProblem where it is damaged */
export async function unpackTar(name: string, path: string, folder: string): Promise<Member[]> {
  const members: Member[] = [];
  for await (const { name: inner, data } of tarMembers(
    name,
    createReadStream(path, { highWaterMark: PIECE_BYTES }),
  )) {
    if (isAddedByArchiver(inner)) continue;
    const target = placeOf(name, folder, members);
    await pipeline(data, createWriteStream(target));
    members.push({ name: inner, path: target });
  }
  return someOf(name, members);
}

/**
 * Unpacks every file of a zip archive into `folder`, in its order. `content` are the bytes of a small
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
      const target = placeOf(name, folder, members);
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
  return someOf(name, members);
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
