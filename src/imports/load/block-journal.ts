// The entries of the journal about blocks that one import writes: together, because one by one they take
// several times as long.

import { encodeBlock } from '../../market/bars/block-writer.ts';
import { type BlockPlace, changeRowOf, recordBlock } from '../../runs/journal.ts';
import { type Brought, broughtIn, changesBars } from '../../series/brought.ts';
import type { RowOf } from '../../store/schema/dataset.ts';
import { blockChanges, heldBars } from '../../store/schema/internal.ts';
import type { Writer } from '../../store/store.ts';

/** The most blocks whose entries wait. Each may have as many bytes as a block. */
const BLOCKS_TOGETHER = 64;

export class BlockJournal {
  readonly #writer: Writer;
  #changes: RowOf<typeof blockChanges>[] = [];
  #held: RowOf<typeof heldBars>[] = [];

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** The import's entry of a block in the journal; null where it has none. */
  async recorded(place: BlockPlace): Promise<Brought | null> {
    await this.write();
    return broughtIn(this.#writer, place);
  }

  /** Records what the import brings to a block, beside what it has recorded of it, `own`. */
  async record(place: BlockPlace, brought: Brought, own: Brought | null): Promise<void> {
    if (own !== null) return recordBlock(this.#writer, place, brought, own);
    const { change, held } = brought;
    if (changesBars(change)) this.#changes.push(changeRowOf(place, change));
    if (held.count > 0) this.#held.push({ ...place, keys: encodeBlock(held) });
    if (this.#changes.length + this.#held.length >= BLOCKS_TOGETHER) await this.write();
  }

  /** Writes what waits. */
  async write(): Promise<void> {
    await this.#writer.upsert(blockChanges, this.#changes);
    await this.#writer.upsert(heldBars, this.#held);
    this.#changes = [];
    this.#held = [];
  }
}
