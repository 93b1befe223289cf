// A series that an import loads: its open block, and what the import has seen of it.
import { DAY_MS } from '../../base/instant.ts';
import { type Interval, intervalMinutes } from '../../contract/interval.ts';
import { bucketDays } from '../../market/bars/block.ts';
import {
  type Bars,
  columns,
  copyRun,
  emptyBars,
  lowerBound,
  reserve,
  valueColumns,
} from '../../market/bars/columns.ts';
import type { Calendar } from '../../market/calendar/calendar.ts';
import type { Brought } from '../../series/brought.ts';
import { namingDamage } from '../../series/damaged-bars.ts';
import { blockAt, openBlock } from '../../store/all-blocks.ts';
import type { series as seriesDataset } from '../../store/schema/bars.ts';
import type { RowOf } from '../../store/schema/dataset.ts';
import type { InstrumentName } from '../../store/schema/reference.ts';
import type { StoredBlock, Writer } from '../../store/store.ts';
import { RowOrder } from '../map/instant-cell.ts';

/** Bars of one segment: its columns follow each other. */
const SEGMENT_BARS = 32;
const SEGMENT_NUMBERS = SEGMENT_BARS * columns.length;

/** Segments that are made at a time: at first those of a small file, at most a MiB or two. */
const SEGMENTS_MIN = 16;
const SEGMENTS_MAX = 1024;

/** Segments that no block uses. */
export class Segments {
  readonly #free: Float64Array[] = [];
  #count = SEGMENTS_MIN;

  take(): Float64Array {
    if (this.#free.length === 0) this.#make();
    return this.#free.pop()!;
  }

  give(segments: readonly Float64Array[]): void {
    for (const segment of segments) this.#free.push(segment);
  }

  #make(): void {
    const all = new Float64Array(this.#count * SEGMENT_NUMBERS);
    for (let at = all.length; at > 0; at -= SEGMENT_NUMBERS)
      this.#free.push(all.subarray(at - SEGMENT_NUMBERS, at));
    this.#count = Math.min(2 * this.#count, SEGMENTS_MAX);
  }
}

/**
 * The rows of one open block, ascending: while they are appended, in short segments of shared arrays, so that
 * thousands of blocks grow at once without garbage.
 */
export class OpenRows {
  readonly #shared: Segments;
  #segments: Float64Array[] = [];
  #count = 0;
  #lastMs = Number.NEGATIVE_INFINITY;
  /** All rows, once one was inserted among them. */
  #bars: Bars | null;

  /** `bars` are the rows that it has at first, null for none. */
  constructor(shared: Segments, bars: Bars | null) {
    this.#shared = shared;
    this.#bars = bars;
  }

  /**
   * Appends the rows `from` to `to` of value columns, whose keys ascend. False, and nothing appended, where
   * it has later rows.
   */
  append(keys: Float64Array, values: readonly Float64Array[], from: number, to: number): boolean {
    if (this.#bars !== null) return appendRun(this.#bars, keys, values, from, to);
    if (keys[from]! <= this.#lastMs) return false;
    for (let row = from; row < to; ) {
      const at = this.#count % SEGMENT_BARS;
      if (at === 0) this.#segments.push(this.#shared.take());
      const segment = this.#segments[this.#segments.length - 1]!;
      const end = Math.min(to, row + SEGMENT_BARS - at);
      copyRun(segment, at, keys, row, end);
      for (let column = 0; column < values.length; column++)
        copyRun(segment, (column + 1) * SEGMENT_BARS + at, values[column]!, row, end);
      this.#count += end - row;
      row = end;
    }
    this.#lastMs = keys[to - 1]!;
    return true;
  }

  /** Inserts a row. False, and nothing inserted, where the key is there with other values. */
  insert(keyMs: number, values: readonly Float64Array[], row: number): boolean {
    this.#bars ??= this.take(emptyBars());
    const bars = this.#bars;
    const at = lowerBound(bars, keyMs);
    if (at < bars.count && bars.keyMs[at] === keyMs)
      return valueColumns.every((column, index) => Object.is(bars[column][at], values[index]![row]));
    reserve(bars, bars.count + 1);
    for (const column of columns) bars[column].copyWithin(at + 1, at, bars.count);
    bars.keyMs[at] = keyMs;
    for (const [index, column] of valueColumns.entries()) bars[column][at] = values[index]![row]!;
    bars.count++;
    return true;
  }

  /** All rows, in `into` where they were in segments: those are free again. */
  take(into: Bars): Bars {
    if (this.#bars !== null) return this.#bars;
    reserve(into, this.#count);
    for (const [place, column] of columns.entries()) {
      const target = into[column];
      for (let index = 0, at = 0; at < this.#count; index++, at += SEGMENT_BARS) {
        const from = place * SEGMENT_BARS;
        const count = Math.min(SEGMENT_BARS, this.#count - at);
        copyRun(target, at, this.#segments[index]!, from, from + count);
      }
    }
    into.count = this.#count;
    this.#shared.give(this.#segments);
    this.#segments = [];
    return into;
  }
}

/** Appends rows to bars. False, and nothing appended, where they have later ones. */
function appendRun(
  bars: Bars,
  keys: Float64Array,
  values: readonly Float64Array[],
  from: number,
  to: number,
): boolean {
  const at = bars.count;
  if (at > 0 && keys[from]! <= bars.keyMs[at - 1]!) return false;
  reserve(bars, at + to - from);
  copyRun(bars.keyMs, at, keys, from, to);
  for (const [column, name] of valueColumns.entries()) copyRun(bars[name], at, values[column]!, from, to);
  bars.count = at + to - from;
  return true;
}

/** The rows of one bucket of one series in this import so far. */
export type OpenBlock = {
  readonly bucket: number;
  readonly rows: OpenRows;
  /**
   * What is stored in the bucket; null where this import has not written it: then it is read when the block
   * is written.
   */
  readonly stored: StoredBars | null;
  /** The journal's entry of this import in the bucket; null where it has none. */
  readonly own: Brought | null;
  /** Rows that were counted when this block was written before: they are counted again. */
  readonly counted: { readonly written: number; readonly unchanged: number };
  /** The bars that it held when it was opened, those in `stored` included. */
  readonly heldAtFirst: number;
};

/** The stored bars of a bucket, without this import's own where all are, and their number. */
type StoredBars = { readonly older: Bars | null; readonly count: number };

/** The exchange, calendar and market of a series that is loaded. */
type SeriesPlace = {
  /** Of its instrument. */
  readonly exchange: string | null;
  readonly calendar: Calendar;
  /** As `marketName` gives it. */
  readonly market: string;
};

/**
 * A series that is being loaded. An import has one for each of its series until it ends: a million take much
 * memory.
 */
export class OpenSeries {
  readonly row: { -readonly [K in keyof RowOf<typeof seriesDataset>]: RowOf<typeof seriesDataset>[K] };
  readonly instrument: InstrumentName;
  readonly calendar: Calendar;
  readonly interval: Interval;
  readonly isNew: boolean;
  /** Whether its interval is one of minutes: its keys are open instants. */
  readonly isMinutes: boolean;
  /** Milliseconds of one bucket: `market/bars/block.ts`. */
  readonly bucketMs: number;
  open: OpenBlock | null = null;
  /**
   * Its other open blocks by bucket, once its rows went back to an earlier one: rows in no order then write
   * each block seldom.
   */
  #others: Map<number, OpenBlock> | null = null;
  /** Whether its prices may be zero and negative. */
  readonly anySign: boolean;
  /** The highest bucket written so far: this import has not touched higher ones. */
  highestBucket = Number.NEGATIVE_INFINITY;
  /** Of the instrument, as this import knows it. */
  exchange: string | null;
  /** As `marketName` gives it. */
  readonly market: string;
  /** The key of its last bar before this import; null without one. */
  readonly lastBeforeMs: number | null;
  /** Whether a bar of this import is off the session grid. */
  isOffGrid = false;
  /** Whether a bar of this import at the first open of its session shows that bars are dated by their open. */
  isDatedByOpen = false;
  /** The key of the first bar of it that this import holds; infinite where it holds none. */
  firstMs = Number.POSITIVE_INFINITY;
  /** The order of its rows in the file: it shows which of a repeated hour a local time means. */
  readonly order = new RowOrder();

  constructor(
    row: RowOf<typeof seriesDataset>,
    instrument: InstrumentName,
    place: SeriesPlace,
    isNew: boolean,
  ) {
    this.row = row;
    this.instrument = instrument;
    this.market = place.market;
    this.anySign = instrument.asset_schema === 'future';
    this.exchange = place.exchange;
    this.interval = row.interval as Interval;
    this.calendar = place.calendar;
    this.isNew = isNew;
    this.isMinutes = intervalMinutes(this.interval) !== null;
    this.bucketMs = (bucketDays(this.interval) ?? Number.POSITIVE_INFINITY) * DAY_MS;
    this.lastBeforeMs = row.bar_count > 0 ? row.last_ms : null;
  }

  get seriesId(): number {
    return this.row.series_id;
  }

  /** All its open blocks are given, and it has none. */
  takeOpen(): OpenBlock[] {
    const found = [...(this.#others?.values() ?? []), ...(this.open === null ? [] : [this.open])];
    this.#others?.clear();
    this.open = null;
    return found;
  }

  /**
   * Keeps its open block beside the next one, where its rows are in no order; else it is given, to be
   * written.
   */
  takePassed(): OpenBlock | null {
    const { open } = this;
    this.open = null;
    if (open === null || this.#others === null) return open;
    this.#others.set(open.bucket, open);
    return null;
  }

  /** A block that it has kept open is open again; false where it has none of this bucket. */
  reopen(bucket: number): boolean {
    // Its rows went back to an earlier bucket.
    if (bucket <= this.highestBucket) this.#others ??= new Map();
    this.open = this.#others?.get(bucket) ?? null;
    this.#others?.delete(bucket);
    return this.open !== null;
  }

  /** The stored bars of a bucket; `found` is its block where that was looked up. @throws DamagedData */
  async storedIn(writer: Writer, bucket: number, found?: StoredBlock | null): Promise<StoredBars> {
    const { seriesId } = this;
    const opened =
      found === undefined
        ? blockAt(writer, seriesId, bucket)
        : Promise.try(() => (found === null ? null : openBlock(seriesId, found)));
    const stored = await namingDamage(writer, opened);
    return { older: stored?.bars ?? null, count: stored?.bars.count ?? 0 };
  }

  /** The stored bars below a block that is being written; `found` as in `storedIn`. */
  async storedBelow(
    writer: Writer,
    { bucket, stored }: OpenBlock,
    found?: StoredBlock | null,
  ): Promise<StoredBars> {
    if (stored !== null) return stored;
    return this.isNew ? { older: null, count: 0 } : this.storedIn(writer, bucket, found);
  }
}
