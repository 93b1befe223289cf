// Bars of one series, read step by step in either direction: as stored, or derived to a coarser interval.
import { appendBars, type Bars, concatBars, emptyBars, lowerBound, sliceBars } from '../bars/bars.ts';
import { DamagedBlock, RUN_BARS } from '../bars/block.ts';
import { decodeBlock } from '../bars/block-reader.ts';
import { bucketOf } from '../bars/bucket.ts';
import {
  type CellBars,
  dayCells,
  minuteCells,
  periodCells,
  sliceTimed,
  type TimedBars,
  timeMinutes,
  timePeriods,
} from '../bars/grid.ts';
import { resample } from '../bars/resample.ts';
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { isPeriod, type PeriodInterval, periodEnd, periodStart } from '../calendar/period.ts';
import type { Segments } from '../calendar/session.ts';
import { Refusal } from '../contract/errors.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { limits } from '../contract/limits.ts';
import type { Reader, StoredBlock } from '../store/store.ts';
import type { Series } from './lookup.ts';

/** What a stream gives: keys of the asked interval in `[fromMs, toMs)`, from one end of it to the other. */
export type StreamRange = { readonly fromMs: number; readonly toMs: number; readonly descending: boolean };

/** Bars in steps: each step ascends in itself, the steps follow the direction. Null at the end. */
export type BarStream = { next(atLeast: number): Promise<TimedBars | null> };

/** What streams are made for. `extended` is false where the bars are regular-hours data. */
export type StreamContext = {
  readonly reader: Reader;
  readonly calendar: Calendar;
  readonly interval: Interval;
  readonly extended: boolean;
  /** Whether bars of prices that were adjusted already are refused (contract 9.4). */
  readonly rawOnly: boolean;
};

/** Bars that a block of a liquid instrument holds at the least, to guess how many blocks a step needs. */
const BARS_PER_BLOCK_GUESS = 300;
const BLOCKS_PER_READ_MAX = 64;

/** Walks the stored bars of one series between two keys. */
class SeriesCursor implements BarSource {
  readonly #reader: Reader;
  readonly #series: Series;
  readonly #descending: boolean;
  #fromMs: number;
  #toMs: number;
  #blocks: StoredBlock[] = [];
  #fromBucket: number;
  #toBucket: number;
  #exhausted = false;

  constructor(reader: Reader, series: Series, range: StreamRange) {
    this.#reader = reader;
    this.#series = series;
    this.#descending = range.descending;
    // Nothing lies outside the series' own span, however wide the range is.
    this.#fromMs = Math.max(range.fromMs, series.first_ms);
    this.#toMs = Math.min(range.toMs, series.last_ms + 1);
    this.#fromBucket = bucketOf(series.interval, this.#fromMs);
    this.#toBucket = bucketOf(series.interval, this.#toMs - 1);
  }

  /** The next bars in the direction, ascending in themselves: at least `atLeast` while there are so many. Null at the end. */
  async next(atLeast: number): Promise<Bars | null> {
    return this.#descending ? this.#nextDescending(atLeast) : this.#nextAscending(atLeast);
  }

  async #nextAscending(atLeast: number): Promise<Bars | null> {
    const target = emptyBars(Math.min(atLeast, limits.barsPerStepMax) + 2 * RUN_BARS);
    while (target.count < atLeast && this.#fromMs < this.#toMs) {
      const block = await this.#block(atLeast - target.count);
      if (block === undefined) break;
      const before = target.count;
      this.#decode(block, atLeast - before, target);
      if (target.count === before) this.#blocks.shift();
      // What a run held beyond the count is read again when it is asked for.
      target.count = Math.min(target.count, Math.max(atLeast, before));
      if (target.count > before) this.#fromMs = target.keyMs[target.count - 1]! + 1;
    }
    return target.count === 0 ? null : target;
  }

  async #nextDescending(atLeast: number): Promise<Bars | null> {
    const parts: Bars[] = [];
    let count = 0;
    while (count < atLeast && this.#fromMs < this.#toMs) {
      const block = await this.#block(atLeast - count);
      if (block === undefined) break;
      const part = this.#decode(block, atLeast - count, emptyBars());
      count += part.count;
      if (part.count === 0) this.#blocks.shift();
      else {
        this.#toMs = part.keyMs[0]!;
        parts.push(part);
      }
    }
    return parts.length === 0 ? null : concatBars(parts.reverse());
  }

  async #block(wanted: number): Promise<StoredBlock | undefined> {
    if (this.#blocks.length === 0 && !this.#exhausted) {
      const limit = Math.min(Math.ceil(wanted / BARS_PER_BLOCK_GUESS) + 1, BLOCKS_PER_READ_MAX);
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

  #decode(block: StoredBlock, atLeast: number, target: Bars): Bars {
    try {
      const range = {
        fromMs: this.#fromMs,
        toMs: this.#toMs,
        atLeast,
        descending: this.#descending,
      };
      return decodeBlock(block.bytes, range, target);
    } catch (error) {
      if (!(error instanceof DamagedBlock)) throw error;
      const name = `series ${this.#series.series_id} (${this.#series.interval}), bucket ${block.bucket}`;
      throw new Error(`${name}: ${error.message}`, { cause: error });
    }
  }
}

/** Keeps the bars whose keys lie in the range. */
function within(timed: TimedBars, range: StreamRange): TimedBars {
  const from = lowerBound(timed.bars, range.fromMs);
  const to = lowerBound(timed.bars, range.toMs);
  return from === 0 && to === timed.bars.count ? timed : sliceTimed(timed, from, to);
}

/** The segments around bars, of which there is at least one. */
function segmentsAround({ calendar, extended }: StreamContext, bars: Bars): Segments {
  return calendar.segments(bars.keyMs[0]!, bars.keyMs[bars.count - 1]! + 1, extended);
}

function time(context: StreamContext, bars: Bars, offGrid: boolean): TimedBars {
  const { calendar, interval, extended } = context;
  if (isPeriod(interval) || bars.count === 0)
    return timePeriods(bars, calendar, interval as PeriodInterval, extended);
  return timeMinutes(bars, segmentsAround(context, bars), intervalMinutes(interval)!, offGrid);
}

/** The bars of a series at its own interval. */
export function storedStream(context: StreamContext, series: Series, range: StreamRange): BarStream {
  const cursor = new SeriesCursor(context.reader, series, range);
  return {
    async next(atLeast) {
      const bars = await cursor.next(atLeast);
      return bars === null ? null : time(context, bars, series.off_grid);
    },
  };
}

/** Where base bars may lie that belong to the asked cells of a range. */
function baseRange(context: StreamContext, base: Interval, range: StreamRange): StreamRange {
  const { interval } = context;
  if (!isPeriod(interval)) {
    const stepMs = intervalMinutes(interval)! * MINUTE_MS;
    return { ...range, fromMs: range.fromMs, toMs: range.toMs + stepMs };
  }
  const startMs = periodStart(interval, Math.ceil(range.fromMs / DAY_MS)) * DAY_MS;
  const endMs = periodEnd(interval, periodStart(interval, Math.ceil(range.toMs / DAY_MS) - 1)) * DAY_MS;
  // A session may lie up to two UTC days from its label.
  const slack = isPeriod(base) ? 0 : 2 * DAY_MS;
  return { ...range, fromMs: startMs - slack, toMs: endMs + slack };
}

/** More base bars than one bar of the asked interval is made of. */
function basePerBar(interval: Interval, base: Interval): number {
  const baseMinutes = intervalMinutes(base);
  const days = interval === 'MON' ? 31 : interval === 'WEEK' ? 7 : 1;
  const askedMinutes = intervalMinutes(interval) ?? days * 1440;
  return baseMinutes === null ? days : Math.ceil(askedMinutes / baseMinutes);
}

/** Where base bars come from, ascending in each step. */
export type BarSource = { next(atLeast: number): Promise<Bars | null> };

/** The stored bars that a range of the asked interval is derived from. */
export function baseSource(context: StreamContext, series: Series, range: StreamRange): BarSource {
  return new SeriesCursor(context.reader, series, baseRange(context, series.interval, range));
}

function cellsOf(context: StreamContext, base: Interval, bars: Bars): CellBars {
  const { interval } = context;
  if (!isPeriod(interval))
    return minuteCells(
      bars,
      segmentsAround(context, bars),
      intervalMinutes(interval)!,
      intervalMinutes(base)!,
    );
  return isPeriod(base)
    ? dayCells(bars, interval)
    : periodCells(bars, segmentsAround(context, bars), interval);
}

/** Parts the whole cells from the one at the far end, which the next step may still add to. */
function partCells({ bars, cellMs }: CellBars, descending: boolean): { whole: CellBars; rest: Bars } {
  let at = descending ? 0 : bars.count - 1;
  const far = cellMs[at];
  if (descending) {
    while (at < bars.count && cellMs[at] === far) at++;
    return {
      whole: { bars: sliceBars(bars, at, bars.count), cellMs: cellMs.subarray(at) },
      rest: sliceBars(bars, 0, at),
    };
  }
  while (at >= 0 && cellMs[at] === far) at--;
  return { whole: { bars: sliceBars(bars, 0, at + 1), cellMs }, rest: sliceBars(bars, at + 1, bars.count) };
}

/** What a derived stream is made of. */
export type Derivation = {
  readonly source: BarSource;
  readonly base: Interval;
  readonly range: StreamRange;
  /** Adds base bars to those of whole cells before they are folded. */
  readonly complete?: (bars: Bars) => Promise<Bars>;
};

/** Bars of a coarser interval made from base bars, cell by cell; no cell is cut by a step. */
export function derivedStream(
  context: StreamContext,
  { source, base, range, complete }: Derivation,
): BarStream {
  const perBar = basePerBar(context.interval, base);
  let carried: Bars = emptyBars();
  let ended = false;
  return {
    async next(atLeast) {
      while (!ended) {
        const step = await source.next(Math.min((atLeast + 1) * perBar, limits.barsPerStepMax));
        ended = step === null;
        const bars = joinStep(carried, step, range.descending);
        if (bars.count === 0) continue;
        const cells = cellsOf(context, base, bars);
        const { whole, rest } = ended
          ? { whole: cells, rest: emptyBars() }
          : partCells(cells, range.descending);
        carried = rest;
        const filled = complete === undefined ? whole : cellsOf(context, base, await complete(whole.bars));
        const timed = within(time(context, resample(filled), false), range);
        if (timed.bars.count > 0) return timed;
      }
      return null;
    },
  };
}

function joinStep(carried: Bars, step: Bars | null, descending: boolean): Bars {
  if (step === null) return carried;
  if (carried.count === 0) return step;
  const joined = emptyBars(carried.count + step.count);
  appendBars(joined, descending ? step : carried);
  appendBars(joined, descending ? carried : step);
  return joined;
}

/** One stream after the other. */
export function sequence(streams: readonly BarStream[]): BarStream {
  let at = 0;
  return {
    async next(atLeast) {
      while (at < streams.length) {
        const step = await streams[at]!.next(atLeast);
        if (step !== null) return step;
        at++;
      }
      return null;
    },
  };
}

/** Only bars that were finished at a moment: `close_datetime <= limitMs` (contract 3.9). */
export function finished(stream: BarStream, limitMs: number): BarStream {
  return {
    async next(atLeast) {
      for (;;) {
        const step = await stream.next(atLeast);
        if (step === null) return null;
        // Closes ascend with opens, so the unfinished stand at the end.
        let count = step.bars.count;
        while (count > 0 && step.closeMs[count - 1]! > limitMs) count--;
        if (count > 0) return count === step.bars.count ? step : sliceTimed(step, 0, count);
      }
    },
  };
}

/** Two streams by key; where both have one, `upper` wins. Bars that were not finished at their stream's moment are left out after that. */
export function overlay(
  upper: { readonly stream: BarStream; readonly limitOf: (keyMs: number) => number },
  lower: { readonly stream: BarStream; readonly limitOf: (keyMs: number) => number },
  descending: boolean,
): BarStream {
  const heads = [
    new Head(upper.stream, upper.limitOf, descending),
    new Head(lower.stream, lower.limitOf, descending),
  ] as const;
  return {
    async next(atLeast) {
      const rows: TimedBars[] = [];
      while (rows.length < atLeast) {
        const [first, second] = [await heads[0].key(), await heads[1].key()];
        if (first === null && second === null) break;
        const upperLeads =
          second === null || (first !== null && (descending ? first >= second : first <= second));
        if (first === second) heads[1].take();
        const { row, done } = heads[upperLeads ? 0 : 1].take();
        if (done) rows.push(row);
      }
      if (rows.length === 0) return null;
      return concatTimed(descending ? rows.reverse() : rows);
    },
  };
}

/** The bar at the front of a stream. */
class Head {
  readonly #stream: BarStream;
  readonly #limitOf: (keyMs: number) => number;
  readonly #descending: boolean;
  #step: TimedBars | null = null;
  #left = 0;

  constructor(stream: BarStream, limitOf: (keyMs: number) => number, descending: boolean) {
    this.#stream = stream;
    this.#limitOf = limitOf;
    this.#descending = descending;
  }

  get #at(): number {
    return this.#descending ? this.#left - 1 : this.#step!.bars.count - this.#left;
  }

  async key(): Promise<number | null> {
    if (this.#left === 0) {
      this.#step = await this.#stream.next(BARS_PER_BLOCK_GUESS);
      this.#left = this.#step?.bars.count ?? 0;
    }
    return this.#step === null ? null : this.#step.bars.keyMs[this.#at]!;
  }

  /** The bar whose key was asked for, and whether it was finished. */
  take(): { row: TimedBars; done: boolean } {
    const at = this.#at;
    const row = sliceTimed(this.#step!, at, at + 1);
    this.#left--;
    return { row, done: row.closeMs[0]! <= this.#limitOf(row.bars.keyMs[0]!) };
  }
}

/** The bars of a stream from one series. @throws Refusal at the first that are not raw, where they must be (contract 9.4) */
export function ofBasis(context: StreamContext, series: Series, stream: BarStream): BarStream {
  if (!context.rawOnly || series.prices === 'raw') return stream;
  return {
    async next(atLeast) {
      const step = await stream.next(atLeast);
      if (step === null) return null;
      throw new Refusal('invalid_parameter', {
        message: `adjust must be none here: the prices of the ${series.interval} bars that this is answered from were adjusted before they were imported (--prices ${series.prices}), and only raw ones can be adjusted.`,
        param: 'adjust',
        allowed: ['none'],
        hint: 'Ask with adjust=none; or for another interval or range, where raw bars are stored.',
      });
    },
  };
}

/** Several runs of timed bars as one, in the order given. */
export function concatTimed(parts: readonly TimedBars[]): TimedBars {
  const bars = concatBars(parts.map((part) => part.bars));
  const timed = {
    bars,
    openMs: new Float64Array(bars.count),
    closeMs: new Float64Array(bars.count),
    day: new Int32Array(bars.count),
  };
  let at = 0;
  for (const part of parts) {
    const { count } = part.bars;
    timed.openMs.set(part.openMs.subarray(0, count), at);
    timed.closeMs.set(part.closeMs.subarray(0, count), at);
    timed.day.set(part.day.subarray(0, count), at);
    at += count;
  }
  return timed;
}
