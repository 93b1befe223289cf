// Bars derived from those of a finer interval, cell by cell (contract 3.8).
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { bucketDays } from '../market/bars/block.ts';
import { type CellBars, CellRanges, minuteCells, sessionCells } from '../market/bars/cells.ts';
import { appendBars, type Bars, concatBars, emptyBars, lowerBound } from '../market/bars/columns.ts';
import { sliceTimed, type TimedBars } from '../market/bars/grid.ts';
import { Fold } from '../market/bars/resample.ts';
import { isPeriod } from '../market/calendar/period.ts';
import { BARS_PER_BLOCK_GUESS, type BlockSource, type StreamRange, servedBlocks } from './cursor.ts';
import { keptStream } from './kept-cells.ts';
import { seriesLimits } from './limits.ts';
import type { Series } from './series.ts';
import { type BarStream, type StreamContext, segmentsAround, withTimes } from './stream.ts';

const DAY_MINUTES = DAY_MS / MINUTE_MS;

/** The bars whose keys are in the range. */
export const within = (timed: TimedBars, range: StreamRange): TimedBars =>
  sliceTimed(timed, lowerBound(timed.bars, range.fromMs), lowerBound(timed.bars, range.toMs));

/** The keys of the base bars of a range of cells. */
function baseRange({ interval }: StreamContext, range: StreamRange): StreamRange {
  // A session may be up to two UTC days away from its label date.
  if (isPeriod(interval))
    return { ...range, fromMs: range.fromMs - 2 * DAY_MS, toMs: range.toMs + 2 * DAY_MS };
  return { ...range, toMs: range.toMs + intervalMinutes(interval)! * MINUTE_MS };
}

/** An upper bound of the base bars in one bar of the asked interval. */
const basePerBar = (interval: Interval, base: Interval): number =>
  Math.ceil((intervalMinutes(interval) ?? DAY_MINUTES) / intervalMinutes(base)!);

/** The bars of a range of an interval up to DAY, derived from those of one series of minutes. */
export function derivedFrom(context: StreamContext, series: Series, range: StreamRange): BarStream {
  const isCheap = basePerBar(context.interval, series.interval) < seriesLimits.keptBaseBarsMin;
  if (isCheap || series.isPart) return foldedFrom(context, series, range);
  return keptStream(context, series, range, (missing) => foldedFrom(context, series, missing));
}

/** The same bars, all of them folded now. */
const foldedFrom = (context: StreamContext, series: Series, range: StreamRange): BarStream =>
  new FoldedMinutes(
    context,
    series.interval,
    servedBlocks(context.reader, series, baseRange(context, range)),
    range,
  );

function cellsOf(context: StreamContext, base: Interval, bars: Bars, ranges: CellRanges): CellBars {
  const { interval, extended } = context;
  const segments = segmentsAround(context, bars);
  if (isPeriod(interval)) return sessionCells(bars, segments, extended, ranges);
  return minuteCells(bars, segments, intervalMinutes(interval)!, intervalMinutes(base)!, ranges);
}

/** About how many blocks hold the base bars of so many bars. */
function blocksFor(interval: Interval, base: Interval, bars: number): number {
  const full = (bars * basePerBar(interval, base)) / BARS_PER_BLOCK_GUESS;
  const spanned = isPeriod(interval) ? bars / bucketDays(base)! : full;
  return Math.ceil(Math.min(full, spanned)) + 1;
}

/** Bars made of the minute bars of a series, block by block; a step never ends inside a cell. */
class FoldedMinutes implements BarStream {
  readonly #context: StreamContext;
  readonly #base: Interval;
  readonly #blocks: BlockSource;
  readonly #range: StreamRange;
  readonly #fold = new Fold();
  /** Those of the present block. */
  readonly #ranges = new CellRanges();
  /** Descending: the bars of the earliest cell so far, which an earlier block may add to; they ascend. */
  #carried: { readonly bars: Bars; readonly makes: number }[] = [];
  #carriedMs = Number.NaN;
  #ended = false;

  constructor(context: StreamContext, base: Interval, blocks: BlockSource, range: StreamRange) {
    this.#context = context;
    this.#base = base;
    this.#blocks = blocks;
    this.#range = range;
  }

  async next(atLeast: number): Promise<TimedBars | null> {
    while (!this.#ended) {
      const bars = await (this.#range.descending ? this.#before(atLeast) : this.#after(atLeast));
      const timed = within(withTimes(this.#context, bars, false), this.#range);
      if (timed.bars.count > 0) return timed;
    }
    return null;
  }

  /** The next whole cells in ascending order. */
  async #after(atLeast: number): Promise<Bars> {
    const fold = this.#fold;
    while (fold.count < atLeast) {
      const cells = await this.#cells(atLeast - fold.count);
      if (cells === null) {
        fold.end();
        break;
      }
      addRanges(fold, cells, 0);
    }
    return fold.take();
  }

  /** The whole cells before those read so far. */
  async #before(atLeast: number): Promise<Bars> {
    const parts: Bars[] = [];
    for (let count = 0; count < atLeast && !this.#ended; ) {
      const cells = await this.#cells(atLeast - count);
      if (cells === null) this.#addCarried();
      else if (cells.ranges.count > 0) this.#addBefore(cells);
      const part = this.#fold.take();
      count += part.count;
      parts.push(part);
    }
    return concatBars(parts.reverse());
  }

  /**
   * Folds the cells of an earlier block, but its first one; and the carried cell, unless the whole block is a
   * part of it.
   */
  #addBefore(cells: CellBars): void {
    const { bars, ranges } = cells;
    const firstMs = ranges.cellMs[0]!;
    const first = ranges.firstCellEnd;
    if (firstMs !== this.#carriedMs) {
      addRanges(this.#fold, cells, first);
      this.#addCarried();
    }
    this.#carriedMs = firstMs;
    for (let range = first - 1; range >= 0; range--) {
      const part = emptyBars();
      appendBars(part, bars, ranges.from[range]!, ranges.to[range]!);
      this.#carried.unshift({ bars: part, makes: ranges.makes[range]! });
    }
  }

  /** Folds the carried bars, to the cell that they are in. */
  #addCarried(): void {
    for (const { bars, makes } of this.#carried) this.#fold.add(bars, 0, bars.count, this.#carriedMs, makes);
    this.#fold.end();
    this.#carried = [];
  }

  /** The base bars of the next block by cell; null at the end. */
  async #cells(wanted: number): Promise<CellBars | null> {
    const { interval } = this.#context;
    const block = await this.#blocks.next(blocksFor(interval, this.#base, wanted));
    this.#ended = block === null;
    this.#ranges.clear();
    if (block === null) return null;
    const cells = cellsOf(this.#context, this.#base, block, this.#ranges);
    if (!cells.ranges.makes.subarray(0, cells.ranges.count).includes(1))
      this.#context.onSkipped?.(block.count);
    return cells;
  }
}

/** Adds the ranges from one on to a fold. */
function addRanges(fold: Fold, { bars, ranges }: CellBars, first: number): void {
  for (let range = first; range < ranges.count; range++)
    fold.add(bars, ranges.from[range]!, ranges.to[range]!, ranges.cellMs[range]!, ranges.makes[range]!);
}
