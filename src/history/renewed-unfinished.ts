// Recomputes which stored bars are unfinished, after a change of their calendar or an undo (contract 3.9, docs/decisions/0023).
import { type Bars, emptyBars, indexOfKey } from '../bars/columns.ts';
import { DAY_MS } from '../base/instant.ts';
import { closesAfter } from '../calendar/bar-end.ts';
import type { Interval } from '../contract/interval.ts';
import { unfinishedBars } from '../datasets/bars.ts';
import { blockChanges, importRuns } from '../datasets/internal.ts';
import { everyBucket, type OpenedBlock } from '../store/all-blocks.ts';
import { allRows, collectRows, rowsInOrder, rowWith } from '../store/all-rows.ts';
import { ignoreDamage } from '../store/damage.ts';
import { decodeChange, rowKeyOf } from '../store/journal-entries.ts';
import type { Reader, Writer } from '../store/store.ts';
import type { HiddenBars } from './hidden-bars.ts';
import type { BucketRange, StoredSeries } from './stored-series.ts';
import { bucketAt, entriesOf, statesOf } from './undo-unfinished.ts';
import { keyed, keysOf, listedRun, type Span, type Spans, spansOf } from './unfinished.ts';

/** Entries of the journal read at a time. */
const CHANGES_PER_READ = 16;

/** A bar closes within so much time of its key: a month, and the end of its last session. */
const LONGEST_BAR_MS = 34 * DAY_MS;

/** Which bars of a series to look at. */
export type Doubtful = {
  readonly isDoubtful: (keyMs: number) => boolean;
  /** The buckets that may have them. */
  readonly ranges?: readonly BucketRange[];
  /** A run that is being undone: it holds nothing. */
  readonly undoneRun?: number;
};

/**
 * Finds for each doubtful bar the last run that is known to hold it: it is unfinished where it closes after the start of that run.
 * The journal does not know of later runs that held the bar unchanged: such a bar stays hidden until a further import holds it.
 */
export class RenewedUnfinished {
  readonly #writer: Writer;
  readonly #sound: Reader;
  readonly #hidden: HiddenBars;
  readonly #starts = new Map<number, number | null>();
  #earliestMs: number | null = null;

  /** `hidden` gets the bars that become unfinished. */
  constructor(writer: Writer, hidden: HiddenBars) {
    this.#writer = writer;
    this.#hidden = hidden;
    this.#sound = writer.sound(ignoreDamage);
  }

  /** Recomputes the unfinished bars of a series among the doubtful ones. */
  async renew(series: StoredSeries, doubtful: Doubtful): Promise<void> {
    const { series_id, last_ms } = series.row;
    const at = bucketAt(series.row);
    const rows = await collectRows(this.#sound, unfinishedBars, { series_id });
    // Bars before that are neither listed nor open when the first run began.
    const earliestMs = (await this.#earliest()) - LONGEST_BAR_MS;
    const first_ms = Math.max(series.row.first_ms, Math.min(earliestMs, ...rows.map((row) => row.first_ms)));
    if (first_ms > last_ms) return;
    const stored = Map.groupBy(rows, ({ first_ms: ms }) => at(ms));
    const journal = new SeriesJournal(this.#writer, series_id);
    for (const { fromBucket, toBucket } of doubtful.ranges ?? [everyBucket]) {
      const [from, to] = [Math.max(fromBucket, at(first_ms)), Math.min(toBucket, at(last_ms))];
      if (from > to) continue;
      for await (const block of series.blocks(from, to))
        await this.#renewBlock(
          { series, block, journal, spans: keyed(stored.get(block.bucket) ?? []) },
          doubtful,
        );
    }
  }

  /** After the undo of a run: of the bars that it restored, and of those that are listed. */
  async renewUndone(series: StoredSeries, undoneRun: number, restored: ReadonlySet<number>): Promise<void> {
    const rows = await collectRows(this.#sound, unfinishedBars, { series_id: series.row.series_id });
    const spans = keyed(rows);
    const isDoubtful = (key: number): boolean => restored.has(key) || listedRun(spans, key) !== undefined;
    const at = bucketAt(series.row);
    const buckets = new Set(rows.map(({ first_ms }) => at(first_ms)));
    for (const key of restored) buckets.add(at(key));
    const ranges = [...buckets].map((bucket) => ({ fromBucket: bucket, toBucket: bucket }));
    await this.renew(series, { isDoubtful, ranges, undoneRun });
  }

  async #renewBlock(place: Place, { isDoubtful, undoneRun }: Doubtful): Promise<void> {
    const { block, spans, series } = place;
    const keys = keysOf(block.bars);
    const listed = (key: number): number | undefined => listedRun(spans, key);
    const runs = new Map<number, number | undefined>();
    const unlisted: number[] = [];
    for (const key of keys) {
      if (!isDoubtful(key)) continue;
      const run = listed(key);
      if (run !== undefined && run !== undoneRun)
        runs.set(key, (await this.#closesLater(series, key, run, true)) ? run : undefined);
      else if (closes(series, key, await this.#earliest())) unlisted.push(key);
      else runs.set(key, undefined);
    }
    for (const [key, run] of await this.#holders(place, unlisted))
      runs.set(key, (await this.#closesLater(series, key, run)) ? run : undefined);
    const runAt = (at: number): number | undefined =>
      runs.has(keys[at]!) ? runs.get(keys[at]!) : listed(keys[at]!);
    this.#hidden.add(
      series,
      keys.filter((key) => runs.get(key) !== undefined && listed(key) === undefined),
    );
    await this.#put(spans, spansOf(series.row.series_id, keys, runAt));
  }

  /** The last run that is known to hold each of some bars. */
  async #holders(place: Place, keys: readonly number[]): Promise<ReadonlyMap<number, number>> {
    const changers = await this.#changers(place, keys);
    const { series, block, journal, spans } = place;
    let isAny = false;
    for (const [key, run] of changers) isAny ||= await this.#closesLater(series, key, run);
    if (!isAny) return changers;
    // A later run that held a bar unchanged has taken it off the list.
    const at = bucketAt(series.row);
    const entries = (await journal.entries()).filter(
      ({ row_key }) => at((JSON.parse(row_key) as number[])[2]!) === block.bucket,
    );
    const holders = new Map(changers);
    for (const { run_id, before, after } of statesOf(spans, entries))
      for (const [key, run] of holders)
        if (run_id > run && listedRun(before, key) !== undefined && listedRun(after, key) === undefined)
          holders.set(key, run_id);
    return holders;
  }

  /** The last run that changed each of some bars. Where the journal no longer tells, that which changed the block. */
  async #changers({ series, block }: Place, keys: readonly number[]): Promise<Map<number, number>> {
    const found = new Map<number, number>();
    if (keys.length === 0) return found;
    const left = new Set(keys);
    for await (const entry of rowsInOrder(this.#sound, blockChanges, {
      where: { series_id: series.row.series_id, bucket: block.bucket },
      order: [['run_id', 'desc']],
      limit: CHANGES_PER_READ,
    })) {
      const { added, before } = decodeChange(entry);
      for (const key of left) {
        if (added !== null && !has(added, key) && !has(before, key)) continue;
        found.set(key, entry.run_id);
        left.delete(key);
      }
      if (left.size === 0) break;
    }
    for (const key of left) found.set(key, block.runId);
    return found;
  }

  async #put(before: Spans, rows: readonly Span[]): Promise<void> {
    const after = keyed(rows);
    const gone = [...before].filter(([name]) => !after.has(name)).map(([, row]) => row);
    const fresh = rows.filter((row) => before.get(rowKeyOf(unfinishedBars, row))?.last_ms !== row.last_ms);
    if (gone.length > 0) await this.#writer.remove(unfinishedBars, gone);
    if (fresh.length > 0) await this.#writer.upsert(unfinishedBars, fresh);
  }

  /** Whether a bar closes after the start of a run. Where the run's row is damaged, that is `ifUnknown`: a bar on the list stays on it. */
  async #closesLater(series: StoredSeries, key: number, run_id: number, ifUnknown = false): Promise<boolean> {
    let startMs = this.#starts.get(run_id);
    if (startMs === undefined) {
      startMs = (await rowWith(this.#sound, importRuns, { run_id }))?.started_ms ?? null;
      this.#starts.set(run_id, startMs);
    }
    return startMs === null ? ifUnknown : closes(series, key, startMs);
  }

  /** The earliest start of all runs: a bar that has closed by then is finished. */
  async #earliest(): Promise<number> {
    if (this.#earliestMs !== null) return this.#earliestMs;
    let earliestMs = Number.POSITIVE_INFINITY;
    for await (const { started_ms } of allRows(this.#sound, importRuns))
      earliestMs = Math.min(earliestMs, started_ms);
    this.#earliestMs = earliestMs;
    return earliestMs;
  }
}

/** One block, and the rows of its unfinished bars. */
type Place = {
  readonly series: StoredSeries;
  readonly block: OpenedBlock;
  readonly journal: SeriesJournal;
  readonly spans: Spans;
};

/** What the journal has of the unfinished bars of one series: read once, where a block needs it. */
class SeriesJournal {
  readonly #writer: Writer;
  readonly #seriesId: number;
  #entries: ReturnType<typeof entriesOf> | null = null;

  constructor(writer: Writer, seriesId: number) {
    this.#writer = writer;
    this.#seriesId = seriesId;
  }

  /** All of it, the newest run first. */
  entries(): ReturnType<typeof entriesOf> {
    this.#entries ??= entriesOf(this.#writer, this.#seriesId, 0);
    return this.#entries;
  }
}

const none = emptyBars();
const has = (bars: Bars | null, keyMs: number): boolean => indexOfKey(bars ?? none, keyMs) >= 0;

const closes = ({ calendar, row }: StoredSeries, keyMs: number, ms: number): boolean =>
  closesAfter(calendar, { interval: row.interval as Interval, isOffGrid: row.off_grid }, keyMs, ms);
