// The entries of the journal about blocks that one import writes: together, because one by one they take several times as long.
import type { RowOf } from '../datasets/dataset.ts';
import { blockChanges } from '../datasets/internal.ts';
import { type BlockPlace, changeRowOf, recordBlock } from '../history/journal.ts';
import type { BlockChange } from '../store/journal-entries.ts';
import type { Writer } from '../store/store.ts';

/** The most entries that wait. Each may have as many bytes as a block. */
const CHANGES_TOGETHER = 64;

export class BlockJournal {
  readonly #writer: Writer;
  #waiting: RowOf<typeof blockChanges>[] = [];

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** Records a change. There is no entry of its bucket where this import writes that for the first time. */
  async record(place: BlockPlace, change: BlockChange, isFirst: boolean): Promise<void> {
    if (isFirst) this.#waiting.push(changeRowOf(place, change));
    if (!isFirst || this.#waiting.length >= CHANGES_TOGETHER) await this.write();
    if (!isFirst) await recordBlock(this.#writer, place, change);
  }

  /** Writes what waits. */
  async write(): Promise<void> {
    await this.#writer.upsert(blockChanges, this.#waiting);
    this.#waiting = [];
  }
}
