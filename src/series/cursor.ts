// Reads the stored bars of one series block by block, in either direction: a stream in steps.
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { intervalMinutes } from '../contract/interval.ts';
import { limits } from '../contract/limits.ts';
import { bucketOf, decodeBlock, RUN_BARS } from '../market/bars/block.ts';
import { type Bars, concatBars, emptyBars, filterBars } from '../market/bars/columns.ts';
import { ofBytes, refuseLostBlocks } from '../store/all-blocks.ts';
import { blockDamage, DamagedData } from '../store/damage.ts';
import type { Reader, StoredBlock } from '../store/store.ts';
import { namedDamage, namingDamage } from './damaged-bars.ts';
import { seriesLimits } from './limits.ts';
import { isUnfinished, type Series } from './series.ts';

/**
 * Something in steps; null at the end. A step has at least `atLeast` bars, or fewer where more steps follow.
 */
export type Stream<Step> = { next(atLeast: number): Promise<Step | null> };

/**
 * Each step changed; those of which nothing is left are skipped. Steps of up to `skippedMax` grow over what
 * is skipped: more of it may follow.
 */
export const mapped = <From, To>(
  stream: Stream<From>,
  change: (step: From) => Promise<To | null> | To | null,
  skippedMax = 0,
): Stream<To> => ({
  async next(atLeast) {
    for (let wanted = atLeast; ; wanted = Math.max(wanted, Math.min(2 * wanted, skippedMax))) {
      const step = await stream.next(wanted);
      if (step === null) return null;
      const changed = await change(step);
      if (changed !== null) return changed;
    }
  },
});

/** Keys in `[fromMs, toMs)`, read from one end to the other. */
export type StreamRange = { readonly fromMs: number; readonly toMs: number; readonly descending: boolean };

/**
 * Bars without instants, in steps: each step ascends in itself, the steps follow the direction. A step has at
 * least `atLeast` bars while there are so many, or fewer where some are unfinished.
 */
export type BarSource = Stream<Bars>;

/**
 * The same bars block by block; null at the end. `blocks` is about how many more are wanted. The arrays are
 * those of the call before: a caller copies what it keeps.
 */
export type BlockSource = { next(blocks: number): Promise<Bars | null> };

/** Fewest bars in a block of a liquid instrument: the guess of how many blocks a step needs. */
export const BARS_PER_BLOCK_GUESS = 300;
const BLOCKS_PER_READ_MAX = 64;

/** About how many blocks hold so many bars. */
const blocksOf = (bars: number): number => Math.ceil(bars / BARS_PER_BLOCK_GUESS) + 1;

/**
 * Series whose blocks were all there when they were first read. A series is another object once its row or
 * its bars change.
 */
const whole = new WeakSet<Series>();

/** @throws DamagedData where an index has lost a block: bars that are made of others would be wrong */
async function requireBlocks(reader: Reader, series: Series): Promise<void> {
  if (whole.has(series)) return;
  await namingDamage(reader, refuseLostBlocks(reader, series.series_id));
  whole.add(series);
}

/** Walks the stored bars of one series between two keys. */
export class SeriesCursor implements BarSource {
  readonly #reader: Reader;
  readonly #series: Series;
  readonly #range: StreamRange;
  readonly #descending: boolean;
  #lowestMs = Number.POSITIVE_INFINITY;
  #highestMs = Number.NEGATIVE_INFINITY;
  #fromMs: number;
  #toMs: number;
  #blocks: StoredBlock[] = [];
  #fromBucket: number;
  #toBucket: number;
  #exhausted = false;
  /** The number of blocks that the last read asked for. */
  #blocksRead = 0;

  constructor(reader: Reader, series: Series, range: StreamRange) {
    this.#reader = reader;
    this.#series = series;
    this.#range = range;
    this.#descending = range.descending;
    // The series has no bar outside its own first and last key, however wide the range is.
    this.#fromMs = Math.max(range.fromMs, series.first_ms);
    this.#toMs = Math.min(range.toMs, series.last_ms + 1);
    this.#fromBucket = bucketOf(series.interval, this.#fromMs);
    this.#toBucket = bucketOf(series.interval, this.#toMs - 1);
  }

  async next(atLeast: number): Promise<Bars | null> {
    const step = await (this.#descending ? this.#nextDescending(atLeast) : this.#nextAscending(atLeast));
    const isOver = this.#fromMs >= this.#toMs || this.#blocks.length === 0;
    await this.#requireEnds(step, isOver && (step === null || step.count < atLeast));
    return step;
  }

  /** The bars of the next block in the direction, in arrays that are used again. */
  async nextBlock(blocks: number, target: Bars): Promise<Bars | null> {
    let step: Bars | null = null;
    while (step === null && this.#fromMs < this.#toMs) {
      const block = await this.#block(blocks);
      if (block === undefined) break;
      target.count = 0;
      await this.#decode(block, Number.POSITIVE_INFINITY, target);
      this.#blocks.shift();
      if (target.count === 0) continue;
      if (this.#descending) this.#toMs = target.keyMs[0]!;
      else this.#fromMs = target.keyMs[target.count - 1]! + 1;
      step = target;
    }
    await this.#requireEnds(step, step === null);
    return step;
  }

  /**
   * The first and the last bar of a series are stored: where a read reaches one that is not there, an index
   * has lost a block.
   */
  async #requireEnds(step: Bars | null, isOver: boolean): Promise<void> {
    if (step !== null) {
      this.#lowestMs = Math.min(this.#lowestMs, step.keyMs[0]!);
      this.#highestMs = Math.max(this.#highestMs, step.keyMs[step.count - 1]!);
    }
    if (!this.#descending || isOver) await this.#requireEnd(this.#series.first_ms, this.#lowestMs);
    if (this.#descending || isOver) await this.#requireEnd(this.#series.last_ms, this.#highestMs);
  }

  async #requireEnd(endMs: number, readMs: number): Promise<void> {
    if (readMs === endMs || endMs < this.#range.fromMs || endMs >= this.#range.toMs) return;
    const { series_id: seriesId, interval } = this.#series;
    const block = { seriesId, bucket: bucketOf(interval, endMs), runId: null };
    throw new DamagedData(await namedDamage(this.#reader, blockDamage(block, 'it is lost')));
  }

  async #nextAscending(atLeast: number): Promise<Bars | null> {
    const target = this.#room(atLeast);
    while (target.count < atLeast && this.#fromMs < this.#toMs) {
      const block = await this.#block(blocksOf(atLeast - target.count));
      if (block === undefined) break;
      const before = target.count;
      if ((await this.#decodeMore(block, atLeast - before, target, before)) === null) {
        target.count = before;
        break;
      }
      if (target.count === before) this.#blocks.shift();
      // A run may have more bars than this step needs: the next step reads those again.
      target.count = Math.min(target.count, Math.max(atLeast, before));
      if (target.count > before) this.#fromMs = target.keyMs[target.count - 1]! + 1;
    }
    return target.count === 0 ? null : target;
  }

  /** Arrays for bars: for no more than may be left. Bars off the grid may be more, for which they grow. */
  #room(atLeast: number): Bars {
    const { interval, bar_count } = this.#series;
    const minutes = intervalMinutes(interval);
    const barMs = minutes === null ? DAY_MS : minutes * MINUTE_MS;
    const left = Math.min(Math.ceil((this.#toMs - this.#fromMs) / barMs), bar_count);
    return emptyBars(Math.max(Math.min(left, Math.min(atLeast, limits.barsPerStepMax) + 2 * RUN_BARS), 0));
  }

  async #nextDescending(atLeast: number): Promise<Bars | null> {
    const parts: Bars[] = [];
    let count = 0;
    while (count < atLeast && this.#fromMs < this.#toMs) {
      const block = await this.#block(blocksOf(atLeast - count));
      if (block === undefined) break;
      const part = await this.#decodeMore(block, atLeast - count, this.#room(atLeast - count), count);
      if (part === null) break;
      count += part.count;
      if (part.count === 0) this.#blocks.shift();
      else {
        this.#toMs = part.keyMs[0]!;
        parts.push(part);
      }
    }
    return parts.length === 0 ? null : concatBars(parts.reverse());
  }

  async #block(blocks: number): Promise<StoredBlock | undefined> {
    if (this.#blocks.length === 0 && !this.#exhausted) {
      await requireBlocks(this.#reader, this.#series);
      // Each read is larger than the one before: the guess was too low, or bars are skipped.
      const limit = Math.min(Math.max(blocks, 2 * this.#blocksRead), BLOCKS_PER_READ_MAX);
      this.#blocksRead = limit;
      this.#blocks = await this.#reader.blocks({
        seriesId: this.#series.series_id,
        fromBucket: this.#fromBucket,
        toBucket: this.#toBucket,
        direction: this.#descending ? 'desc' : 'asc',
        limit,
      });
      const last = this.#blocks[this.#blocks.length - 1];
      this.#exhausted = this.#blocks.length < limit;
      if (last !== undefined && this.#descending) this.#toBucket = last.bucket - 1;
      else if (last !== undefined) this.#fromBucket = last.bucket + 1;
    }
    return this.#blocks[0];
  }

  /**
   * The bars of one more block of a step; null where it is damaged and the step has bars: the next step meets
   * the damage, if it is needed.
   */
  async #decodeMore(block: StoredBlock, atLeast: number, target: Bars, found: number): Promise<Bars | null> {
    try {
      return await this.#decode(block, atLeast, target);
    } catch (error) {
      if (found === 0 || !(error instanceof DamagedData)) throw error;
      return null;
    }
  }

  async #decode(block: StoredBlock, atLeast: number, target: Bars): Promise<Bars> {
    const range = { fromMs: this.#fromMs, toMs: this.#toMs, atLeast, descending: this.#descending };
    const decoded = (bytes: Uint8Array): Bars => decodeBlock(bytes, range, target);
    return namingDamage(this.#reader, Promise.try(ofBytes<Bars>, this.#series.series_id, block, decoded));
  }
}

/** The bars of a range, without those that are unfinished (contract 3.9). */
export function servedBars(reader: Reader, series: Series, range: StreamRange): BarSource {
  const cursor = new SeriesCursor(reader, series, range);
  if (series.unfinished.length === 0) return cursor;
  return mapped(cursor, (step) => finishedOf(series, step), seriesLimits.skippedBarsPerStep);
}

/** The bars of a step that are not unfinished; null without any. */
function finishedOf(series: Series, step: Bars): Bars | null {
  const served = filterBars(step, (bar) => !isUnfinished(series, step.keyMs[bar]!));
  return served.count === 0 ? null : served;
}

/** The same bars as those of `servedBars`, block by block. */
export function servedBlocks(reader: Reader, series: Series, range: StreamRange): BlockSource {
  const cursor = new SeriesCursor(reader, series, range);
  const target = emptyBars();
  const source: BlockSource = { next: (blocks) => cursor.nextBlock(blocks, target) };
  return series.unfinished.length === 0 ? source : mapped(source, (block) => finishedOf(series, block));
}
