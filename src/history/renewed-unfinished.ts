// Recomputes which stored bars are unfinished, after a change of their calendar or an undo (contract 3.9, docs/decisions/0023).
import { DAY_MS } from '../base/instant.ts';
import { closesAfter } from '../calendar/bar-end.ts';
import type { Interval } from '../contract/interval.ts';
import { unfinishedBars } from '../datasets/bars.ts';
import { importRuns } from '../datasets/internal.ts';
import type { OpenedBlock } from '../store/all-blocks.ts';
import { allRows, collectRows, rowWith } from '../store/all-rows.ts';
import { ignoreDamage } from '../store/damage.ts';
import { rowKeyOf } from '../store/journal-entries.ts';
import type { Reader, Writer } from '../store/store.ts';
import { broughtBy, hasBar } from './brought.ts';
import type { HiddenBars } from './hidden-bars.ts';
import { type BucketRange, bucketAt, type StoredSeries } from './stored-series.ts';
import { keyed, keysOf, listedRun, type Span, type Spans, spansOf } from './unfinished.ts';

/** A bar closes within so much time of its key: a month, and the end of its last session. */
const LONGEST_BAR_MS = 34 * DAY_MS;

/** Which bars of a series to look at, beside those that are unfinished. */
export type Doubtful = {
  readonly isDoubtful: (keyMs: number) => boolean;
  /** The buckets that may have them. */
  readonly ranges?: readonly BucketRange[];
};

/**
 * Finds for each doubtful bar the run that changed it last, and those that held it since: it is unfinished where it closes after the start
 * of each of them.
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
  async renew(series: StoredSeries, { isDoubtful, ranges }: Doubtful): Promise<void> {
    const { series_id } = series.row;
    const at = bucketAt(series.row);
    const rows = await collectRows(this.#sound, unfinishedBars, { series_id });
    const stored = Map.groupBy(rows, ({ first_ms: ms }) => at(ms));
    const firstOpen = at((await this.#earliest()) - LONGEST_BAR_MS);
    const everything = [{ fromBucket: at(series.row.first_ms), toBucket: at(series.row.last_ms) }];
    for (const { fromBucket: from, toBucket } of ranges ?? everything) {
      // Bars before that have closed before the first run, and are not listed.
      const fromBucket = Math.max(from, Math.min(firstOpen, ...stored.keys()));
      if (fromBucket > toBucket) continue;
      for await (const block of series.blocks(fromBucket, toBucket)) {
        const spans = keyed(stored.get(block.bucket) ?? []);
        stored.delete(block.bucket);
        await this.#renewBlock({ series, block, spans }, isDoubtful);
      }
      // Blocks that are gone.
      for (const [bucket, spans] of stored)
        if (fromBucket <= bucket && bucket <= toBucket) await this.#writer.remove(unfinishedBars, spans);
    }
  }

  async #renewBlock(place: Place, isDoubtful: Doubtful['isDoubtful']): Promise<void> {
    const { block, spans, series } = place;
    const keys = keysOf(block.bars);
    const listed = (key: number): number | undefined => listedRun(spans, key);
    const earliestMs = await this.#earliest();
    const open = keys.filter(
      (key) => listed(key) !== undefined || (isDoubtful(key) && closes(series, key, earliestMs)),
    );
    const runs = await this.#unfinished(place, open);
    const runAt = (at: number): number | undefined =>
      runs.has(keys[at]!) ? runs.get(keys[at]!) : listed(keys[at]!);
    this.#hidden.add(
      series,
      keys.filter((key) => runs.get(key) !== undefined && listed(key) === undefined),
    );
    await this.#put(spans, spansOf(series.row.series_id, keys, runAt));
  }

  /** For each of some bars the last run that holds it, where it is unfinished by all that hold it. */
  async #unfinished(
    { series, block, spans }: Place,
    keys: readonly number[],
  ): Promise<ReadonlyMap<number, number | undefined>> {
    const found = new Map<number, number | undefined>();
    if (keys.length === 0) return found;
    const left = new Set(keys);
    const holds = async (key: number, run: number): Promise<void> => {
      if (!(await this.#closesLater(series, key, run))) {
        found.set(key, undefined);
        left.delete(key);
      } else if (!found.has(key)) found.set(key, run);
    };
    // The record of the run is damaged.
    for (const key of keys) {
      const run = listedRun(spans, key);
      if (run !== undefined && (await this.#startOf(run)) === null) {
        found.set(key, run);
        left.delete(key);
      }
    }
    const where = { series_id: series.row.series_id, bucket: block.bucket };
    for await (const { runId, change, held } of broughtBy(this.#sound, where, 'desc')) {
      const { added, before } = change;
      for (const key of [...left]) {
        const isChanged = added === null || hasBar(added, key) || hasBar(before, key);
        if (!isChanged && !hasBar(held, key)) continue;
        await holds(key, runId);
        if (isChanged) left.delete(key);
      }
      if (left.size === 0) break;
    }
    // The journal no longer tells.
    for (const key of left) if (!found.has(key)) await holds(key, block.runId);
    return found;
  }

  async #put(before: Spans, rows: readonly Span[]): Promise<void> {
    const after = keyed(rows);
    const gone = [...before].filter(([name]) => !after.has(name)).map(([, row]) => row);
    const fresh = rows.filter((row) => before.get(rowKeyOf(unfinishedBars, row))?.last_ms !== row.last_ms);
    if (gone.length > 0) await this.#writer.remove(unfinishedBars, gone);
    if (fresh.length > 0) await this.#writer.upsert(unfinishedBars, fresh);
  }

  /** Whether a bar closes after the start of a run; not where that is not known. */
  async #closesLater(series: StoredSeries, key: number, runId: number): Promise<boolean> {
    const startMs = await this.#startOf(runId);
    return startMs !== null && closes(series, key, startMs);
  }

  /** When a run began; null where its row is damaged. */
  async #startOf(run_id: number): Promise<number | null> {
    let startMs = this.#starts.get(run_id);
    if (startMs === undefined) {
      startMs = (await rowWith(this.#sound, importRuns, { run_id }))?.started_ms ?? null;
      this.#starts.set(run_id, startMs);
    }
    return startMs;
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
type Place = { readonly series: StoredSeries; readonly block: OpenedBlock; readonly spans: Spans };

const closes = ({ calendar, row }: StoredSeries, keyMs: number, ms: number): boolean =>
  closesAfter(calendar, { interval: row.interval as Interval, isOffGrid: row.off_grid }, keyMs, ms);
