// One file made ready to be read: found, decompressed and verified whole, its header known, its hash under way.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, type Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Worker } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';
import { type Digest, PIECE_BYTES, TextCheck } from './digest-thread.ts';
import { FileProblem } from './problem.ts';
import type { ReadableFile } from './read.ts';
import { gunzippedBytes, spool } from './spool.ts';

/** Bytes in which a header line must end. */
const HEADER_BYTES_MAX = 64 * 1024;

/** A file that can be read. `close` removes what was made for it. */
export type SourceFile = ReadableFile & {
  /** Made while the file is read. @throws FileProblem when the file changed meanwhile */
  digest(): Promise<Digest>;
  close(): Promise<void>;
};

async function check(name: string, path: string): Promise<Stats> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    const reason = found.code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${found.code})`;
    throw new FileProblem('usage', `${name}: ${reason}`);
  }
  if (found.isDirectory())
    throw new FileProblem(
      'usage',
      `${name}: is a folder; name the files in it, such as ${join(name, '*.csv')}`,
    );
  if (found.size === 0) throw new FileProblem('content', `${name}: is empty`);
  return found;
}

async function firstBytes(path: string, count: number): Promise<Buffer> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new FileProblem('usage', `${path}: it cannot be read (${error.code})`, { cause: error });
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Looks at every byte that passes. */
function watch(look: (piece: Buffer) => void): Transform {
  return new Transform({
    highWaterMark: PIECE_BYTES,
    transform(piece: Buffer, _, done) {
      look(piece);
      done(null, piece);
    },
  });
}

/** Opens a CSV, plain or gzip. @throws FileProblem for what cannot be a CSV with a header. */
export async function openSource(name: string): Promise<SourceFile> {
  const path = resolve(name);
  const before = await check(name, path);
  if (isGzip(await firstBytes(path, 2))) return openGzip(name, path, before.size);
  const header = await readHeader(name, path);
  const thread = new Worker(new URL(import.meta.resolve('./digest-thread.ts')), { workerData: path });
  const digest = new Promise<Digest>((done, fail) => thread.once('message', done).once('error', fail));
  digest.catch(() => undefined);
  return {
    name,
    path,
    header,
    async digest() {
      const found = await digest;
      const now = await check(name, path);
      if (now.size === before.size && now.mtimeMs === before.mtimeMs) return checkQuotes(name, found);
      throw new FileProblem('content', `${name}: changed while it was read. Nothing was imported.`);
    },
    close: async () => void (await thread.terminate()),
  };
}

/** DuckDB takes a quote that is not closed for a cell that goes on to the end of the file, and says nothing. */
function checkQuotes(name: string, digest: Digest): Digest {
  if (!digest.hasOpenQuote) return digest;
  throw new FileProblem(
    'content',
    `${name}: a quote is not closed: the file has an odd number of them. Nothing was imported.`,
  );
}

/** Decompresses a file whole before anything of it is read: so damage is found first, and it can be read more than once. */
async function openGzip(name: string, path: string, bytes: number): Promise<SourceFile> {
  const hash = createHash('sha256');
  const check = new TextCheck();
  const hashed = watch((piece) => void hash.update(piece));
  const seen = watch((piece) => check.take(piece));
  const { path: plain, close } = await spool(await gunzippedBytes(path, bytes), (spooled) =>
    gunzip(name, () =>
      pipeline(
        createReadStream(path, { highWaterMark: PIECE_BYTES }),
        hashed,
        createGunzip(),
        seen,
        createWriteStream(spooled),
      ),
    ),
  );
  try {
    const { hasUnderscore, hasOpenQuote, isUtf8 } = check;
    const digest = { sha256: hash.digest('hex'), hasUnderscore, hasOpenQuote, isUtf8 };
    checkQuotes(name, digest);
    return { name, path: plain, header: await readHeader(name, plain), digest: async () => digest, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A file of one byte that begins gzip is gzip that was cut off. */
const isGzip = (start: Buffer): boolean => start[0] === 0x1f && (start.length === 1 || start[1] === 0x8b);

async function gunzip(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('Z_') !== true) throw error;
    const how = code === 'Z_BUF_ERROR' ? 'it ends before its end: the file was cut off' : message;
    throw new FileProblem('content', `${name}: the gzip data is damaged: ${how}. Nothing was imported.`, {
      cause: error,
    });
  }
}

async function readHeader(name: string, path: string): Promise<string[]> {
  const start = await firstBytes(path, HEADER_BYTES_MAX);
  if (start.length === 0) throw new FileProblem('content', `${name}: is empty`);
  if (start.includes(0)) throw new FileProblem('content', `${name}: is not a text file: it has NUL bytes`);
  const text = decodeStart(name, start);
  const end = text.search(/\r\n|\n|\r/);
  if (end < 0 && start.length === HEADER_BYTES_MAX) {
    throw new FileProblem(
      'content',
      `${name}: its first line is longer than ${HEADER_BYTES_MAX} bytes: a header line is expected`,
    );
  }
  const line = end < 0 ? text : text.slice(0, end);
  if (line.trim() === '')
    throw new FileProblem('content', `${name}: its first line is empty: a header line is expected`);
  const header = splitHeader(name, line);
  checkHeader(name, header);
  return header;
}

function decodeStart(name: string, start: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
  } catch {
    throw new FileProblem('content', `${name}: is not UTF-8 text`);
  }
}

/** Cells of a header line by RFC 4180. */
function splitHeader(name: string, line: string): string[] {
  const cells: string[] = [];
  for (const match of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))(?=,|$)/g)) {
    cells.push((match[1]?.replaceAll('""', '"') ?? match[2]!).trim());
  }
  const commas = line.replaceAll(/"(?:[^"]|"")*"/g, '').split(',').length;
  if (cells.length === commas) return cells;
  throw new FileProblem('content', `${name}: its header line cannot be read as CSV: check its quotes`);
}

function checkHeader(name: string, header: readonly string[]): void {
  const twice = header.find((column, index) => header.indexOf(column) !== index);
  if (twice !== undefined)
    throw new FileProblem(
      'content',
      `${name}: the column ${twice === '' ? 'without a name' : twice} stands twice in its header`,
    );
  if (header.every((column) => /^[-+\d.:TZ ]*$/.test(column))) {
    throw new FileProblem(
      'content',
      `${name}: its first line has no column names, only values: a header line is expected`,
    );
  }
}

/** The file that refused rows go to: beside the imported one. */
export function rejectedPathOf(name: string): string {
  return `${resolve(name).replace(/(\.csv)?(\.gz)?$/i, '')}.rejected.csv`;
}

/** The name without its folders, as a run records it. */
export const shortName = (name: string): string => basename(name);
