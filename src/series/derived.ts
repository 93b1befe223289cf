// Bars derived from those of a finer interval, cell by cell (contract 3.8).
import { bucketDays } from '../bars/bucket.ts';
import { type CellBars, CellRanges, dayCells, minuteCells, periodCells, splitCells } from '../bars/cells.ts';
import { appendBars, type Bars, concatBars, emptyBars, lowerBound } from '../bars/columns.ts';
import { sliceTimed, type TimedBars } from '../bars/grid.ts';
import { Fold, resample } from '../bars/resample.ts';
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { isPeriod, type PeriodInterval, periodEnd, periodStart } from '../calendar/period.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { limits } from '../contract/limits.ts';
import {
  BARS_PER_BLOCK_GUESS,
  type BarSource,
  type BlockSource,
  type StreamRange,
  servedBlocks,
} from './cursor.ts';
import { rowsOf } from './day-rows.ts';
import { keptStream } from './kept-cells.ts';
import { seriesLimits } from './limits.ts';
import type { Series } from './series.ts';
import { type BarStream, type StreamContext, segmentsAround, withTimes } from './stream.ts';

/** The bars whose keys are in the range. */
export function within(timed: TimedBars, range: StreamRange): TimedBars {
  const from = lowerBound(timed.bars, range.fromMs);
  const to = lowerBound(timed.bars, range.toMs);
  return from === 0 && to === timed.bars.count ? timed : sliceTimed(timed, from, to);
}

/** A range of keys widened to whole days, weeks or months. */
export function wholePeriods(interval: PeriodInterval, range: StreamRange): StreamRange {
  const startMs = periodStart(interval, Math.ceil(range.fromMs / DAY_MS)) * DAY_MS;
  const endMs = periodEnd(interval, periodStart(interval, Math.ceil(range.toMs / DAY_MS) - 1)) * DAY_MS;
  return { ...range, fromMs: startMs, toMs: endMs };
}

/** The keys of the base bars of a range of cells. */
function baseRange(context: StreamContext, base: Interval, range: StreamRange): StreamRange {
  const { interval } = context;
  if (!isPeriod(interval)) return { ...range, toMs: range.toMs + intervalMinutes(interval)! * MINUTE_MS };
  const { fromMs, toMs } = wholePeriods(interval, range);
  // A session may be up to two UTC days away from its label date.
  const slack = isPeriod(base) ? 0 : 2 * DAY_MS;
  return { ...range, fromMs: fromMs - slack, toMs: toMs + slack };
}

/** The most days in one bar of a period. */
export const daysIn = (interval: Interval): number => (interval === 'MON' ? 31 : interval === 'WEEK' ? 7 : 1);

/** An upper bound of the base bars in one bar of the asked interval. */
function basePerBar(interval: Interval, base: Interval): number {
  const baseMinutes = intervalMinutes(base);
  const askedMinutes = intervalMinutes(interval) ?? daysIn(interval) * 1440;
  return baseMinutes === null ? daysIn(interval) : Math.ceil(askedMinutes / baseMinutes);
}

/** The bars of a range of the asked interval, derived from those of one series. */
export function derivedFrom(context: StreamContext, series: Series, range: StreamRange): BarStream {
  const isCheap = basePerBar(context.interval, series.interval) < seriesLimits.keptBaseBarsMin;
  if (isCheap || series.isPart) return foldedFrom(context, series, range);
  return keptStream(context, series, range, (missing) => foldedFrom(context, series, missing));
}

/** The same bars, all of them folded now. */
function foldedFrom(context: StreamContext, series: Series, range: StreamRange): BarStream {
  const base = baseRange(context, series.interval, range);
  if (isPeriod(series.interval))
    return derivedStream(context, rowsOf(context, series, base), series.interval, range);
  return new FoldedMinutes(context, series.interval, servedBlocks(context.reader, series, base), range);
}

function cellsOf(context: StreamContext, base: Interval, bars: Bars, ranges = new CellRanges()): CellBars {
  const { interval } = context;
  if (isPeriod(interval) && isPeriod(base)) return dayCells(bars, interval, context.calendar);
  const segments = segmentsAround(context, bars);
  if (isPeriod(interval)) return periodCells(bars, segments, interval, ranges);
  return minuteCells(bars, segments, intervalMinutes(interval)!, intervalMinutes(base)!, ranges);
}

/** About how many blocks hold the base bars of so many bars. */
function blocksFor(interval: Interval, base: Interval, bars: number): number {
  const full = (bars * basePerBar(interval, base)) / BARS_PER_BLOCK_GUESS;
  const spanned = isPeriod(interval) ? (bars * daysIn(interval)) / bucketDays(base)! : full;
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
  #carried: Bars[] = [];
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

  /** Folds the cells of an earlier block, but its first one; and the carried cell, unless the whole block is a part of it. */
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
      this.#carried.unshift(part);
    }
  }

  /** Folds the carried bars, to the cell that they are in. */
  #addCarried(): void {
    for (const part of this.#carried) this.#fold.add(part, 0, part.count, this.#carriedMs);
    this.#fold.end();
    this.#carried = [];
  }

  /** The base bars of the next block by cell; null at the end. */
  async #cells(wanted: number): Promise<CellBars | null> {
    const { interval } = this.#context;
    const block = await this.#blocks.next(blocksFor(interval, this.#base, wanted));
    this.#ended = block === null;
    this.#ranges.clear();
    return block === null ? null : cellsOf(this.#context, this.#base, block, this.#ranges);
  }
}

/** Adds the ranges from one on to a fold. */
function addRanges(fold: Fold, { bars, ranges }: CellBars, first: number): void {
  for (let range = first; range < ranges.count; range++)
    fold.add(bars, ranges.from[range]!, ranges.to[range]!, ranges.cellMs[range]!);
}

/**
 * Bars of a coarser interval made from the bars of `source`, cell by cell; a step never ends inside a cell. `complete` adds base
 * bars to those of whole cells before they become one bar.
 */
export function derivedStream(
  context: StreamContext,
  source: BarSource,
  base: Interval,
  range: StreamRange,
  complete?: (bars: Bars) => Promise<Bars>,
): BarStream {
  const perBar = basePerBar(context.interval, base);
  let carried: Bars = emptyBars();
  let ended = false;
  return {
    async next(atLeast) {
      while (!ended) {
        const step = await source.next(Math.min((atLeast + 1) * perBar, limits.barsPerStepMax));
        ended = step === null;
        const bars =
          step === null ? carried : concatBars(range.descending ? [step, carried] : [carried, step]);
        if (bars.count === 0) continue;
        const cells = cellsOf(context, base, bars);
        const { whole, rest } = ended
          ? { whole: cells, rest: emptyBars() }
          : splitCells(cells, range.descending);
        carried = rest;
        const filled = complete === undefined ? whole : cellsOf(context, base, await complete(whole.bars));
        const timed = within(withTimes(context, resample(filled), false), range);
        if (timed.bars.count > 0) return timed;
      }
      return null;
    },
  };
}
