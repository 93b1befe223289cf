// Imports of several files in one write of the store: each is whole, undone and refused alone; all are
// durable at the end of the write.
import { DiskFull } from '../../base/space.ts';
import { Counters } from '../../runs/new-instrument.ts';
import { historyLimits, partOrTry, writeOrTry } from '../../runs/recorded-write.ts';
import type { OnWait, Store, Writer } from '../../store/store.ts';
import type { MappedFile } from '../map/column-mapping.ts';
import { requireSpaceFor, storeNeedBytes, textBytesOf } from './import-space.ts';

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
