// Whether a derived bar is complete: no later import can be expected to change it (contract 3.9).
import { countCommon, decodeIds } from '../base/id-list.ts';
import { FIRST_MS } from '../base/instant.ts';
import { barEnd } from '../calendar/bar-end.ts';
import { runCoverage } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { rowsInOrder } from '../store/all-rows.ts';
import type { Reader } from '../store/store.ts';
import { servedBars } from './cursor.ts';
import type { Series, StoredInstrument } from './series.ts';
import { type DerivedBar, lacksUnfinished } from './unfinished-cells.ts';

export type Coverage = RowOf<typeof runCoverage>;

/** Runs read at a time: each has up to some kilobytes of series. */
const RUNS_PER_READ = 8;

/** Fewest series that a later run shares with the one that it follows (contract 3.9). */
export const SHARED_MIN = 2;

/** The moment of a request, and how far series are complete at it. */
export type Moment = { readonly nowMs: number; readonly completeness: Completeness };

/** How far the series of one instrument are complete at a moment. */
export class Completeness {
  readonly #reader: Reader;
  readonly #stored: StoredInstrument;
  readonly #nowMs: number;

  constructor(reader: Reader, stored: StoredInstrument, nowMs: number) {
    this.#reader = reader;
    this.#stored = stored;
    this.#nowMs = nowMs;
  }

  /** The instant through which every bar derived from a series is complete that lacks no unfinished one; later ones may be. */
  throughMs({ complete_ms }: Series): number {
    const { endedMs } = this.#stored;
    if (endedMs !== null && endedMs <= this.#nowMs) return this.#nowMs;
    return Math.min(this.#nowMs, complete_ms ?? Number.NEGATIVE_INFINITY);
  }

  /** Whether a bar that is derived from a series is complete: no later import can be expected to change it, and it lacks no stored bar. */
  async isComplete(series: Series, bar: DerivedBar): Promise<boolean> {
    const { closeMs } = bar;
    if (closeMs > this.#nowMs || lacksUnfinished(this.#stored.calendar, series, bar)) return false;
    return closeMs <= this.throughMs(series) || this.#isPassedOver(series, closeMs);
  }

  /**
   * Whether the series is complete through the session of its last bar before an instant, and a later run of its market, which
   * holds at least half of the series of the run that completed it, is complete through the instant: it had no trade since.
   */
  async #isPassedOver(series: Series, closeMs: number): Promise<boolean> {
    const { complete_ms: completeMs, interval } = series;
    const own = await completingRun(this.#reader, series);
    if (own === null || completeMs === null || own.series_count < SHARED_MIN) return false;
    // An instrument that follows another market since is in none of the later runs of that one.
    if (own.market !== this.#stored.market) return false;
    const range = { fromMs: FIRST_MS, toMs: closeMs, descending: true };
    const before = await servedBars(this.#reader, series, range).next(1);
    if (before === null) return false;
    const lastMs = before.keyMs[before.count - 1]!;
    if (barEnd(this.#stored.calendar, interval, lastMs).sessionEndMs > completeMs) return false;
    const least = Math.max(SHARED_MIN, own.series_count / 2);
    let ids: readonly number[] | null = null;
    for await (const later of rowsInOrder(this.#reader, runCoverage, {
      where: { market: own.market, interval },
      range: { from: closeMs },
      order: [
        ['complete_ms', 'asc'],
        ['run_id', 'asc'],
      ],
      limit: RUNS_PER_READ,
    })) {
      if (later.run_id <= own.run_id || later.series_count < least) continue;
      ids ??= decodeIds(own.series);
      if (countCommon(decodeIds(later.series), ids) >= least) return true;
    }
    return false;
  }
}

/** What the run that completed a series holds of its market; null where no live run holds it. */
export async function completingRun(
  reader: Reader,
  { complete_run_id, series_id, interval }: Series,
): Promise<Coverage | null> {
  if (complete_run_id === null) return null;
  const rows = await reader.group(runCoverage, { run_id: complete_run_id });
  const found = rows.filter((row) => row.interval === interval);
  // A run may have held series of several markets at one interval.
  if (found.length < 2) return found[0] ?? null;
  return found.find(({ series }) => decodeIds(series).includes(series_id)) ?? null;
}
