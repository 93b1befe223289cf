// Checked bars -> the store: one open block a series, merged with what is stored, written when its bucket changes.
import { type Bars, emptyBars, lowerBound, mergeBars, reserve, valueColumns } from '../bars/bars.ts';
import { decodeBlock, wholeBlock } from '../bars/block-reader.ts';
import { encodeBlock } from '../bars/block-writer.ts';
import { bucketDays } from '../bars/bucket.ts';
import { countOffGrid, countOutside } from '../bars/grid.ts';
import { DAY_MS } from '../base/instant.ts';
import { type Calendar, findMarket } from '../calendar/calendar.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { limits } from '../contract/limits.ts';
import type { PriceBasis } from '../contract/price-basis.ts';
import { barCoverage, series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { instruments } from '../datasets/reference.ts';
import { changeOf, changeRow, recordBlock, rowKeyOf, wholeChange } from '../history/journal.ts';
import { newInstrument, nextValue } from '../history/new-instrument.ts';
import { Calendars } from '../series/calendars.ts';
import { coverageOwner } from '../series/series.ts';
import type { StoredBlock, Writer } from '../store/store.ts';
import { Spacing } from './spacing.ts';

/** Which series a bar belongs to. */
export type SeriesName = {
  readonly assetSchema: AssetSchema;
  readonly country: string;
  readonly symbol: string;
  readonly interval: Interval;
  /** Null where the file says nothing of it. */
  readonly exchange: string | null;
};

/** Rows that the load took in, and what it found in them. */
export type LoadCounts = {
  written: number;
  unchanged: number;
  newInstruments: number;
  /** Bars outside every segment: kept, not served. */
  outsideSessions: number;
  /** Bars off the session grid of their interval. */
  offGrid: number;
  /** Bars whose vwap lies outside their low and high. */
  vwapOutside: number;
  /** Bars of DAY on a date that the calendar holds closed: kept and served. */
  onClosedDays: number;
  /** Bars of the days in which epochs of our time lie when they are taken for a finer unit. */
  atEpoch: number;
};

/** Seconds of the year 2200 that are taken for milliseconds are as many days. */
const EPOCH_DAYS = 85;

/** Bytes of one bar in an open block. */
const BAR_BYTES = 64;

/** Emptied blocks kept to be filled again. */
const SPARE_MAX = 64;

/** The first identifier given out. */
const FIRST_SERIES_ID = 1;

/** The rows of one bucket of one series that this import has brought so far. */
type OpenBlock = {
  readonly bucket: number;
  readonly bars: Bars;
  /** What was stored in the bucket when it was opened, unless it is all this import's own. */
  readonly older: Bars | null;
  /** Rows counted when this block was written out before, to be counted anew. */
  readonly counted: { readonly written: number; readonly unchanged: number };
  /** Bars stored in the bucket when it was opened. */
  readonly storedCount: number;
  /** Bars in `bars` when it was opened. */
  readonly startCount: number;
};

/** A series being loaded. */
export class OpenSeries {
  readonly row: { -readonly [K in keyof RowOf<typeof seriesDataset>]: RowOf<typeof seriesDataset>[K] };
  readonly instrumentKey: string;
  readonly calendar: Calendar;
  readonly interval: Interval;
  readonly isNew: boolean;
  /** Whether its interval is one of minutes: its keys are open instants. */
  readonly isMinutes: boolean;
  /** Milliseconds of one bucket: `bars/bucket.ts`. */
  readonly bucketMs: number;
  open: OpenBlock | null = null;
  /** The highest bucket written out so far: those above it are untouched by this import. */
  highestBucket = Number.NEGATIVE_INFINITY;
  /** Of the instrument, as this import knows it. */
  exchange: string | null = null;
  /** Instant of the last row taken, to tell doubled hours apart. */
  beforeMs = Number.NaN;

  constructor(row: RowOf<typeof seriesDataset>, instrumentKey: string, calendar: Calendar, isNew: boolean) {
    this.row = { ...row };
    this.instrumentKey = instrumentKey;
    this.interval = row.interval as Interval;
    this.calendar = calendar;
    this.isNew = isNew;
    this.isMinutes = intervalMinutes(this.interval) !== null;
    this.bucketMs = (bucketDays(this.interval) ?? Number.POSITIVE_INFINITY) * DAY_MS;
  }

  /**
   * Adds the rows `from` to `to` of value columns, whose keys ascend within the open block's bucket. False, and nothing
   * done, when they do not all come after what the block holds.
   */
  append(keys: Float64Array, values: readonly Float64Array[], from: number, to: number): boolean {
    const { bars } = this.open!;
    const at = bars.count;
    if (at > 0 && keys[from]! <= bars.keyMs[at - 1]!) return false;
    reserve(bars, at + to - from);
    copyRun(bars.keyMs, at, keys, from, to);
    for (let column = 0; column < valueColumns.length; column++) {
      copyRun(bars[valueColumns[column]!], at, values[column]!, from, to);
    }
    bars.count = at + to - from;
    return true;
  }

  /**
   * Puts a row's bar in its place in the open block, which must be its bucket's. False, and nothing done, when the file has
   * brought this key with other values already.
   */
  insert(keyMs: number, values: readonly Float64Array[], row: number): boolean {
    const { bars } = this.open!;
    const at = lowerBound(bars, keyMs);
    if (at < bars.count && bars.keyMs[at] === keyMs) {
      return valueColumns.every((column, index) => Object.is(bars[column][at], values[index]![row]));
    }
    reserve(bars, bars.count + 1);
    if (at < bars.count) shift(bars, at);
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

/** Makes room for one bar at a place in the middle. */
function shift(bars: Bars, at: number): void {
  for (const column of ['keyMs', ...valueColumns] as const) {
    bars[column].copyWithin(at + 1, at, bars.count);
  }
}

/** Loads bars in one write of the store. */
export class BarLoad {
  readonly counts: LoadCounts = {
    written: 0,
    unchanged: 0,
    newInstruments: 0,
    outsideSessions: 0,
    offGrid: 0,
    vwapOutside: 0,
    onClosedDays: 0,
    atEpoch: 0,
  };
  readonly #spacing = new Spacing();
  readonly #writer: Writer;
  readonly #calendars = new Calendars();
  readonly #runId: number;
  readonly #basis: PriceBasis;
  readonly #series = new Map<string, OpenSeries>();
  readonly #coverage = new Map<
    string,
    { asset_schema: string; country_iso_code: string; interval: string }
  >();
  /** Instruments that the store does not know, until a bar of theirs comes. */
  readonly #unwritten = new Map<string, RowOf<typeof instruments>>();
  /** Arrays of blocks written out, to be filled again. */
  readonly #spare: Bars[] = [];
  #openBytes = 0;

  constructor(writer: Writer, runId: number, basis: PriceBasis) {
    this.#writer = writer;
    this.#runId = runId;
    this.#basis = basis;
  }

  /** The series of a name, made with its instrument where the store does not know it. Null when its prices have another basis. */
  async series(name: SeriesName): Promise<OpenSeries | null> {
    const key = `${name.assetSchema}:${name.country}:${name.symbol}:${name.interval}`;
    const known = this.#series.get(key);
    if (known !== undefined && (name.exchange === null || name.exchange === known.exchange)) return known;
    const instrument = await this.#instrument(name);
    if (known !== undefined) {
      known.exchange = instrument.exchange;
      return known;
    }
    const { calendar, market } = await this.#calendars.read(this.#writer, instrument);
    const [stored] = await this.#writer.rows(seriesDataset, {
      where: { instrument_id: instrument.instrument_id, interval: name.interval },
      order: [['interval', 'asc']],
      limit: 1,
    });
    if (stored !== undefined && stored.prices !== this.#basis) return null;
    const empty = {
      first_ms: Number.POSITIVE_INFINITY,
      last_ms: Number.NEGATIVE_INFINITY,
      bar_count: 0,
      off_grid: false,
    };
    const seriesId = stored?.series_id ?? (await nextValue(this.#writer, 'series_id', FIRST_SERIES_ID));
    const row = {
      instrument_id: instrument.instrument_id,
      interval: name.interval,
      series_id: seriesId,
      prices: this.#basis,
      ...(stored === undefined || stored.bar_count === 0 ? empty : stored),
    };
    const opened = new OpenSeries(row, rowKeyOf(instruments, instrument), calendar, stored === undefined);
    opened.exchange = instrument.exchange;
    this.#series.set(key, opened);
    const covered = { ...coverageOwner(instrument, market), interval: name.interval };
    this.#coverage.set(Object.values(covered).join(':'), covered);
    return opened;
  }

  async #instrument(name: SeriesName): Promise<RowOf<typeof instruments>> {
    const where = { asset_schema: name.assetSchema, country_iso_code: name.country, symbol: name.symbol };
    const [stored] = await this.#writer.rows(instruments, { where, order: [['symbol', 'asc']], limit: 1 });
    const known = stored ?? this.#unwritten.get(rowKeyOf(instruments, where));
    const exchange =
      name.exchange ??
      known?.exchange ??
      findMarket(name.assetSchema, name.country, known?.calendar_key)?.exchange ??
      null;
    if (known !== undefined && known.exchange === exchange) return known;
    const row = { ...(known ?? (await newInstrument(this.#writer, where))), exchange };
    if (stored === undefined) this.#unwritten.set(rowKeyOf(instruments, where), row);
    else await changeRow(this.#writer, this.#runId, instruments, stored, row);
    return row;
  }

  /** Writes a series' instrument where it is new: only a bar makes it, no row that is refused. */
  async #writeInstrument({ instrumentKey }: OpenSeries): Promise<void> {
    const row = this.#unwritten.get(instrumentKey);
    if (row === undefined) return;
    this.#unwritten.delete(instrumentKey);
    this.counts.newInstruments++;
    await changeRow(this.#writer, this.#runId, instruments, null, row);
  }

  /** Makes a bucket the open block of its series; the one open before is written out. */
  async turn(series: OpenSeries, bucket: number): Promise<void> {
    if (series.open !== null) await this.#flush(series);
    await this.#writeInstrument(series);
    if (this.#openBytes > limits.importOpenBytesMax) await this.settle();
    series.open = await this.#openBlock(series, bucket);
  }

  /** Writes every open block out: after it the counts are final. */
  async settle(): Promise<void> {
    for (const series of this.#series.values()) if (series.open !== null) await this.#flush(series);
  }

  /** Writes the settled load's series and coverage. */
  async finish(finishedMs: number): Promise<void> {
    for (const { row } of this.#series.values()) {
      if (row.bar_count > 0) await this.#writer.upsert(seriesDataset, [row]);
    }
    for (const covered of this.#coverage.values()) await this.#cover(covered, finishedMs);
  }

  async #cover(where: Omit<RowOf<typeof barCoverage>, 'finished_ms'>, finishedMs: number): Promise<void> {
    const [known] = await this.#writer.rows(barCoverage, { where, order: [['interval', 'asc']], limit: 1 });
    const row = { ...where, finished_ms: finishedMs };
    await changeRow(this.#writer, this.#runId, barCoverage, known ?? null, row);
  }

  async #stored(series: OpenSeries, bucket: number): Promise<StoredBlock | null> {
    const found = await this.#writer.blocks({
      seriesId: series.row.series_id,
      fromBucket: bucket,
      toBucket: bucket,
      direction: 'asc',
      limit: 1,
    });
    return found[0] ?? null;
  }

  async #openBlock(series: OpenSeries, bucket: number): Promise<OpenBlock> {
    const bare = this.#spare.pop() ?? emptyBars();
    const nothing = {
      bucket,
      bars: bare,
      older: null,
      counted: { written: 0, unchanged: 0 },
      storedCount: 0,
      startCount: 0,
    };
    if (bucket > series.highestBucket && series.isNew) return nothing;
    const stored = await this.#stored(series, bucket);
    if (stored === null) return nothing;
    const bars = decodeBlock(stored.bytes, wholeBlock);
    if (bucket > series.highestBucket) return { ...nothing, older: bars, storedCount: bars.count };
    // This import may have written the bucket out before: its own rows are in a note where older ones were there too.
    const note = await this.#writer.note(series.row.series_id, bucket);
    if (note !== null) {
      const own = decodeBlock(note, wholeBlock);
      this.#judge(series, own, -1);
      const counted = { written: 0, unchanged: own.count };
      return { bucket, bars: own, older: bars, counted, storedCount: bars.count, startCount: own.count };
    }
    if (stored.runId !== this.#runId) return { ...nothing, older: bars, storedCount: bars.count };
    this.#judge(series, bars, -1);
    const counted = { written: bars.count, unchanged: 0 };
    return { bucket, bars, older: null, counted, storedCount: bars.count, startCount: bars.count };
  }

  async #flush(series: OpenSeries): Promise<void> {
    const { row } = series;
    const { bucket, bars, older, counted, storedCount, startCount } = series.open!;
    series.open = null;
    this.#openBytes = Math.max(0, this.#openBytes - (bars.count - startCount) * BAR_BYTES);
    if (bars.count === 0) return;
    const change = older === null ? wholeChange : changeOf(bars, older);
    const written = change.added === null ? bars.count : change.added.count + change.before.count;
    this.counts.written += written - counted.written;
    this.counts.unchanged += bars.count - written - counted.unchanged;
    this.#judge(series, bars, 1);
    this.#spacing.take(series.interval, bars);
    const merged = older === null ? bars : mergeBars(older, bars);
    if (written > 0) {
      const { series_id } = row;
      await this.#writer.putBlock(series_id, { bucket, runId: this.#runId, bytes: encodeBlock(merged) });
      await recordBlock(this.#writer, { series_id, bucket, run_id: this.#runId }, change);
    }
    if (older !== null) await this.#writer.keepNote(row.series_id, bucket, encodeBlock(bars));
    row.bar_count += merged.count - storedCount;
    row.first_ms = Math.min(row.first_ms, merged.keyMs[0]!);
    row.last_ms = Math.max(row.last_ms, merged.keyMs[merged.count - 1]!);
    series.highestBucket = Math.max(series.highestBucket, bucket);
    bars.count = 0;
    if (this.#spare.length < SPARE_MAX) this.#spare.push(bars);
  }

  /** Finds bars outside the sessions and off their grid (contract 3.10), and a vwap that cannot be. A block that is opened again is judged anew. */
  #judge(series: OpenSeries, bars: Bars, sign: 1 | -1): void {
    this.counts.vwapOutside += sign * countVwapOutside(bars);
    this.counts.atEpoch += sign * (lowerBound(bars, EPOCH_DAYS * DAY_MS) - lowerBound(bars, 0));
    const minutes = intervalMinutes(series.interval);
    if (series.interval === 'DAY') this.counts.onClosedDays += sign * countClosed(bars, series.calendar);
    if (minutes === null) return;
    const segments = series.calendar.segments(bars.keyMs[0]!, bars.keyMs[bars.count - 1]! + 1, true);
    this.counts.outsideSessions += sign * countOutside(bars, segments);
    if (minutes === 1) return;
    const offGrid = countOffGrid(bars, segments, minutes);
    this.counts.offGrid += sign * offGrid;
    series.row.off_grid ||= offGrid > 0;
  }

  /** What is odd about bars that were taken all the same, and of how many. */
  findings(): Record<string, number> {
    const { onClosedDays, atEpoch } = this.counts;
    return {
      ...(onClosedDays > 0 ? { 'on days that the market is closed, stored and served': onClosedDays } : {}),
      ...(atEpoch > 0 ? { 'of the first weeks of 1970, as epochs in the wrong unit are': atEpoch } : {}),
      ...this.#spacing.findings(),
    };
  }

  /** Tells the load that open blocks have grown by some bars. */
  grew(count: number): void {
    this.#openBytes += count * BAR_BYTES;
  }
}

/** How many bars of days are of one without a session (contract 3.10). */
function countClosed({ count, keyMs }: Bars, calendar: Calendar): number {
  let closed = 0;
  for (let index = 0; index < count; index++) {
    const day = keyMs[index]! / DAY_MS;
    if (calendar.sessionOnOrBefore(day)?.day !== day) closed++;
  }
  return closed;
}

/** How many bars have a vwap outside their low and high (contract 11). */
function countVwapOutside({ count, low, high, vwap }: Bars): number {
  let outside = 0;
  for (let index = 0; index < count; index++) {
    if (vwap[index]! < low[index]! || vwap[index]! > high[index]!) outside++;
  }
  return outside;
}
