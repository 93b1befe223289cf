// How much room an import needs, judged before its first write from the size of its file.
import { dirname } from 'node:path';
import { DiskFull, diskProblem, requireSpace } from '../disk/space.ts';
import type { Format } from '../files/format.ts';
import type { Store } from '../store/store.ts';

/** What even a small file may need: some pages for each table and index. */
const LEAST_BYTES = 4 * 1024 * 1024;

/**
 * Bytes for each byte of text: bars are kept in a fifth of it, in a third where their numbers are long; they are written to
 * the store's log first, and then to the store.
 */
const SHARE_OF_TEXT = 0.75;

/** What Parquet packs to a byte would be so many of text. */
const PARQUET_TO_TEXT = 4;

/** Bytes that the disk of the store needs for the import of so much text, the log included. */
export const storeNeedBytes = (textBytes: number): number => LEAST_BYTES + SHARE_OF_TEXT * textBytes;

/** What of a file says how much room it needs. */
type Incoming = { readonly bytes: number; readonly format: Format; readonly rejectedPath: string };

/** The room that the import of one file needs. */
export class ImportRoom {
  readonly #store: Store;
  readonly #textBytes: number;
  /** The file of refused rows grows beside the imported one. */
  readonly #ownFolder: string;

  constructor(store: Store, file: Incoming) {
    this.#store = store;
    this.#textBytes = file.format.kind === 'parquet' ? file.bytes * PARQUET_TO_TEXT : file.bytes;
    this.#ownFolder = dirname(file.rejectedPath);
  }

  /** Makes sure of room before the first write. @throws DiskFull */
  async require(): Promise<void> {
    if (this.#store.folder !== null) await requireSpace(this.#store.folder, storeNeedBytes(this.#textBytes));
  }

  /** What an error on the way means: the same error, or which disk has filled and what it needs. */
  async problem(error: unknown): Promise<unknown> {
    if (!(error instanceof DiskFull)) return diskProblem(error, this.#ownFolder, this.#textBytes);
    const { folder, freeBytes, neededBytes } = error;
    return new DiskFull(folder, freeBytes, Math.max(neededBytes, storeNeedBytes(this.#textBytes)), {
      cause: error,
    });
  }
}
