// Writes checked bars to the store: an open block a series, several where rows are in no order, each merged
// with the stored one.

import { decodeIds, encodeIds } from '../../base/id-list.ts';
import { DAY_MS, formatInstant, MINUTE_MS } from '../../base/instant.ts';
import { firstWhere } from '../../base/search.ts';
import { type Interval, intervalMinutes } from '../../contract/interval.ts';
import { limits } from '../../contract/limits.ts';
import { type BarBasis, volumeBasis } from '../../contract/price-basis.ts';
import { passingBlock } from '../../market/bars/block-writer.ts';
import { type Bars, emptyBars, filterBars, lowerBound, mergeBars } from '../../market/bars/columns.ts';
import { countOffGrid, countOutside, timeOffGrid } from '../../market/bars/grid.ts';
import { closesAfter } from '../../market/calendar/bar-end.ts';
import type { Market } from '../../market/calendar/market.ts';
import { type BlockPlace, broughtTo, newBlock } from '../../runs/journal.ts';
import type { KnownName } from '../../runs/new-instrument.ts';
import { changesBar, hasBar } from '../../series/brought.ts';
import { Calendars } from '../../series/calendars.ts';
import { firstAfter } from '../../series/future-bars.ts';
import { marketName } from '../../series/series.ts';
import { rowsWith, rowWith } from '../../store/all-rows.ts';
import { unlessDamaged } from '../../store/damage.ts';
import { rowKeyOf } from '../../store/journal-entries.ts';
import { runSpans, series as seriesDataset } from '../../store/schema/bars.ts';
import type { RowOf } from '../../store/schema/dataset.ts';
import { type Instrument, type InstrumentName, instruments } from '../../store/schema/reference.ts';
import type { StoredBlock, Writer } from '../../store/store.ts';
import { countClosed, countVwapOutside } from './bar-counts.ts';
import { BlockJournal } from './block-journal.ts';
import { HeldSpans } from './held-spans.ts';
import type { OpenTime } from './import-report.ts';
import { LoadedInstruments } from './loaded-instruments.ts';
import { OpenRows, Segments } from './open-rows.ts';
import { type OpenBlock, OpenSeries } from './open-series.ts';
import type { PresentRun } from './run.ts';
import { Spacing } from './spacing.ts';
import type { SymbolsOnDays } from './symbols-on-days.ts';

/** Which series a bar belongs to. */
export type SeriesName = InstrumentName & {
  readonly interval: Interval;
  /** Null where the file names none. */
  readonly exchange: string | null;
};

/** An epoch in seconds up to the year 2200, read as milliseconds, is within so many days. */
const EPOCH_DAYS = 85;

/** Bytes of one bar in an open block. */
const BAR_BYTES = 64;

/** Bytes of an open block beside its bars: it has room for several from the first one on. */
const BLOCK_BYTES = 4_000;

/** Open blocks that are written together: the stored ones below them are in memory meanwhile. */
const BLOCKS_TOGETHER = 256;

/** The facts that hold for all bars of a file. */
type LoadedFile = {
  readonly basis: BarBasis;
  /** From when to when it says that it has every bar, where its caller says so (contract 3.9 (1)). */
  readonly completeFromMs: number | null;
  readonly completeThroughMs: number | null;
  /** The zone of its times. */
  readonly zone: string | null;
  /** The time of the write. */
  readonly nowMs: number;
  /** Whose the underlyings of options are. */
  readonly owners: SymbolsOnDays;
  readonly currency: string | null;
};

/** Loads bars in one write of the store. */
export class BarLoad {
  readonly counts = {
    written: 0,
    unchanged: 0,
    /** Of the written ones, those in place of others. */
    replaced: 0,
    newInstruments: 0,
    /** Bars outside every segment: stored, not served. */
    outsideSessions: 0,
    /** Bars off the session grid of their interval. */
    offGrid: 0,
    /** Bars with a vwap outside their low and high. */
    vwapOutside: 0,
    /** DAY bars of dates on which the market is closed: stored and served. */
    onClosedDays: 0,
    /** DAY bars of closed dates whose evening opens the next session: merged into it when they are read. */
    mergedDays: 0,
    /** Bars that close after the start of the import: stored, not served until a later import holds them. */
    unfinished: 0,
    /** Bars of the days around 1970 that a present time gives in the wrong unit. */
    atEpoch: 0,
    /** Bars that open after now: stored, not served yet. */
    afterNow: 0,
  };
  /** Open of the first of them. */
  #firstAfterMs = Number.POSITIVE_INFINITY;
  readonly #nowMs: number;
  readonly #spacing = new Spacing();
  readonly #writer: Writer;
  readonly #calendars = new Calendars();
  readonly #run: PresentRun;
  readonly #basis: BarBasis;
  readonly #held: HeldSpans;
  readonly #series = new Map<string, OpenSeries>();
  /** The names of their markets. */
  readonly #markets = new Map<string, string>();
  /** Whether the file has no rows: its flags name a series. */
  #isEmpty = false;
  readonly instruments: LoadedInstruments;
  /** The stored series of names that were looked up. */
  #stored = new Map<string, RowOf<typeof seriesDataset> | null>();
  /** Of all open blocks. */
  readonly #segments = new Segments();
  /** The bars of the block that is being written. */
  readonly #written = emptyBars();
  #openBytes = 0;
  readonly #journal: BlockJournal;

  constructor(writer: Writer, run: PresentRun, about: LoadedFile) {
    this.#run = run;
    this.#writer = writer;
    this.#journal = new BlockJournal(writer);
    this.instruments = new LoadedInstruments(writer, run, about.owners, about.currency);
    this.#basis = about.basis;
    this.#held = new HeldSpans(writer, run, about);
    this.#nowMs = about.nowMs;
  }

  /** Looks up names that come next, and their series, together; what is known of each, by row key. */
  async lookUp(names: readonly SeriesName[]): Promise<ReadonlyMap<string, KnownName>> {
    const known = await this.instruments.lookUp(names);
    const keys = names.flatMap((name) => {
      const instrument = known.get(rowKeyOf(instruments, name))?.instrument ?? null;
      return instrument === null
        ? []
        : [{ instrument_id: instrument.instrument_id, interval: name.interval }];
    });
    const found = await rowsWith(this.#writer, seriesDataset, keys);
    this.#stored = new Map(keys.map((key, at) => [rowKeyOf(seriesDataset, key), found[at]!]));
    return known;
  }

  /**
   * The series of a name, new with its instrument where the store does not know it; or what of the stored one
   * has another basis than this import.
   */
  async series(name: SeriesName): Promise<OpenSeries | 'prices' | 'volumes'> {
    const key = JSON.stringify([name.asset_schema, name.country_iso_code, name.symbol, name.interval]);
    const known = this.#series.get(key);
    if (known !== undefined && (name.exchange === null || name.exchange === known.exchange)) return known;
    const instrument = await this.instruments.of(name);
    if (known !== undefined) {
      known.exchange = instrument.exchange;
      return known;
    }
    const { calendar, market } = await this.#calendars.read(this.#writer, instrument);
    const where = { instrument_id: instrument.instrument_id, interval: name.interval };
    const isFresh = this.instruments.isFresh(instrument);
    const seriesKey = rowKeyOf(seriesDataset, where);
    const found = isFresh ? null : this.#stored.get(seriesKey);
    // For its first use: the import may change it.
    this.#stored.delete(seriesKey);
    const stored = found === undefined ? await rowWith(this.#writer, seriesDataset, where) : found;
    if (stored !== null && stored.prices !== this.#basis.prices) return 'prices';
    if (stored !== null && volumeBasis(stored) !== volumeBasis(this.#basis)) return 'volumes';
    const row = {
      ...where,
      series_id: stored?.series_id ?? (await this.#run.counters.next('series_id', 1)),
      ...this.#basis,
      first_ms: Number.POSITIVE_INFINITY,
      last_ms: Number.NEGATIVE_INFINITY,
      bar_count: 0,
      runs: stored?.runs ?? encodeIds([]),
      ...(stored !== null && stored.bar_count > 0 && stored),
    };
    const place = { exchange: instrument.exchange, calendar, market: this.#marketOf(instrument, market) };
    const opened = new OpenSeries(row, name, place, stored === null);
    this.#series.set(key, opened);
    return opened;
  }

  /** Holds a stored series of which the file has no row. False where none is stored. */
  async holdEmpty(name: SeriesName): Promise<boolean> {
    const found = await this.series(name);
    this.#isEmpty = true;
    return found instanceof OpenSeries && found.row.bar_count > 0;
  }

  /** A market's name: one text for all its series, which may be a million. */
  #marketOf(instrument: Instrument, market: Market | null): string {
    const name = marketName(instrument, market);
    const known = this.#markets.get(name) ?? name;
    this.#markets.set(known, known);
    return known;
  }

  /**
   * Opens the block of a bucket. The open block before it is written; where rows are in no order, it stays
   * open beside others.
   */
  async turn(series: OpenSeries, bucket: number): Promise<void> {
    const passed = series.takePassed();
    if (passed !== null) await this.#flush(series, passed);
    if (this.#openBytes > limits.importOpenBytesMax) await this.settle();
    if (series.reopen(bucket)) return;
    this.counts.newInstruments += await this.instruments.write(series.instrument);
    const open = await this.#openBlock(series, bucket);
    series.open = open;
    this.#openBytes += BLOCK_BYTES + open.heldAtFirst * BAR_BYTES;
  }

  /** Writes every open block. What is stored below them is looked up together. */
  async settle(): Promise<void> {
    const all = [...this.#series.values()].flatMap((one) =>
      one.takeOpen().map((open) => [one, open] as const),
    );
    for (let at = 0; at < all.length; at += BLOCKS_TOGETHER)
      await this.#flushAll(all.slice(at, at + BLOCKS_TOGETHER));
    await this.#journal.write();
  }

  async #flushAll(some: readonly (readonly [OpenSeries, OpenBlock])[]): Promise<void> {
    const unread = some.filter(([series, { stored }]) => stored === null && !series.isNew);
    const places = unread.map(([{ seriesId }, { bucket }]) => ({ seriesId, bucket }));
    // Damage among them is met where each is read alone.
    const found = (await unlessDamaged(this.#writer.blocksAt(places))) ?? [];
    const below = new Map(unread.map(([, open], at) => [open, found[at]]));
    for (const [series, open] of some) await this.#flush(series, open, below.get(open));
  }

  /** The times that a settled load leaves open; `sha256` is that of its file. */
  openTimes(sha256: string): Promise<OpenTime[]> {
    return this.#held.openTimes(this.#heldSeries(), sha256);
  }

  /** Writes the series of a settled load, and what the run holds of each market. */
  async finish(sha256: string): Promise<void> {
    const held = this.#heldSeries();
    const ids = new Set(held.map(({ seriesId }) => seriesId));
    const rows: RowOf<typeof seriesDataset>[] = [];
    for (const { row, seriesId } of this.#series.values()) {
      if (ids.has(seriesId)) row.runs = encodeIds([...decodeIds(row.runs), this.#run.runId]);
      if (row.bar_count > 0) rows.push(row);
    }
    await this.#writer.upsert(seriesDataset, rows);
    await this.#writer.upsert(runSpans, this.#held.rows(held, sha256));
  }

  /** The series that the import holds: those of which it has bars, or which it names without any. */
  #heldSeries(): OpenSeries[] {
    return [...this.#series.values()].filter(
      ({ firstMs, row }) => firstMs < Number.POSITIVE_INFINITY || (this.#isEmpty && row.bar_count > 0),
    );
  }

  async #openBlock(series: OpenSeries, bucket: number): Promise<OpenBlock> {
    const fresh = {
      bucket,
      rows: new OpenRows(this.#segments, null),
      stored: null,
      own: null,
      counted: { written: 0, unchanged: 0 },
      heldAtFirst: 0,
    };
    if (bucket > series.highestBucket) return fresh;
    const stored = await series.storedIn(this.#writer, bucket);
    const { older, count } = stored;
    if (older === null) return { ...fresh, stored };
    // This import may have written the bucket before: the journal says which of its bars are its own.
    const own = await this.#journal.recorded(this.#placeOf(series, bucket));
    if (own === null) return { ...fresh, stored, heldAtFirst: count };
    const isOwn = (at: number): boolean =>
      changesBar(own.change, older.keyMs[at]!) || hasBar(own.held, older.keyMs[at]!);
    const bars = filterBars(older, isOwn);
    this.#judge(series, bars, -1);
    const rows = new OpenRows(this.#segments, bars);
    if (own.change.added === null) {
      const counted = { written: count, unchanged: 0 };
      return { bucket, rows, stored: { older: null, count }, own, counted, heldAtFirst: count };
    }
    // The journal has each of its bars too.
    const heldAtFirst = count + 2 * bars.count;
    return { bucket, rows, stored, own, counted: { written: 0, unchanged: bars.count }, heldAtFirst };
  }

  #placeOf({ seriesId }: OpenSeries, bucket: number): BlockPlace {
    return { series_id: seriesId, bucket, run_id: this.#run.runId };
  }

  /** Writes an open block; `found` is the stored one below it, where that was looked up. */
  async #flush(series: OpenSeries, open: OpenBlock, found?: StoredBlock | null): Promise<void> {
    const { row } = series;
    const { bucket, rows, counted } = open;
    const bars = rows.take(this.#written);
    const added = bars.count - counted.written - counted.unchanged;
    this.#openBytes = Math.max(0, this.#openBytes - BLOCK_BYTES - (open.heldAtFirst + added) * BAR_BYTES);
    if (bars.count === 0) return;
    const { older, count: storedCount } = await series.storedBelow(this.#writer, open, found);
    const brought = older === null ? newBlock : broughtTo(older, bars);
    const { change } = brought;
    const written = change.added === null ? bars.count : change.added.count + change.before.count;
    this.counts.written += written - counted.written;
    this.counts.unchanged += bars.count - written - counted.unchanged;
    this.counts.replaced += change.before.count;
    this.#judge(series, bars, 1);
    this.#spacing.add(series.interval, bars, added);
    const merged = older === null ? bars : mergeBars(older, bars);
    const place = this.#placeOf(series, bucket);
    const { runId } = this.#run;
    await this.#journal.record(place, brought, open.own);
    if (written > 0) {
      await this.#writer.putBlock(place.series_id, { bucket, runId, bytes: passingBlock(merged) });
      if (change.before.count > 0) await this.#run.former.addBars(place, change.before);
    }
    this.#held.see(series, bars);
    series.firstMs = Math.min(series.firstMs, bars.keyMs[0]!);
    row.bar_count += merged.count - storedCount;
    row.first_ms = Math.min(row.first_ms, merged.keyMs[0]!);
    row.last_ms = Math.max(row.last_ms, merged.keyMs[merged.count - 1]!);
    series.highestBucket = Math.max(series.highestBucket, bucket);
  }

  /**
   * Counts bars that deserve a warning (contract 3.10, 11). A block that is opened again is first subtracted:
   * `sign` -1.
   */
  #judge(series: OpenSeries, bars: Bars, sign: 1 | -1): void {
    this.counts.vwapOutside += sign * countVwapOutside(bars);
    this.counts.atEpoch += sign * (lowerBound(bars, EPOCH_DAYS * DAY_MS) - lowerBound(bars, 0));
    const after = firstAfter(bars, series.interval, series.calendar, this.#nowMs);
    if (after !== null) {
      this.counts.afterNow += sign * (bars.count - after.index);
      this.#firstAfterMs = Math.min(this.#firstAfterMs, after.openMs);
    }
    const minutes = intervalMinutes(series.interval);
    if (series.interval === 'DAY') {
      const { closed, merged } = countClosed(bars, series.calendar);
      this.counts.onClosedDays += sign * closed;
      this.counts.mergedDays += sign * merged;
    }
    if (minutes !== null) this.#judgeMinutes(series, bars, minutes, sign);
    this.counts.unfinished += sign * this.#closingLater(series, bars);
  }

  /** How many of some bars close after the start of the import: closes ascend with keys. */
  #closingLater({ interval, calendar, isOffGrid }: OpenSeries, { count, keyMs }: Bars): number {
    const isLater = (at: number): boolean =>
      closesAfter(calendar, { interval, isOffGrid }, keyMs[at]!, this.#run.startedMs);
    return count === 0 || !isLater(count - 1) ? 0 : count - firstWhere(count, isLater);
  }

  /** Counts bars by their place in the sessions (contract 3.10). */
  #judgeMinutes(series: OpenSeries, bars: Bars, minutes: number, sign: 1 | -1): void {
    const endMs = bars.keyMs[bars.count - 1]! + minutes * MINUTE_MS;
    const segments = series.calendar.segments(bars.keyMs[0]!, endMs, 'all');
    const offGrid = minutes === 1 ? 0 : countOffGrid(bars, segments, minutes);
    this.counts.offGrid += sign * offGrid;
    series.isOffGrid ||= offGrid > 0;
    // A bar off the grid may begin before a session and reach into it.
    const outside =
      offGrid > 0
        ? bars.count - timeOffGrid(bars, segments, minutes, true).bars.count
        : countOutside(bars, segments);
    this.counts.outsideSessions += sign * outside;
  }

  /** Warnings about bars that were loaded, each with its number of bars. */
  findings(): Record<string, number> {
    const { onClosedDays, atEpoch, afterNow, unfinished } = this.counts;
    const after = `opening after now, the first at ${formatInstant(this.#firstAfterMs)}, stored, not served until a later import has them; check --zone, and the clock of this machine`;
    return {
      ...(afterNow > 0 ? { [after]: afterNow } : {}),
      ...(unfinished > afterNow
        ? {
            'that close after this import began, not served until a later import has them':
              unfinished - afterNow,
          }
        : {}),
      ...(onClosedDays > 0 ? { 'on days that the market is closed, stored and served': onClosedDays } : {}),
      ...(atEpoch > 0 ? { 'of the first weeks of 1970, as epochs in the wrong unit are': atEpoch } : {}),
      ...this.#spacing.findings(),
    };
  }

  /** Counts bars that were added to open blocks. */
  grew(count: number): void {
    this.#openBytes += count * BAR_BYTES;
  }
}
