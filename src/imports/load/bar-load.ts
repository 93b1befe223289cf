// Writes checked bars to the store: an open block a series, several where rows are in no order, each merged
// with the stored one.
import { decodeIds, encodeIds } from '../../base/ascending.ts';
import { type BarBasis, barBasis, volumeBasis } from '../../contract/file-words.ts';
import type { Interval } from '../../contract/interval.ts';
import { limits } from '../../contract/limits.ts';
import { encodeBlock, passingBlock } from '../../market/bars/block-writer.ts';
import { emptyBars, filterBars, mergeBars } from '../../market/bars/columns.ts';
import type { Market } from '../../market/calendar/market.ts';
import { type BlockPlace, broughtTo, changeRowOf, newBlock, recordBlock } from '../../runs/journal.ts';
import { type KnownName, nameOf } from '../../runs/new-instrument.ts';
import { type Brought, broughtIn, changesBar, changesBars, hasBar } from '../../series/brought.ts';
import { Calendars } from '../../series/calendars.ts';
import { marketName } from '../../series/series.ts';
import { rowsWith, rowWith } from '../../store/all-rows.ts';
import { unlessDamaged } from '../../store/damage.ts';
import { rowKeyOf } from '../../store/journal-entries.ts';
import { runSpans, series as seriesDataset } from '../../store/schema/bars.ts';
import type { RowOf } from '../../store/schema/dataset.ts';
import { blockChanges, heldBars } from '../../store/schema/internal.ts';
import type { Instrument, InstrumentName } from '../../store/schema/reference.ts';
import type { StoredBlock, Writer } from '../../store/store.ts';
import { BarFindings } from './bar-rules.ts';
import { HeldSpans } from './held-spans.ts';
import { LoadedInstruments } from './loaded-instruments.ts';
import { type OpenBlock, OpenRows, OpenSeries, Segments } from './open-series.ts';
import type { OpenTime, PresentRun } from './run.ts';
import type { SymbolsOnDays } from './symbols-on-days.ts';

/** Which series a bar belongs to. */
export type SeriesName = InstrumentName & {
  readonly interval: Interval;
  /** Null where the file names none. */
  readonly exchange: string | null;
};

/** Bytes of one bar in an open block. */
const BAR_BYTES = 64;

/** Bytes of an open block beside its bars: it has room for several from the first one on. */
const BLOCK_BYTES = 4_000;

/** Open blocks that are written together: the stored ones below them are in memory meanwhile. */
const BLOCKS_TOGETHER = 256;

/** Loads bars in one write of the store. */
export class BarLoad {
  /** Bars that were written, of these the ones in place of others. */
  #written = 0;
  #replaced = 0;
  readonly #findings: BarFindings;
  readonly #writer: Writer;
  readonly #calendars = new Calendars();
  readonly #run: PresentRun;
  readonly basis: BarBasis;
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
  readonly #flushed = emptyBars();
  #openBytes = 0;
  readonly #journal: BlockJournal;

  /** `owners` tell whose the underlyings of options are. */
  constructor(run: PresentRun, owners: SymbolsOnDays) {
    const { writer, request, startedMs } = run;
    this.#run = run;
    this.#writer = writer;
    this.#journal = new BlockJournal(writer);
    this.instruments = new LoadedInstruments(run, owners);
    this.basis = barBasis(request.basis, request.volumes);
    this.#held = new HeldSpans(run);
    this.#findings = new BarFindings(startedMs, request.nowMs(), run.runId);
  }

  /** Looks up names that come next, and their series, together; what is known of each, by row key. */
  async lookUp(names: readonly SeriesName[]): Promise<ReadonlyMap<string, KnownName>> {
    const known = await this.instruments.lookUp(names);
    const keys = names.flatMap((name) => {
      const instrument = known.get(nameOf(name))?.instrument ?? null;
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
    const instrument = await this.instruments.ofBars(name);
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
    if (stored !== null && stored.prices !== this.basis.prices) return 'prices';
    if (stored !== null && volumeBasis(stored) !== volumeBasis(this.basis)) return 'volumes';
    const row = {
      ...where,
      series_id: stored?.series_id ?? (await this.#run.counters.next('series_id', 1)),
      ...this.basis,
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
    await this.instruments.write(series.instrument);
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
    this.#findings.judge(series, bars, -1);
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
    const bars = rows.take(this.#flushed);
    const added = bars.count - counted.written - counted.unchanged;
    this.#openBytes = Math.max(0, this.#openBytes - BLOCK_BYTES - (open.heldAtFirst + added) * BAR_BYTES);
    if (bars.count === 0) return;
    const { older, count: storedCount } = await series.storedBelow(this.#writer, open, found);
    const brought = older === null ? newBlock : broughtTo(older, bars);
    const { change } = brought;
    const written = change.added === null ? bars.count : change.added.count + change.before.count;
    this.#written += written - counted.written;
    this.#replaced += change.before.count;
    this.#findings.judge(series, bars, 1);
    this.#findings.space(series.interval, bars, added);
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

  /** The report of a settled load. */
  get report() {
    return {
      rowsWritten: this.#written,
      rowsReplaced: this.#replaced,
      newInstruments: this.instruments.created,
      ...this.#findings.counts,
      findings: this.#findings.findings(),
    };
  }

  /** Counts bars that were added to open blocks. */
  grew(count: number): void {
    this.#openBytes += count * BAR_BYTES;
  }
}

/** The most blocks whose entries in the journal wait. Each may have as many bytes as a block. */
const ENTRIES_TOGETHER = 64;

/**
 * The entries of the journal about blocks that one import writes: together, because one by one they take
 * several times as long.
 */
class BlockJournal {
  readonly #writer: Writer;
  #changes: RowOf<typeof blockChanges>[] = [];
  #held: RowOf<typeof heldBars>[] = [];

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** The import's entry of a block in the journal; null where it has none. */
  async recorded(place: BlockPlace): Promise<Brought | null> {
    await this.write();
    return broughtIn(this.#writer, place);
  }

  /** Records what the import brings to a block, beside what it has recorded of it, `own`. */
  async record(place: BlockPlace, brought: Brought, own: Brought | null): Promise<void> {
    if (own !== null) return recordBlock(this.#writer, place, brought, own);
    const { change, held } = brought;
    if (changesBars(change)) this.#changes.push(changeRowOf(place, change));
    if (held.count > 0) this.#held.push({ ...place, keys: encodeBlock(held) });
    if (this.#changes.length + this.#held.length >= ENTRIES_TOGETHER) await this.write();
  }

  /** Writes what waits. */
  async write(): Promise<void> {
    await this.#writer.upsert(blockChanges, this.#changes);
    await this.#writer.upsert(heldBars, this.#held);
    this.#changes = [];
    this.#held = [];
  }
}
