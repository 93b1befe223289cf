// Temporary files of imports. Their names have the process, so that a later import can remove those of a
// killed one.
import { rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diskProblem, folderProblem, requireDiskSpace } from '../../base/space.ts';
import { makeTemporary, ownMark, removeLeftovers } from '../../base/temporary.ts';

const SPOOL = 'bourse-import-';

/** The best compression by gzip of prices, and of anything (zlib.net/zlib_tech.html). */
const PRICES_RATIO = 5;
const RATIO_MAX = 1032;

/** A new temporary folder and what was put into it; `close` removes the folder. */
export type Spool<T> = { readonly filled: T; readonly close: () => Promise<void> };

/** Makes and fills a temporary folder, if there is enough disk space. @throws DiskFull, FolderUnusable */
export async function spool<T>(neededBytes: number, fill: (folder: string) => Promise<T>): Promise<Spool<T>> {
  const folder = makeSpool(neededBytes);
  const close = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
  try {
    return { filled: await fill(folder), close };
  } catch (error) {
    await close();
    throw await diskProblem(error, tmpdir(), neededBytes);
  }
}

/** A folder for what a reader process writes while it reads: it is made when it is needed. */
export const spillFolder = (): string => join(tmpdir(), `${SPOOL}${ownMark}-spill`);

/** Whether this process has removed what others left. */
let isCleared = false;

function makeSpool(neededBytes: number): string {
  try {
    if (!isCleared) removeLeftovers(tmpdir(), /^bourse-import-(\d+\.\d+)-\w+$/);
    isCleared = true;
    requireDiskSpace(tmpdir(), neededBytes);
    return makeTemporary(SPOOL);
  } catch (error) {
    throw folderProblem(error, tmpdir(), 'set TMPDIR to another one');
  }
}

/** About how many bytes a packed file of prices unpacks to. */
export const unpackedBytes = (packedBytes: number): number => packedBytes * PRICES_RATIO;

/**
 * Bytes of text in a gzip file of `bytes` bytes: by its trailer (RFC 1952), or an estimate where the trailer
 * cannot be the whole size.
 */
export async function gunzippedBytes(path: string, bytes: number): Promise<number> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, Math.max(0, bytes - 4));
    const said = bytesRead === 4 ? buffer.readUInt32LE() : 0;
    return said < bytes || said > bytes * RATIO_MAX ? unpackedBytes(bytes) : said;
  } finally {
    await file.close();
  }
}
