// Room on a disk: asked for before anything is written, and named when it ends on the way.
import { statfs } from 'node:fs/promises';

const bytesText = (bytes: number): string => `${Math.ceil(bytes).toLocaleString('en-US')} bytes`;

/** A disk has no room for what is to be written. Nothing of it was kept. */
export class DiskFull extends Error {
  readonly folder: string;
  readonly freeBytes: number;
  /** At least. */
  readonly neededBytes: number;

  constructor(folder: string, freeBytes: number, neededBytes: number, options?: ErrorOptions) {
    super(
      `the disk that ${folder} is on has ${bytesText(freeBytes)} free, and about ${bytesText(neededBytes)} are needed: make room there. Nothing was imported or changed.`,
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

/** Makes sure of room before the first write. @throws DiskFull */
export async function requireRoom(folder: string, neededBytes: number): Promise<void> {
  const freeBytes = await freeBytesIn(folder);
  if (freeBytes < neededBytes) throw new DiskFull(folder, freeBytes, neededBytes);
}
