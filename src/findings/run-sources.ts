// Where the bars of a series come from: the source of its import, and which runs vouch for it (contract 3.9, 9.9).
import { countCommon, decodeIds } from '../base/id-list.ts';
import { firstWhere } from '../base/search.ts';
import { runCoverage, type series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { importRuns } from '../datasets/internal.ts';
import { rowWith } from '../store/all-rows.ts';
import type { Reader } from '../store/store.ts';
import { findingLimits } from './limits.ts';

type SeriesRow = Pick<RowOf<typeof seriesDataset>, 'series_id' | 'interval' | 'complete_run_id'>;

/** Fewest series that a run shares with the one that completed a series, so that it passed that over (contract 3.9). */
const SHARED_MIN = 2;

/** The runs of one state of a store. */
export class RunSources {
  readonly #reader: Reader;
  readonly #sources = new Map<number, string | null>();
  readonly #held = new Map<string, readonly number[]>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** The source that the import which completed a series was given; null without one. */
  async sourceOf({ complete_run_id: run_id }: SeriesRow): Promise<string | null> {
    if (run_id === null) return null;
    const known = this.#sources.get(run_id);
    if (known !== undefined) return known;
    const source = (await rowWith(this.#reader, importRuns, { run_id }))?.source ?? null;
    this.#sources.set(run_id, source);
    return source;
  }

  /** Whether a run holds a series, or at least half of the series that the run which completed it holds. */
  async vouches(runId: number, series: SeriesRow): Promise<boolean> {
    const ids = await this.#idsOf(runId, series.interval);
    const at = firstWhere(ids.length, (index) => ids[index]! >= series.series_id);
    if (ids[at] === series.series_id) return true;
    if (series.complete_run_id === null) return false;
    const own = await this.#idsOf(series.complete_run_id, series.interval);
    return countCommon(ids, own) >= Math.max(SHARED_MIN, own.length / 2);
  }

  /** The series of an interval that a run holds, ascending. */
  async #idsOf(run_id: number, interval: string): Promise<readonly number[]> {
    const key = `${run_id} ${interval}`;
    const known = this.#held.get(key);
    if (known !== undefined) return known;
    const rows = await this.#reader.group(runCoverage, { run_id });
    const ids = rows
      .filter((row) => row.interval === interval)
      .flatMap(({ series }) => decodeIds(series))
      .sort((a, b) => a - b);
    if (this.#held.size >= findingLimits.runsKeptMax) this.#held.clear();
    this.#held.set(key, ids);
    return ids;
  }
}
