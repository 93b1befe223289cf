// Bars of stored series as streams: with their instants, those of DAY one a session, one series after the
// other, finished ones only (contract 3.10).
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { Refusal } from '../contract/errors.ts';
import { volumeBasis } from '../contract/file-words.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { type CellBars, CellRanges } from '../market/bars/cells.ts';
import { type Bars, concatBars, copyBar, emptyBars, lowerBound, sliceBars } from '../market/bars/columns.ts';
import {
  filterTimed,
  sliceTimed,
  type TimedBars,
  timeMinutes,
  timeOffGrid,
  timePeriods,
} from '../market/bars/grid.ts';
import { Fold } from '../market/bars/resample.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { isPeriod, type PeriodInterval, segmentScope } from '../market/calendar/period.ts';
import type { Segments } from '../market/calendar/session.ts';
import type { Reader } from '../store/store.ts';
import type { Completeness, Moment } from './completeness.ts';
import { type BarSource, mapped, type Stream, type StreamRange, servedBars } from './cursor.ts';
import { seriesLimits } from './limits.ts';
import { isUnfinished, type Series } from './series.ts';

/**
 * The bars of a series at its own interval, by key. Of DAY the key is the label of the session: the row of a
 * closed date whose evening opens that session is merged into it.
 */
export function rowsOf(
  { reader, calendar }: { readonly reader: Reader; readonly calendar: Calendar },
  series: Series,
  range: StreamRange,
): BarSource {
  if (series.interval !== 'DAY' || !calendar.opensEvenings) return servedBars(reader, series, range);
  // The evening before the first session of the range belongs to it.
  const rows = servedBars(reader, series, { ...range, fromMs: range.fromMs - DAY_MS });
  return new SessionRows({ calendar, series, rows, range });
}

/** The rows by the label of their session. */
function cellsOf(calendar: Calendar, bars: Bars): CellBars {
  const ranges = new CellRanges();
  for (let row = 0; row < bars.count; row++)
    ranges.add(row, row + 1, calendar.labelOfRow(bars.keyMs[row]! / DAY_MS) * DAY_MS);
  return { bars, ranges };
}

/**
 * True if the rows of a session, up to the last with this key, are all of it: the row of its own date is
 * there, and none that is unfinished is missing. The row of an evening alone is a remnant (contract 3.9,
 * 3.10).
 */
function isWhole(calendar: Calendar, series: Series, cellMs: number, lastMs: number): boolean {
  if (lastMs !== cellMs) return false;
  return (
    !isUnfinished(series, cellMs - DAY_MS) || calendar.labelOfRow(cellMs / DAY_MS - 1) !== cellMs / DAY_MS
  );
}

/** One bar of each cell that is `whole`. A row that has its cell for itself keeps its digits. */
function merge({ bars, ranges }: CellBars, whole: (cellMs: number, lastMs: number) => boolean): Bars {
  const merged = emptyBars(ranges.count);
  for (let range = 0; range < ranges.count; range++) {
    const [from, to, cellMs] = [ranges.from[range]!, ranges.to[range]!, ranges.cellMs[range]!];
    if (!whole(cellMs, bars.keyMs[to - 1]!)) continue;
    copyBar(merged, merged.count, to - from === 1 ? sliceBars(bars, from, to) : folded(bars, from, to), 0);
    merged.keyMs[merged.count++] = cellMs;
  }
  return merged;
}

/** One bar of some rows. */
function folded(bars: Bars, from: number, to: number): Bars {
  const fold = new Fold();
  fold.add(bars, from, to, bars.keyMs[from]!);
  fold.end();
  return fold.take();
}

type SessionSource = {
  readonly calendar: Calendar;
  readonly series: Series;
  readonly rows: BarSource;
  readonly range: StreamRange;
};

/** Separates whole cells from the bars of the last one of the step, which the next step may still add to. */
function splitCells({ bars, ranges }: CellBars, descending: boolean): { whole: CellBars; rest: Bars } {
  if (ranges.count === 0) return { whole: { bars, ranges }, rest: sliceBars(bars, 0, 0) };
  if (descending) {
    const range = ranges.firstCellEnd;
    const at = ranges.to[range - 1]!;
    const whole = { bars: sliceBars(bars, at, bars.count), ranges: ranges.slice(range, ranges.count, at) };
    return { whole, rest: sliceBars(bars, 0, at) };
  }
  const range = ranges.lastCellStart;
  const at = ranges.from[range]!;
  const whole = { bars: sliceBars(bars, 0, at), ranges: ranges.slice(0, range, 0) };
  return { whole, rest: sliceBars(bars, at, bars.count) };
}

/** DAY rows of one series, merged to one bar a session, with keys in a range. */
class SessionRows implements BarSource {
  readonly #calendar: Calendar;
  readonly #rows: BarSource;
  readonly #range: StreamRange;
  readonly #isWhole: (cellMs: number, lastMs: number) => boolean;
  /** Rows of a session that the next step may still add to. */
  #carried = emptyBars();
  #ended = false;

  constructor({ calendar, series, rows, range }: SessionSource) {
    this.#calendar = calendar;
    this.#rows = rows;
    this.#range = range;
    this.#isWhole = (cellMs, lastMs) => isWhole(calendar, series, cellMs, lastMs);
  }

  async next(atLeast: number): Promise<Bars | null> {
    let found = emptyBars();
    while (!this.#ended && found.count < atLeast) {
      const cells = await this.#cells(atLeast - found.count + 1);
      found = this.#join(found, this.#within(merge(cells, this.#isWhole)));
    }
    return found.count === 0 ? null : found;
  }

  /** The next rows, whose sessions no later step adds to. */
  async #cells(atLeast: number): Promise<CellBars> {
    const step = await this.#rows.next(atLeast);
    this.#ended = step === null;
    const cells = cellsOf(this.#calendar, this.#join(this.#carried, step ?? emptyBars()));
    if (this.#ended) return cells;
    const { whole, rest } = splitCells(cells, this.#range.descending);
    this.#carried = rest;
    return whole;
  }

  /** Bars in the direction of reading, as one ascending piece. */
  #join(before: Bars, after: Bars): Bars {
    return concatBars(this.#range.descending ? [after, before] : [before, after]);
  }

  #within(bars: Bars): Bars {
    return sliceBars(bars, lowerBound(bars, this.#range.fromMs), lowerBound(bars, this.#range.toMs));
  }
}

/** Bars in steps: each step ascends in itself, the steps follow the direction. */
export type BarStream = Stream<TimedBars>;

/** Bars of one series: stored at the asked interval, or derived from it. */
export type Part = { readonly series: Series; readonly timed: TimedBars };

/** Bars of an instrument in steps that are each from one series. None is empty; bars may be unfinished. */
export type PartStream = Stream<Part>;

/** The request that a stream is made for. `extended` is false where the bars are regular-hours data. */
export type StreamContext = {
  readonly reader: Reader;
  readonly calendar: Calendar;
  readonly interval: Interval;
  readonly extended: boolean;
  /**
   * Whether the bars will be adjusted: a series of adjusted prices is an error, and adjusted volumes are
   * marked (contract 9.4).
   */
  readonly rawOnly: boolean;
  /** Called for each series whose bars are used; null where nobody asks (contract 9.8). */
  readonly onUse: ((series: Series) => void) | null;
  /**
   * Takes the number of bars that were read but are outside the asked hours, or make a bar that is not
   * complete; absent if nobody counts them.
   */
  readonly onSkipped?: (count: number) => void;
  /** Takes the bars of a step of which some are left out as not finished; absent if nobody asks. */
  readonly onUnfinished?: (timed: TimedBars) => void;
};

/** The segments around bars, of which there is at least one. */
export function segmentsAround({ calendar, interval, extended }: StreamContext, bars: Bars): Segments {
  const scope = segmentScope(interval, extended);
  return calendar.segments(bars.keyMs[0]!, bars.keyMs[bars.count - 1]! + 1, scope);
}

/** Bars of the asked interval with their instants and label dates. */
export function withTimes(context: StreamContext, bars: Bars, offGrid: boolean): TimedBars {
  const { calendar, interval, extended } = context;
  if (isPeriod(interval) || bars.count === 0)
    return timePeriods(bars, calendar, interval as PeriodInterval, extended);
  const minutes = intervalMinutes(interval)!;
  if (!offGrid) return timeMinutes(bars, segmentsAround(context, bars), minutes);
  const endMs = bars.keyMs[bars.count - 1]! + minutes * MINUTE_MS;
  return timeOffGrid(bars, calendar.segments(bars.keyMs[0]!, endMs, 'all'), minutes, extended);
}

/** The bars of a series at its own interval that are in the asked hours. */
export function storedStream(context: StreamContext, series: Series, range: StreamRange): BarStream {
  const inHours = (bars: Bars): TimedBars | null => {
    const timed = withTimes(context, bars, series.isOffGrid);
    context.onSkipped?.(bars.count - timed.bars.count);
    return timed.bars.count === 0 ? null : timed;
  };
  return mapped(rowsOf(context, series, range), inHours, seriesLimits.skippedBarsPerStep);
}

/** The bars of a step that have closed by a moment (contract 3.9). */
export const finished = (timed: TimedBars, nowMs: number): TimedBars =>
  sliceTimed(timed, 0, countClosed(timed, nowMs));

/** Bars derived from a series, without those that are not complete (contract 3.9). */
async function completed(
  { interval, extended, onSkipped }: StreamContext,
  { series, timed }: Part,
  completeness: Completeness,
): Promise<TimedBars> {
  const { bars, openMs, closeMs } = timed;
  const { count } = bars;
  if (count === 0) return timed;
  if (completeness.covers(series, openMs[0]!, closeMs[count - 1]!)) return timed;
  const isComplete = new Uint8Array(count);
  for (let bar = 0; bar < count; bar++) {
    const [keyMs, from, to] = [bars.keyMs[bar]!, openMs[bar]!, closeMs[bar]!];
    const derived = { interval, extended, keyMs, closeMs: to };
    if (completeness.covers(series, from, to) || (await completeness.isComplete(series, derived)))
      isComplete[bar] = 1;
    else onSkipped?.((to - from) / MINUTE_MS / intervalMinutes(series.interval)!);
  }
  return filterTimed(timed, (bar) => isComplete[bar] === 1);
}

/** The bars that are served of those that were chosen. @throws Refusal */
export const servedParts = (
  context: StreamContext,
  parts: PartStream,
  { nowMs, completeness }: Moment,
): PartStream =>
  mapped(parts, async (part) => {
    const { series } = part;
    const isStored = series.interval === context.interval;
    const timed = isStored ? finished(part.timed, nowMs) : await completed(context, part, completeness);
    if (timed.bars.count < part.timed.bars.count) context.onUnfinished?.(part.timed);
    return timed.bars.count === 0 ? null : { series, timed: withBasis(context, series, timed) };
  });

/** How many bars of a step have closed by a moment: closes ascend with opens. */
function countClosed({ bars, closeMs }: TimedBars, ms: number): number {
  let { count } = bars;
  while (count > 0 && closeMs[count - 1]! > ms) count--;
  return count;
}

/**
 * The refusal of a series whose prices were adjusted before the import, by the basis `prices` (contract 9.4).
 */
const notRaw = (interval: Interval, prices: string): Refusal =>
  new Refusal('invalid_parameter', {
    message: `adjust must be none: the stored ${interval} bars had been adjusted when imported (--prices ${prices}), and only raw prices can be adjusted.`,
    param: 'adjust',
    allowed: ['none'],
    hint: 'Use adjust=none, or request another interval or range that has raw bars.',
  });

/**
 * Is called for each series whose bars are used. Whether its volumes are to be marked: they are adjusted for
 * splits already.
 * @throws Refusal where raw prices are needed and it has others
 */
export function useSeries({ rawOnly, onUse }: StreamContext, series: Series): boolean {
  const { interval, prices } = series;
  onUse?.(series);
  if (rawOnly && prices !== 'raw') throw notRaw(interval, prices);
  return rawOnly && volumeBasis(series) === 'split';
}

/**
 * Bars of one series that are used, marked where their volumes are adjusted for splits already. @throws
 * Refusal
 */
const withBasis = (context: StreamContext, series: Series, timed: TimedBars): TimedBars =>
  useSeries(context, series) ? { ...timed, splitVolume: new Uint8Array(timed.bars.count).fill(1) } : timed;
