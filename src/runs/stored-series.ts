// Stored bars and rows between two bounds of a command; and a series whose bars a deletion or an undo
// removes and restores, block by block.
import {
  areInOrder,
  DAY_MS,
  END_DAY,
  endOf,
  FIRST_DAY,
  type ParsedInstant,
  startOf,
  type TimeKind,
} from '../base/instant.ts';
import type { Interval } from '../contract/interval.ts';
import { bucketOf } from '../market/bars/block.ts';
import { encodeBlock } from '../market/bars/block-writer.ts';
import { type Bars, emptyBars } from '../market/bars/columns.ts';
import { barRange, inOrder } from '../market/calendar/bar-range.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { isPeriod, periodHours } from '../market/calendar/period.ts';
import {
  allBlocks,
  blockAt,
  everyBucket,
  type OpenedBlock,
  openBlock,
  soundBlocks,
} from '../store/all-blocks.ts';
import { unlessDamaged } from '../store/damage.ts';
import { series as seriesDataset } from '../store/schema/bars.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import { blockChanges } from '../store/schema/internal.ts';
import type { Direction, StoredBlock, Writer } from '../store/store.ts';
import { RequestProblem } from './recorded-write.ts';
import { removeDamagedBlock } from './remove-damaged.ts';

/** Inclusive bounds as in a request for bars (contract 2.2, 2.3); null: the first, the last. */
export type BarBounds = { readonly from: ParsedInstant | null; readonly to: ParsedInstant | null };

const WRONG_ORDER = '--from is after --to: swap them';

/**
 * Chosen bars of a series: their first and last bucket, the range of keys that was asked for, and a test of a
 * key.
 */
export type Selected = {
  readonly fromBucket: number;
  readonly toBucket: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly holds: (keyMs: number) => boolean;
};

/**
 * The bars of a series between two bounds. Null where there are none.
 * @throws RequestProblem where `from` is after `to`
 */
export function selectBars(
  row: Pick<RowOf<typeof seriesDataset>, 'interval' | 'first_ms' | 'last_ms'>,
  calendar: Calendar,
  bounds: BarBounds,
): Selected | null {
  const interval = row.interval as Interval;
  const from = bounds.from ?? { kind: 'date', day: FIRST_DAY };
  const to = bounds.to ?? { kind: 'date', day: END_DAY - 1 };
  if (!inOrder(interval, calendar, from, to)) throw new RequestProblem(WRONG_ORDER);
  const { fromMs, toMs, holds } = barRange(interval, calendar, from, to);
  const firstMs = Math.max(fromMs, row.first_ms);
  const lastMs = Math.min(toMs - 1, row.last_ms);
  if (firstMs > lastMs) return null;
  return {
    fromBucket: bucketOf(interval, firstMs),
    toBucket: bucketOf(interval, lastMs),
    ...{ fromMs, toMs },
    holds: (keyMs) => {
      if (keyMs < fromMs || keyMs >= toMs) return false;
      if (holds === null || !isPeriod(interval)) return true;
      const { openMs, day } = periodHours(calendar, interval, keyMs / DAY_MS, false);
      return holds(openMs, day);
    },
  };
}

type Bound = ParsedInstant | null | undefined;

/** Two inclusive bounds as a half-open range. @throws RequestProblem where `from` is after `to` */
export function rangeOf(from: Bound, to: Bound, kind: TimeKind): { from?: number; to?: number } {
  const range = { ...(from && { from: startOf(from, kind) }), ...(to && { to: endOf(to, kind) }) };
  if (from && to && !areInOrder(from, range.from!, range.to!, kind)) throw new RequestProblem(WRONG_ORDER);
  return range;
}

/** One series: `put` changes its blocks, then `settle` updates its row. */
export class StoredSeries {
  readonly row: RowOf<typeof seriesDataset>;
  readonly #writer: Writer;
  #barCount: number;
  /** The damaged blocks that `blocks` has left out, by bucket. */
  readonly damaged = new Map<number, StoredBlock>();

  constructor(writer: Writer, row: RowOf<typeof seriesDataset>) {
    this.row = row;
    this.#writer = writer;
    this.#barCount = row.bar_count;
  }

  /** The blocks from one bucket to another, both included, one by one, without damaged ones. */
  blocks(fromBucket: number, toBucket: number): AsyncGenerator<OpenedBlock> {
    const read = { seriesId: this.row.series_id, fromBucket, toBucket };
    return soundBlocks(this.#writer, read, (block) => this.damaged.set(block.bucket, block));
  }

  /** The block of a bucket, without bars where there is none. @throws DamagedData */
  async block(bucket: number): Promise<OpenedBlock> {
    const found = await blockAt(this.#writer, this.row.series_id, bucket);
    return found ?? { bucket, runId: 0, bars: emptyBars() };
  }

  /**
   * Removes the damaged blocks, once `blocks` has given all others, and gives how many bars they had: those
   * that no other has, which are `left`. `runId` is that of the deletion.
   */
  async removeDamaged(left: number, runId: number): Promise<number> {
    for (const bucket of this.damaged.keys())
      await removeDamagedBlock(this.#writer, { series_id: this.row.series_id, bucket, run_id: runId });
    const removed = this.#barCount - left;
    this.#barCount = left;
    return removed;
  }

  /** Replaces the bars of a block. An empty block stays while the journal names it. */
  async put(block: OpenedBlock, bars: Bars): Promise<void> {
    const { series_id: seriesId } = this.row;
    const { bucket, runId } = block;
    this.#barCount += bars.count - block.bars.count;
    if (bars.count === 0 && !(await this.#isNamed({ bucket })))
      await this.#writer.putBlock(seriesId, { bucket, bytes: null });
    else await this.#writer.putBlock(seriesId, { bucket, runId, bytes: encodeBlock(bars) });
  }

  /**
   * Writes the series' row and gives its number of bars. An empty series stays while the journal names it.
   */
  async settle(): Promise<number> {
    let row = { ...this.row, first_ms: 0, last_ms: 0, bar_count: this.#barCount };
    if (this.#barCount > 0) {
      row = { ...row, first_ms: await this.#outermost('asc'), last_ms: await this.#outermost('desc') };
    } else if (!(await this.#isNamed({}))) {
      await this.#writer.remove(seriesDataset, [this.row]);
      return 0;
    }
    await this.#writer.upsert(seriesDataset, [row]);
    return this.#barCount;
  }

  /** The key of the first or the last bar. @throws DamagedData */
  async #outermost(direction: Direction): Promise<number> {
    const { series_id: seriesId } = this.row;
    for await (const block of allBlocks(this.#writer, { seriesId, ...everyBucket, direction, limit: 1 })) {
      const { keyMs, count } = openBlock(seriesId, block).bars;
      if (count > 0) return keyMs[direction === 'asc' ? 0 : count - 1]!;
    }
    throw new Error(`series ${seriesId} has ${this.#barCount} bars and no block with bars`);
  }

  /** Whether the journal has an entry of the series, or of one bucket of it; a damaged one counts too. */
  async #isNamed(where: { readonly bucket?: number }): Promise<boolean> {
    const read = this.#writer.rows(blockChanges, {
      where: { series_id: this.row.series_id, ...where },
      order: [
        ['bucket', 'asc'],
        ['run_id', 'asc'],
      ],
      limit: 1,
    });
    return (await unlessDamaged(read))?.length !== 0;
  }
}
