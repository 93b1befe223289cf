// Disk space: checked before anything is written, and named where it runs out later. Folders that cannot be
// written to.
import { accessSync, constants, mkdirSync, statfsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';

/** The least that a file takes on most disks. */
const BLOCK_BYTES = 4_096;

const bytesText = (bytes: number): string => `${Math.ceil(bytes).toLocaleString('en-US')} bytes`;

/**
 * The disk has too little space. Nothing of this step was written, or it was removed again; steps before it
 * stay: files of the same call, a migration.
 */
export class DiskFull extends Error {
  override readonly name = 'DiskFull';
  readonly folder: string;
  readonly freeBytes: number;
  /** A lower bound. */
  readonly neededBytes: number;

  constructor(folder: string, freeBytes: number, neededBytes: number, options?: ErrorOptions) {
    super(
      `the disk of ${folder} has ${bytesText(freeBytes)} free, but about ${bytesText(neededBytes)} are needed. Free some disk space and repeat it. Nothing is left half done.`,
      options,
    );
    this.folder = folder;
    this.freeBytes = freeBytes;
    this.neededBytes = neededBytes;
  }
}

/** Bytes that can still be written in a folder. */
export async function freeBytesIn(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** As `freeBytesIn`, at once: an import asks for each of a million files. */
function freeBytesNow(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Checks the free disk space before the first write. @throws DiskFull */
export function requireDiskSpace(folder: string, neededBytes: number): void {
  const freeBytes = freeBytesNow(folder);
  if (freeBytes < neededBytes) throw new DiskFull(folder, freeBytes, neededBytes);
}

/** True if the system found the disk full, or the user's quota of it used up. */
export function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** The error for a disk that filled while at least `neededBytes` were being written to a folder. */
export async function diskFull(folder: string, neededBytes: number, cause: unknown): Promise<DiskFull> {
  const freeBytes = await freeBytesIn(folder);
  return new DiskFull(folder, freeBytes, Math.max(neededBytes, 2 * freeBytes, BLOCK_BYTES), { cause });
}

/**
 * As `diskFull`, where nothing can wait and the next step takes `neededBytes`: for the opening of a store.
 */
export function diskFullNow(folder: string, neededBytes: number, cause: unknown): DiskFull {
  const freeBytes = freeBytesNow(folder);
  return new DiskFull(folder, freeBytes, Math.max(neededBytes, freeBytes + BLOCK_BYTES), { cause });
}

/** Nothing can be written in a folder. The message names it and the cure. */
export class FolderUnusable extends Error {
  override readonly name = 'FolderUnusable';
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'its disk is read-only',
  ENOENT: 'it does not exist and cannot be created',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a part of the path is a file',
};

/** A known error of writing in a folder, in words that end in `cure`; any other error as it is. */
export function folderProblem(error: unknown, folder: string, cure: string): unknown {
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
  if (reason === undefined) return error;
  return new FolderUnusable(`the folder ${folder} cannot be used: ${reason}; ${cure}`, { cause: error });
}

/** The advice about the folder of a store. */
export const STORE_NEEDS = 'a store needs one that can be written to';

/** What to do where SQLite cannot keep a store's log. */
const LOG_NEEDS = 'a store keeps a log beside it: allow that, or copy the store and its log elsewhere';

/** Makes the folder of a store where there is none. @throws FolderUnusable */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw folderProblem(error, folder, STORE_NEEDS);
  }
}

/** The system's code for why a file or folder cannot be written to; null where it can. */
function closedBy(path: string): string | null {
  try {
    accessSync(path, constants.W_OK);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? '';
  }
}

/** True if the disk of a folder is read-only, so that nobody can write there. */
export const isReadOnlyDisk = (folder: string): boolean => closedBy(folder) === 'EROFS';

/**
 * The first of some files and folders that this user cannot write to, with the reason and what to do:
 * `ownerNeeds` where it is another user's. Null where all can be written.
 */
export function closedAmong(paths: readonly string[], ownerNeeds: string | null): string | null {
  for (const path of paths) {
    const code = closedBy(path);
    if (code === null) continue;
    const isOthers = code === 'EACCES' || code === 'EPERM';
    const users =
      isOthers && process.getuid
        ? ` (user ${process.getuid()}; it belongs to user ${statSync(path).uid})`
        : '';
    const cure = isOthers && ownerNeeds !== null ? ownerNeeds : LOG_NEEDS;
    return `${path} cannot be written to: ${reasons[code] ?? 'it is closed'}${users}; ${cure}`;
  }
  return null;
}

/**
 * The same error, or a `DiskFull` where the disk of a folder filled while at least `neededBytes` were being
 * written to it.
 */
export const diskProblem = async (error: unknown, folder: string, neededBytes: number): Promise<unknown> =>
  isDiskFull(error) ? diskFull(folder, neededBytes, error) : error;
