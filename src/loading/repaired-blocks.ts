// Damaged blocks of one series that an import replaces: it must bring at least as many bars as each of them
// had.
import type { Interval } from '../contract/interval.ts';
import type { series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import type { InstrumentName } from '../datasets/reference.ts';
import {
  deletionOfBlocks,
  forgetBlock,
  type LostBlock,
  type LostBlocks,
  lostBlocks,
  lostBlockWords,
} from '../history/damaged-blocks.ts';
import { nameOf } from '../history/undo-row.ts';
import { blockAt, type OpenedBlock } from '../store/all-blocks.ts';
import { blockDamage, DamagedData } from '../store/damage.ts';
import type { Writer } from '../store/store.ts';

/** The block of a bucket, or that it is damaged; null where there is none. */
export async function blockOrDamage(
  writer: Writer,
  seriesId: number,
  bucket: number,
): Promise<OpenedBlock | 'damaged' | null> {
  try {
    return await blockAt(writer, seriesId, bucket);
  } catch (error) {
    if (error instanceof DamagedData) return 'damaged';
    throw error;
  }
}

/** The damaged blocks that one import replaces in one series. */
export class RepairedBlocks {
  readonly #writer: Writer;
  #lost: LostBlocks | null = null;
  /** The bars that the import has stored in each replaced block. */
  readonly #bars = new Map<number, number>();

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /**
   * Begins to replace a damaged block: what earlier runs changed in it is forgotten. `row` is the series as
   * the import has left it so far. Gives the number of bars that count as stored there.
   */
  async begin(row: RowOf<typeof seriesDataset>, bucket: number): Promise<number> {
    this.#lost ??= await lostBlocks(this.#writer, row);
    const lost = this.#lost.blocks.get(bucket);
    if (lost === undefined) {
      const place = { seriesId: row.series_id, bucket, runId: 0 };
      throw new DamagedData(blockDamage(place, 'its index is damaged: restore a backup'));
    }
    await forgetBlock(this.#writer, row.series_id, bucket);
    // Where each block's own number is not known, the first one stands for all: the import must replace all
    // of them.
    const stored = lost.count ?? (this.#bars.size === 0 ? this.#lost.total : 0);
    this.#bars.set(bucket, 0);
    return stored;
  }

  /** Notes how many bars a block has after it was written; other blocks are passed over. */
  wrote(bucket: number, count: number): void {
    if (this.#bars.has(bucket)) this.#bars.set(bucket, count);
  }

  /** How many damaged bars were replaced. */
  get count(): number {
    return this.#replaced.reduce((sum, { count }) => sum + (count ?? 0), this.#unknown);
  }

  /** Why the import must not replace the blocks, and what to do; null where it may. */
  refusal(instrument: InstrumentName, interval: Interval): string | null {
    const short = this.#short;
    if (short.length === 0) return null;
    const places = short.map((block) => {
      const [had, has] = [block.count ?? 'an unknown number', this.#bars.get(block.bucket) ?? 0];
      return `${lostBlockWords(interval, block)} (${had} stored, ${has} in the file)`;
    });
    const command = deletionOfBlocks(
      instrument,
      interval,
      short.map(({ bucket }) => bucket),
    );
    return `stored bars of ${nameOf(instrument)} ${interval} are damaged, and the file has fewer bars of the same days: ${places.join('; ')}. Import a file with all bars of these days, or delete them first, by ${command}`;
  }

  get #replaced(): LostBlock[] {
    return [...(this.#lost?.blocks.values() ?? [])].filter(({ bucket }) => this.#bars.has(bucket));
  }

  /** The bars of replaced blocks whose own number is not known. */
  get #unknown(): number {
    return this.#replaced.some(({ count }) => count === null) ? this.#lost!.total : 0;
  }

  /** The blocks of which the import has fewer bars than were stored. */
  get #short(): LostBlock[] {
    const brought = (block: LostBlock): number => this.#bars.get(block.bucket) ?? 0;
    if (this.#unknown === 0) return this.#replaced.filter((block) => brought(block) < block.count!);
    const all = [...this.#lost!.blocks.values()];
    const sum = all.reduce((bars, block) => bars + brought(block), 0);
    return all.every(({ bucket }) => this.#bars.has(bucket)) && sum >= this.#lost!.total ? [] : all;
  }
}
