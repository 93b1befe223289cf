// A stored series whose bars a deletion or an undo removes and restores, block by block.

import { blockCount } from '../bars/block-reader.ts';
import { encodeBlock } from '../bars/block-writer.ts';
import { bucketOf } from '../bars/bucket.ts';
import { type Bars, emptyBars } from '../bars/columns.ts';
import type { Interval } from '../contract/interval.ts';
import { series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { blockChanges } from '../datasets/internal.ts';
import { allBlocks, blockAt, everyBucket, type OpenedBlock, openBlock } from '../store/all-blocks.ts';
import { type Damage, DamagedData } from '../store/damage.ts';
import type { Direction, Writer } from '../store/store.ts';
import { forgetBlock, keysOfBucket } from './damaged-blocks.ts';

/** Blocks may be damaged; what has no place cannot be passed over. */
function requireBlock(damage: Damage): void {
  if (damage.block === undefined) throw new DamagedData(damage);
}

/** One series: `put` changes its blocks, then `settle` updates its row. */
export class StoredSeries {
  readonly row: RowOf<typeof seriesDataset>;
  readonly #writer: Writer;
  #barCount: number;
  /** The buckets of damaged blocks that `blocks` has left out. */
  readonly damaged = new Set<number>();

  constructor(writer: Writer, row: RowOf<typeof seriesDataset>) {
    this.row = row;
    this.#writer = writer;
    this.#barCount = row.bar_count;
  }

  /** The series with its present number of bars. */
  get presentRow(): RowOf<typeof seriesDataset> {
    return { ...this.row, bar_count: this.#barCount };
  }

  /** The blocks from one bucket to another, both included, one by one, without damaged ones. */
  async *blocks(fromBucket: number, toBucket: number): AsyncGenerator<OpenedBlock> {
    const seriesId = this.row.series_id;
    const read = { seriesId, fromBucket, toBucket, direction: 'asc' } as const;
    const sound = this.#writer.sound((damage) => {
      requireBlock(damage);
      this.damaged.add(damage.block!.bucket);
    });
    for await (const block of allBlocks(sound, read)) yield openBlock(seriesId, block);
  }

  /** The block of a bucket, without bars where there is none. @throws DamagedData */
  async block(bucket: number): Promise<OpenedBlock> {
    const found = await blockAt(this.#writer, this.row.series_id, bucket);
    return found ?? { bucket, runId: 0, bars: emptyBars() };
  }

  /** Removes a damaged block and all that runs have changed in it; `count` is the number of its bars. */
  async removeDamaged(bucket: number, count: number): Promise<void> {
    const { series_id: seriesId } = this.row;
    this.#barCount -= count;
    await forgetBlock(this.#writer, seriesId, bucket);
    await this.#writer.removeBlock(seriesId, bucket);
  }

  /** Replaces the bars of a block. An empty block stays while the journal names it. */
  async put(block: OpenedBlock, bars: Bars): Promise<void> {
    const { series_id: seriesId } = this.row;
    const { bucket, runId } = block;
    this.#barCount += bars.count - block.bars.count;
    if (bars.count === 0 && !(await this.#isNamed({ bucket })))
      await this.#writer.removeBlock(seriesId, bucket);
    else await this.#writer.putBlock(seriesId, { bucket, runId, bytes: encodeBlock(bars) });
  }

  /**
   * Writes the series' row and gives its number of bars. An empty series stays while the journal names it.
   */
  async settle(): Promise<number> {
    let row = { ...this.row, first_ms: 0, last_ms: 0, bar_count: this.#barCount };
    if (this.#barCount > 0) {
      row = { ...row, ...(await this.ends()) };
    } else if (!(await this.#isNamed({}))) {
      await this.#writer.remove(seriesDataset, [this.row]);
      return 0;
    }
    await this.#writer.upsert(seriesDataset, [row]);
    return this.#barCount;
  }

  /** The keys of the first and the last bar. */
  async ends(): Promise<{ readonly first_ms: number; readonly last_ms: number }> {
    return { first_ms: await this.#outermost('asc'), last_ms: await this.#outermost('desc') };
  }

  /**
   * The key of the first or the last bar. Of a damaged block at that end it is what the series' row says, or
   * the end of its bucket.
   */
  async #outermost(direction: Direction): Promise<number> {
    const { series_id: seriesId, first_ms, last_ms } = this.row;
    const [isFirst, interval] = [direction === 'asc', this.row.interval as Interval];
    const damaged: number[] = [];
    const sound = this.#writer.sound((damage) => {
      requireBlock(damage);
      damaged.push(damage.block!.bucket);
    });
    let found: OpenedBlock | null = null;
    for await (const block of allBlocks(sound, { seriesId, ...everyBucket, direction, limit: 1 })) {
      if (blockCount(block.bytes) === 0) continue;
      found = openBlock(seriesId, block);
      break;
    }
    const [outer] = damaged.sort((a, b) => (isFirst ? a - b : b - a));
    if (outer !== undefined && (found === null || (isFirst ? outer < found.bucket : outer > found.bucket))) {
      const known = isFirst ? first_ms : last_ms;
      const keys = keysOfBucket(interval, outer);
      if (keys === null || bucketOf(interval, known) === outer) return known;
      return isFirst ? keys.firstMs : keys.lastMs;
    }
    if (found === null)
      throw new Error(`series ${seriesId} has ${this.#barCount} bars and no block with bars`);
    return found.bars.keyMs[isFirst ? 0 : found.bars.count - 1]!;
  }

  /** Whether a run that can be undone changed the series, or one bucket of it. */
  async #isNamed(where: { readonly bucket?: number }): Promise<boolean> {
    let isDamaged = false;
    const sound = this.#writer.sound(() => {
      isDamaged = true;
    });
    const found = await sound.rows(blockChanges, {
      where: { series_id: this.row.series_id, ...where },
      order: [
        ['bucket', 'asc'],
        ['run_id', 'asc'],
      ],
      limit: 1,
    });
    return isDamaged || found.length > 0;
  }
}
