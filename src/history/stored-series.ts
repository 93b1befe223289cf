// A stored series whose bars a deletion or an undo removes and restores, block by block.

import { blockCount, decodeBlock, wholeBlock } from '../bars/block-reader.ts';
import { encodeBlock } from '../bars/block-writer.ts';
import { type Bars, emptyBars } from '../bars/columns.ts';
import { countOffGrid } from '../bars/grid.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { blockChanges } from '../datasets/internal.ts';
import { allBlocks, everyBucket } from '../store/all-blocks.ts';
import type { Direction, StoredBlock, Writer } from '../store/store.ts';

/** A stored block with its bars. */
type OpenedBlock = { readonly bucket: number; readonly runId: number; readonly bars: Bars };

const openBlock = ({ bucket, runId, bytes }: StoredBlock): OpenedBlock => ({
  bucket,
  runId,
  bars: decodeBlock(bytes, wholeBlock),
});

/** One series: `put` changes its blocks, then `settle` updates its row. */
export class StoredSeries {
  readonly row: RowOf<typeof seriesDataset>;
  readonly #writer: Writer;
  readonly calendar: Calendar;
  #barCount: number;
  #offGrid = false;

  /** `calendar` is the instrument's. */
  constructor(writer: Writer, row: RowOf<typeof seriesDataset>, calendar: Calendar) {
    this.row = row;
    this.#writer = writer;
    this.calendar = calendar;
    this.#barCount = row.bar_count;
  }

  /** The blocks from one bucket to another, both included, one by one. */
  async *blocks(fromBucket: number, toBucket: number): AsyncGenerator<OpenedBlock> {
    const read = { seriesId: this.row.series_id, fromBucket, toBucket, direction: 'asc' } as const;
    for await (const block of allBlocks(this.#writer, read)) yield openBlock(block);
  }

  /** The block of a bucket, without bars where there is none. */
  async block(bucket: number): Promise<OpenedBlock> {
    for await (const block of this.blocks(bucket, bucket)) return block;
    return { bucket, runId: 0, bars: emptyBars() };
  }

  /** Replaces the bars of a block. An empty block stays while the journal names it. */
  async put(block: OpenedBlock, bars: Bars): Promise<void> {
    const { series_id: seriesId } = this.row;
    const { bucket, runId } = block;
    this.#barCount += bars.count - block.bars.count;
    this.#offGrid ||= this.#hasOffGrid(bars);
    if (bars.count === 0 && !(await this.#isNamed({ bucket })))
      await this.#writer.removeBlock(seriesId, bucket);
    else await this.#writer.putBlock(seriesId, { bucket, runId, bytes: encodeBlock(bars) });
  }

  /** Writes the series' row and gives its number of bars. An empty series stays while the journal names it. */
  async settle(): Promise<number> {
    let row = { ...this.row, first_ms: 0, last_ms: 0, bar_count: this.#barCount, off_grid: false };
    if (this.#barCount > 0) {
      const first = await this.#outermost('asc');
      const last = await this.#outermost('desc');
      // The bars that were off the grid may be gone.
      const off_grid = this.#offGrid || (this.row.off_grid && (await this.#anyOffGrid()));
      row = { ...row, first_ms: first.keyMs[0]!, last_ms: last.keyMs[last.count - 1]!, off_grid };
    } else if (!(await this.#isNamed({}))) {
      await this.#writer.remove(seriesDataset, [this.row]);
      return 0;
    }
    await this.#writer.upsert(seriesDataset, [row]);
    return this.#barCount;
  }

  /** Finds anew whether bars are off the grid: the calendar has changed. */
  async regrid(): Promise<void> {
    const off_grid = await this.#anyOffGrid();
    if (off_grid !== this.row.off_grid) await this.#writer.upsert(seriesDataset, [{ ...this.row, off_grid }]);
  }

  /** The bars of the first or the last block that has some. */
  async #outermost(direction: Direction): Promise<Bars> {
    const read = { seriesId: this.row.series_id, ...everyBucket, direction, limit: 1 };
    for await (const block of allBlocks(this.#writer, read))
      if (blockCount(block.bytes) > 0) return openBlock(block).bars;
    throw new Error(`series ${this.row.series_id} has ${this.#barCount} bars and no block with bars`);
  }

  async #anyOffGrid(): Promise<boolean> {
    if (this.row.interval === '1M') return false;
    for await (const { bars } of this.blocks(everyBucket.fromBucket, everyBucket.toBucket))
      if (this.#hasOffGrid(bars)) return true;
    return false;
  }

  #hasOffGrid(bars: Bars): boolean {
    const minutes = intervalMinutes(this.row.interval as Interval);
    if (minutes === null || minutes === 1 || bars.count === 0) return false;
    const segments = this.calendar.segments(bars.keyMs[0]!, bars.keyMs[bars.count - 1]! + 1, 'all');
    return countOffGrid(bars, segments, minutes) > 0;
  }

  /** Whether a run that can be undone changed the series, or one bucket of it. */
  async #isNamed(where: { readonly bucket?: number }): Promise<boolean> {
    const found = await this.#writer.rows(blockChanges, {
      where: { series_id: this.row.series_id, ...where },
      order: [
        ['bucket', 'asc'],
        ['run_id', 'asc'],
      ],
      limit: 1,
    });
    return found.length > 0;
  }
}
