// A series that an import loads: its open block, and what the import has seen of it.
import { bucketDays } from '../bars/bucket.ts';
import { type Bars, lowerBound, reserve, valueColumns } from '../bars/columns.ts';
import { DAY_MS } from '../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import type { series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { type Instrument, instruments } from '../datasets/reference.ts';
import { rowKeyOf } from '../history/journal.ts';
import type { Unfinished } from '../history/unfinished.ts';
import type { RepairedBlocks } from './repaired-blocks.ts';

/** The rows of one bucket of one series in this import so far. */
export type OpenBlock = {
  readonly bucket: number;
  readonly bars: Bars;
  /** The stored bars of the bucket when it was opened, unless all are this import's own. */
  readonly older: Bars | null;
  /** Rows that were counted when this block was written before: they are counted again. */
  readonly counted: { readonly written: number; readonly unchanged: number };
  /** Bars stored in the bucket when it was opened. */
  readonly storedCount: number;
};

/** A series that is being loaded. */
export class OpenSeries {
  readonly row: { -readonly [K in keyof RowOf<typeof seriesDataset>]: RowOf<typeof seriesDataset>[K] };
  readonly instrument: Instrument;
  readonly instrumentKey: string;
  readonly calendar: Calendar;
  readonly interval: Interval;
  readonly isNew: boolean;
  /** Whether its interval is one of minutes: its keys are open instants. */
  readonly isMinutes: boolean;
  /** Milliseconds of one bucket: `bars/bucket.ts`. */
  readonly bucketMs: number;
  open: OpenBlock | null = null;
  /** Whether its prices may be zero and negative. */
  readonly anySign: boolean;
  /** The highest bucket written so far: this import has not touched higher ones. */
  highestBucket = Number.NEGATIVE_INFINITY;
  /** Of the instrument, as this import knows it. */
  exchange: string | null;
  /** As `marketName` gives it. */
  readonly market: string;
  /** Its bars that closed after the start of the runs that hold them. */
  readonly unfinished: Unfinished;
  /** Its damaged blocks that this import replaces. */
  readonly repaired: RepairedBlocks;
  /** Whether this import holds a bar of it, and the key of the last one that had opened when the import began. */
  holds = false;
  lastOpenedMs = Number.NEGATIVE_INFINITY;
  /** Instant of the row before: it tells which of a repeated hour a local time means. */
  beforeMs = Number.NaN;

  constructor(
    row: RowOf<typeof seriesDataset>,
    instrument: Instrument,
    place: { readonly calendar: Calendar; readonly market: string },
    isNew: boolean,
    { unfinished, repaired }: { readonly unfinished: Unfinished; readonly repaired: RepairedBlocks },
  ) {
    this.row = { ...row };
    this.unfinished = unfinished;
    this.repaired = repaired;
    this.instrument = instrument;
    this.market = place.market;
    this.instrumentKey = rowKeyOf(instruments, instrument);
    this.anySign = instrument.asset_schema === 'future';
    this.exchange = instrument.exchange;
    this.interval = row.interval as Interval;
    this.calendar = place.calendar;
    this.isNew = isNew;
    this.isMinutes = intervalMinutes(this.interval) !== null;
    this.bucketMs = (bucketDays(this.interval) ?? Number.POSITIVE_INFINITY) * DAY_MS;
  }

  /**
   * Appends the rows `from` to `to` of value columns, whose keys ascend within the open block's bucket. False, and nothing
   * appended, where the block has later bars.
   */
  append(keys: Float64Array, values: readonly Float64Array[], from: number, to: number): boolean {
    const { bars } = this.open!;
    const at = bars.count;
    if (at > 0 && keys[from]! <= bars.keyMs[at - 1]!) return false;
    reserve(bars, at + to - from);
    copyRun(bars.keyMs, at, keys, from, to);
    for (let column = 0; column < valueColumns.length; column++)
      copyRun(bars[valueColumns[column]!], at, values[column]!, from, to);
    bars.count = at + to - from;
    return true;
  }

  /**
   * Inserts a row's bar into the open block, which must be its bucket's. False, and nothing inserted, where the block has
   * this key with other values.
   */
  insert(keyMs: number, values: readonly Float64Array[], row: number): boolean {
    const { bars } = this.open!;
    const at = lowerBound(bars, keyMs);
    if (at < bars.count && bars.keyMs[at] === keyMs)
      return valueColumns.every((column, index) => Object.is(bars[column][at], values[index]![row]));
    reserve(bars, bars.count + 1);
    for (const column of ['keyMs', ...valueColumns] as const) bars[column].copyWithin(at + 1, at, bars.count);
    bars.keyMs[at] = keyMs;
    for (const [index, column] of valueColumns.entries()) bars[column][at] = values[index]![row]!;
    bars.count++;
    return true;
  }
}

/** Runs shorter than this are copied faster one by one. */
const SHORT_RUN = 16;

function copyRun(target: Float64Array, at: number, source: Float64Array, from: number, to: number): void {
  if (to - from < SHORT_RUN) for (let row = from; row < to; row++) target[at + row - from] = source[row]!;
  else target.set(source.subarray(from, to), at);
}
