// Disk space: checked before anything is written, and named where it runs out on the way. Folders that cannot be written to.
import { accessSync, constants, mkdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';

const bytesText = (bytes: number): string => `${Math.ceil(bytes).toLocaleString('en-US')} bytes`;

/** The disk lacks the space for what is to be written. Nothing of it was kept. */
export class DiskFull extends Error {
  readonly folder: string;
  readonly freeBytes: number;
  /** A lower bound. */
  readonly neededBytes: number;

  constructor(folder: string, freeBytes: number, neededBytes: number, options?: ErrorOptions) {
    super(
      `the disk of ${folder} has ${bytesText(freeBytes)} free, but about ${bytesText(neededBytes)} are needed. Free some disk space. Nothing was imported or changed.`,
      options,
    );
    this.name = 'DiskFull';
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

/** Checks the free disk space before the first write. @throws DiskFull */
export async function requireDiskSpace(folder: string, neededBytes: number): Promise<void> {
  const freeBytes = await freeBytesIn(folder);
  if (freeBytes < neededBytes) throw new DiskFull(folder, freeBytes, neededBytes);
}

/** Whether the system found the disk full, or the user's quota of it used up. */
export function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** The error for a disk that filled while at least so many bytes were being written to a folder. */
export async function diskFull(folder: string, neededBytes: number, cause: unknown): Promise<DiskFull> {
  const freeBytes = await freeBytesIn(folder);
  return new DiskFull(folder, freeBytes, Math.max(neededBytes, 2 * freeBytes), { cause });
}

/** Nothing can be written in a folder. The message names it and the cure. Nothing was kept. */
export class FolderUnusable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FolderUnusable';
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'its disk is read-only',
  ENOENT: 'it is not there and cannot be made',
  ENOTDIR: 'a file is where a folder is needed',
  EEXIST: 'a file is where a folder is needed',
};

/** A known error of writing in a folder, in words that end in `cure`; any other error as it is. */
export function folderProblem(error: unknown, folder: string, cure: string): unknown {
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
  if (reason === undefined) return error;
  return new FolderUnusable(`the folder ${folder} cannot be used: ${reason}; ${cure}`, { cause: error });
}

/** What to do about the folder of a store. */
export const STORE_NEEDS = 'a store needs one that can be written to';

/** What to do where SQLite cannot keep a store's log. */
export const LOG_NEEDS =
  'a store keeps its log beside it: make that possible, or copy it, with the files beside it, to where it is';

/** Makes the folder of a store where there is none. @throws FolderUnusable */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw folderProblem(error, folder, STORE_NEEDS);
  }
}

/** Whether the disk of a folder is read-only, so that nobody can write there. */
export function isReadOnlyDisk(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}

/** The first of some files and folders that this user cannot write to, with the reason; null where all can be written. */
export function closedAmong(paths: readonly string[]): string | null {
  for (const path of paths) {
    try {
      accessSync(path, constants.W_OK);
    } catch (error) {
      return `${path} cannot be written to: ${reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? 'it is closed'}`;
    }
  }
  return null;
}

/** A DiskFull for an error of a full disk, or the same error where it has another cause. */
export const diskProblem = async (error: unknown, folder: string, neededBytes: number): Promise<unknown> =>
  isDiskFull(error) ? diskFull(folder, neededBytes, error) : error;
