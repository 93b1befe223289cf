// Imports of several files in one write of the store: each is whole, undone and refused alone; all are
// durable at the end of the write. The disk space that they need is estimated from their sizes before it
// begins.
import { dirname } from 'node:path';
import { DiskFull, diskProblem, requireDiskSpace } from '../../base/space.ts';
import { Counters } from '../../runs/new-instrument.ts';
import { historyLimits, partOrTry, writeOrTry } from '../../runs/recorded-write.ts';
import type { OnWait, Store, Writer } from '../../store/store.ts';
import type { MappedFile } from '../map/column-mapping.ts';

/** The files of one write. */
export class ImportGroup {
  readonly store: Store;
  readonly writer: Writer;
  readonly counters: Counters;
  readonly #startedMs = performance.now();
  #files = 0;
  #last: MappedFile | null = null;
  #textBytes = 0;
  #isChanged = false;

  constructor(store: Store, writer: Writer) {
    this.store = store;
    this.writer = writer;
    this.counters = new Counters(writer);
  }

  /**
   * Runs what one file writes. It is undone alone, where it throws or is only a trial. @throws DiskFull
   * before anything is written
   */
  async run<T>(
    file: MappedFile,
    work: () => Promise<{ readonly result: T; readonly isTrial: boolean }>,
  ): Promise<T> {
    // A file may be read twice (decision 6).
    if (this.#last !== file) {
      this.#last = file;
      this.#files++;
      this.#textBytes += textBytesOf(file);
    }
    // The log has all of the group until the write ends.
    requireSpaceFor(this.store, this.#textBytes);
    const takeBack = this.counters.mark();
    let isKept = false;
    try {
      const { result, isTrial } = await partOrTry(this.writer, work);
      isKept = !isTrial;
      this.#isChanged ||= isKept;
      return result;
    } finally {
      if (!isKept) takeBack();
    }
  }

  /** Whether another file must wait for the next group. */
  get isFull(): boolean {
    return (
      this.#files >= historyLimits.groupFilesMax ||
      this.#textBytes >= historyLimits.groupBytesMax ||
      performance.now() - this.#startedMs >= historyLimits.groupMsMax
    );
  }

  /** Whether anything is to be committed. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  /** Bytes that the files need on the disk of the store. */
  get neededBytes(): number {
    return storeNeedBytes(this.#textBytes);
  }
}

/** Runs `work` in one write of the store, which is undone where it throws. */
export async function writeGroup(
  store: Store,
  work: (group: ImportGroup) => Promise<void>,
  onWait?: OnWait,
): Promise<void> {
  let neededBytes = 0;
  const write = async (writer: Writer) => {
    const group = new ImportGroup(store, writer);
    try {
      await work(group);
      await group.counters.settle();
    } finally {
      ({ neededBytes } = group);
    }
    return { result: undefined, isTrial: !group.isChanged };
  };
  try {
    await writeOrTry(store, write, onWait);
  } catch (error) {
    if (!(error instanceof DiskFull)) throw error;
    const { folder, freeBytes } = error;
    throw new DiskFull(folder, freeBytes, Math.max(error.neededBytes, neededBytes), { cause: error });
  }
}

/** The least space for a file: some pages for each table and index. */
const LEAST_BYTES = 4 * 1024 * 1024;

/**
 * Stored bytes for each byte of text: bars need a fifth, long numbers a third; each is written to the log
 * first, then to the store.
 */
const SHARE_OF_TEXT = 0.75;

/** Bytes of text for each byte of Parquet. */
const PARQUET_TO_TEXT = 4;

/** The size of a file as text. */
const textBytesOf = ({ format, bytes }: MappedFile): number =>
  format.kind === 'parquet' ? bytes * PARQUET_TO_TEXT : bytes;

/** Bytes that the import of so much text needs on the store's disk, the log included. */
export const storeNeedBytes = (textBytes: number): number => LEAST_BYTES + SHARE_OF_TEXT * textBytes;

/** Checks the space for so much text on the store's disk before the first write. @throws DiskFull */
function requireSpaceFor({ folder }: Store, textBytes: number): void {
  if (folder !== null) requireDiskSpace(folder, storeNeedBytes(textBytes));
}

/**
 * The error of an import that has written refused rows, which are beside the imported file: where that disk
 * is full, which one; else the same error.
 */
export const refusedRowsProblem = (error: unknown, file: MappedFile): Promise<unknown> =>
  diskProblem(error, dirname(file.rejectedPath), textBytesOf(file));
