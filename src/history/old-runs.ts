// How far the runs of an older Bourse, which recorded no coverage, make their series complete: worked out from their journal.
import { decodeBlock, wholeBlock } from '../bars/block-reader.ts';
import { bucketDays, bucketOf } from '../bars/bucket.ts';
import { type Bars, emptyBars, filterBars } from '../bars/columns.ts';
import { DAY_MS } from '../base/instant.ts';
import { closesAfter } from '../calendar/bar-end.ts';
import type { Interval } from '../contract/interval.ts';
import { runCoverage, series as seriesDataset, unfinishedBars } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { BARS } from '../datasets/index.ts';
import { blockChanges, counters, importRuns } from '../datasets/internal.ts';
import { instruments } from '../datasets/reference.ts';
import { Calendars } from '../series/calendars.ts';
import { marketName } from '../series/series.ts';
import { allRows, collectRows, rowsInOrder, rowWith } from '../store/all-rows.ts';
import { damageWords } from '../store/damage.ts';
import { decodeChange } from '../store/journal-entries.ts';
import type { Store, Tell, Writer } from '../store/store.ts';
import { HiddenBars, type HiddenReport } from './hidden-bars.ts';
import {
  type Completion,
  completeMsOf,
  coverageOf,
  FurthestRun,
  type HeldSeries,
  putCompletion,
} from './run-coverage.ts';
import { StoredSeries } from './stored-series.ts';
import { keyed, keysOf, listedRun, Unfinished } from './unfinished.ts';

/** The last run without a coverage; a migration step sets it (`store/migrations`). */
const COUNTER = { name: 'uncovered_runs' };

const ENTRIES_PER_READ = 64;

type Entry = RowOf<typeof blockChanges>;
type Run = RowOf<typeof importRuns>;
type OldSeries = Omit<HeldSeries, 'lastMs' | 'firstMs'> & { readonly isOffGrid: boolean };

/**
 * Gives every old run its coverage, and every series its completion (contract 3.9), in one write. It gives the bars that this hides;
 * null where nothing was due.
 */
export async function coverOldRuns(store: Store, tell: Tell): Promise<HiddenReport | null> {
  if ((await store.snapshot((reader) => rowWith(reader, counters, COUNTER))) === null) return null;
  tell('working out from the journal how far earlier imports make their series complete');
  return store.write(async (writer) => {
    const last = await rowWith(writer, counters, COUNTER);
    if (last === null) return null;
    const work = new OldRuns(writer.sound((damage) => tell(`left out: ${damageWords(damage)}`)));
    for await (const run of allRows(writer, importRuns)) {
      const { run_id, kind, dataset, undone_ms } = run;
      if (run_id <= last.value && kind === 'import' && dataset === BARS && undone_ms === null)
        await work.cover(run);
    }
    await work.finish();
    await writer.remove(counters, [last]);
    return work.hidden();
  });
}

class OldRuns {
  readonly #writer: Writer;
  readonly #calendars = new Calendars();
  readonly #series = new Map<number, OldSeries | null>();
  readonly #completions = new Map<number, Completion>();
  readonly #furthest: FurthestRun;

  constructor(writer: Writer) {
    this.#writer = writer;
    this.#furthest = new FurthestRun(writer);
  }

  /** Records what one run makes complete, as far as its changes tell, and the bars that it left unfinished. */
  async cover(run: Run): Promise<void> {
    const held: HeldSeries[] = [];
    let entries: Entry[] = [];
    const close = async (): Promise<void> => {
      const one = entries.length === 0 ? null : await this.#held(run, entries);
      if (one !== null) held.push(one);
      entries = [];
    };
    for await (const entry of rowsInOrder(this.#writer, blockChanges, {
      where: { run_id: run.run_id },
      order: [
        ['series_id', 'asc'],
        ['bucket', 'asc'],
      ],
      limit: ENTRIES_PER_READ,
    })) {
      if (entries.length > 0 && entries[0]!.series_id !== entry.series_id) await close();
      entries.push(entry);
    }
    await close();
    const found = coverageOf(run.run_id, held, { startedMs: run.started_ms, completeThroughMs: null });
    const coverages = found.map(({ coverage }) => ({ ...coverage, tells_held: null }));
    await this.#writer.upsert(runCoverage, coverages);
    for (const series of held) {
      const { seriesId, market, interval } = series;
      const coverage = coverages.find((one) => one.market === market && one.interval === interval);
      // Every bar of its group was still to come.
      if (coverage === undefined) continue;
      const known = this.#completions.get(seriesId) ?? { complete_ms: null, complete_run_id: null };
      const complete_ms = completeMsOf(coverage, series, run.started_ms);
      this.#completions.set(seriesId, await this.#furthest.of(known, { ...coverage, complete_ms }));
    }
  }

  /** Writes how far each series is complete. */
  async finish(): Promise<void> {
    for (const [seriesId, completion] of this.#completions)
      await putCompletion(this.#writer, seriesId, completion);
  }

  /** The bars that are not finished: the older program served them. */
  async hidden(): Promise<HiddenReport> {
    const hidden = new HiddenBars();
    for (const [series_id, found] of this.#series) {
      const spans = keyed(await collectRows(this.#writer, unfinishedBars, { series_id }));
      const row = spans.size === 0 ? null : await rowWith(this.#writer, seriesDataset, { series_id });
      if (row === null || found === null) continue;
      const series = new StoredSeries(this.#writer, row, found.calendar);
      for (const bucket of new Set(spans.values().map(({ first_ms }) => bucketOf(found.interval, first_ms))))
        for await (const { bars } of series.blocks(bucket, bucket))
          hidden.add(
            series,
            keysOf(bars).filter((key) => listedRun(spans, key) !== undefined),
          );
    }
    return hidden.report(this.#writer);
  }

  /** A series by the blocks that a run changed; null where its instrument or all that the run changed are gone. */
  async #held(run: Run, entries: readonly Entry[]): Promise<HeldSeries | null> {
    const series = await this.#find(entries[0]!.series_id);
    if (series === null) return null;
    const { seriesId, interval, calendar, isOffGrid } = series;
    const rows = await collectRows(this.#writer, unfinishedBars, { series_id: seriesId });
    const unfinished = new Unfinished(rows, run.run_id, {
      bucketOf: (keyMs) => bucketOf(interval, keyMs),
      closesLater: (keyMs) => closesAfter(calendar, { interval, isOffGrid }, keyMs, run.started_ms),
    });
    const bucketMs = (bucketDays(interval) ?? Number.POSITIVE_INFINITY) * DAY_MS;
    let lastMs: number | null = null;
    for (const entry of entries.toReversed()) {
      const mayBeLater = (entry.bucket + 1) * bucketMs + 2 * DAY_MS > run.started_ms;
      if (lastMs !== null && lastMs > Number.NEGATIVE_INFINITY && !mayBeLater && rows.length === 0) continue;
      const stored = await this.#storedBars(entry);
      const keys = await this.#changedKeys(entry, stored);
      if (keys.size > 0)
        lastMs = Math.max(
          lastMs ?? Number.NEGATIVE_INFINITY,
          ...[...keys].filter((key) => key <= run.started_ms),
        );
      const isHeld = filterBars(stored, (bar) => keys.has(stored.keyMs[bar]!));
      if (isHeld.count > 0) unfinished.see(seriesId, isHeld, stored);
    }
    await unfinished.settle(this.#writer);
    return lastMs === null ? null : { ...series, lastMs, firstMs: null };
  }

  async #find(seriesId: number): Promise<OldSeries | null> {
    const known = this.#series.get(seriesId);
    if (known !== undefined) return known;
    const row = await rowWith(this.#writer, seriesDataset, { series_id: seriesId });
    const { instrument_id } = row ?? {};
    const instrument =
      instrument_id === undefined ? null : await rowWith(this.#writer, instruments, { instrument_id });
    let found: OldSeries | null = null;
    if (row !== null && instrument !== null) {
      const { calendar, marketCalendar, market } = await this.#calendars.read(this.#writer, instrument);
      const interval = row.interval as Interval;
      found = {
        seriesId,
        market: marketName(instrument, market),
        interval,
        calendar,
        marketCalendar,
        isOffGrid: row.off_grid,
      };
    }
    this.#series.set(seriesId, found);
    return found;
  }

  async #storedBars({ series_id: seriesId, bucket }: Entry): Promise<Bars> {
    const read = { seriesId, fromBucket: bucket, toBucket: bucket, direction: 'asc', limit: 1 } as const;
    const [block] = await this.#writer.blocks(read);
    return block === undefined ? emptyBars() : decodeBlock(block.bytes, wholeBlock);
  }

  /** The keys of the bars that a run changed in a block. */
  async #changedKeys(entry: Entry, stored: Bars): Promise<Set<number>> {
    const { added, before } = decodeChange(entry);
    if (added !== null) return new Set([...keysOf(added), ...keysOf(before)]);
    // The run made the block: its bars are those of the block without what later runs added, and with what they replaced.
    const later = await collectRows(this.#writer, blockChanges, {
      series_id: entry.series_id,
      bucket: entry.bucket,
    });
    const keys = new Set(keysOf(stored));
    for (const other of later.filter(({ run_id }) => run_id > entry.run_id).reverse()) {
      const change = decodeChange(other);
      for (const key of keysOf(change.added ?? emptyBars())) keys.delete(key);
      for (const key of keysOf(change.before)) keys.add(key);
    }
    return keys;
  }
}
