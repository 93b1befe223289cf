// How far runs make their series complete (contract 3.9): recorded by imports, and worked out again by an undo.
import { decodeIds, encodeIds } from '../base/id-list.ts';
import { barEnd } from '../calendar/bar-end.ts';
import type { Calendar } from '../calendar/calendar.ts';
import type { Interval } from '../contract/interval.ts';
import { runCoverage, series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { importRuns } from '../datasets/internal.ts';
import { allRows, collectRows, rowsInOrder, rowWith } from '../store/all-rows.ts';
import { ignoreDamage } from '../store/damage.ts';
import type { Reader, Writer } from '../store/store.ts';

const RUNS_PER_READ = 500;

/** What one run made complete. */
export type Coverage = RowOf<typeof runCoverage>;

/** A series that a run holds, and the key of the last bar of it that had opened when the run began; -Infinity without one. */
export type HeldSeries = {
  readonly seriesId: number;
  /** As `marketName` gives it. */
  readonly market: string;
  readonly interval: Interval;
  readonly calendar: Calendar;
  readonly lastMs: number;
};

/** When a run began, and the instant that its caller vouches for; null: its bars tell. */
export type RunTimes = { readonly startedMs: number; readonly completeThroughMs: number | null };

/** A coverage, the series with the run's last bar, and the end of that bar's session: it is finished if the coverage reaches it. */
export type FoundCoverage = {
  readonly coverage: Coverage;
  readonly last: HeldSeries;
  readonly endMs: number;
};

/**
 * What a run makes complete: one coverage a market and interval, through the session of its last bar there that had opened when it
 * began (contract 3.9). Nothing where all its bars were still to come.
 */
export function coverageOf(runId: number, held: readonly HeldSeries[], times: RunTimes): FoundCoverage[] {
  const groups = Map.groupBy(held, ({ market, interval }) => `${market} ${interval}`);
  return [...groups.values()].flatMap((group) => {
    const last = group.reduce((latest, one) => (one.lastMs > latest.lastMs ? one : latest));
    const { market, interval, lastMs } = last;
    if (lastMs === Number.NEGATIVE_INFINITY) return [];
    const { reachedMs, endMs } = reachOf(last, times.startedMs);
    const isVouched = times.completeThroughMs !== null;
    const coverage = {
      run_id: runId,
      market,
      interval,
      complete_ms: Math.min(times.startedMs, times.completeThroughMs ?? reachedMs),
      series_count: group.length,
      series: encodeIds(group.map(({ seriesId }) => seriesId)),
      last_ms: isVouched ? null : lastMs,
      last_series_id: isVouched ? null : last.seriesId,
    };
    return { coverage, last, endMs };
  });
}

/** How far a run that began at a moment reaches by its last bar, and the end of that bar's session. */
function reachOf(
  { calendar, interval, lastMs }: Pick<HeldSeries, 'calendar' | 'interval' | 'lastMs'>,
  startedMs: number,
) {
  const { closeMs, sessionEndMs } = barEnd(calendar, interval, lastMs);
  return { reachedMs: startedMs < sessionEndMs ? closeMs : sessionEndMs, endMs: sessionEndMs };
}

/** The columns of a series that say how far it is complete. */
export type Completion = Pick<RowOf<typeof seriesDataset>, 'complete_ms' | 'complete_run_id'>;

/** Chooses among runs: the furthest; of equal ones that with the most series, then the newest. */
export class FurthestRun {
  readonly #reader: Reader;
  /** Series by run, market and interval, of runs that were asked for. */
  readonly #counts = new Map<string, number>();

  constructor(reader: Reader) {
    this.#reader = reader.sound(ignoreDamage);
  }

  /** The completion of a series that a run holds, after what was known of it. */
  async of(known: Completion, coverage: Coverage): Promise<Completion> {
    const { complete_ms, run_id: complete_run_id, interval } = coverage;
    if (known.complete_ms !== null && known.complete_run_id !== null) {
      if (known.complete_ms > complete_ms) return known;
      const isEqual = known.complete_ms === complete_ms && known.complete_run_id !== complete_run_id;
      if (isEqual && (await this.#countOf(known.complete_run_id, interval)) > coverage.series_count)
        return known;
    }
    return { complete_ms, complete_run_id };
  }

  async #countOf(runId: number, interval: string): Promise<number> {
    const name = `${runId} ${interval}`;
    let count = this.#counts.get(name);
    if (count === undefined) {
      const rows = await collectRows(this.#reader, runCoverage, { run_id: runId });
      count = Math.max(0, ...rows.filter((row) => row.interval === interval).map((row) => row.series_count));
      this.#counts.set(name, count);
    }
    return count;
  }
}

/** Takes series out of the later runs that may have held the same bars unchanged: the journal does not know which. */
async function removeFromLater(writer: Writer, runId: number, changed: ReadonlySet<number>): Promise<void> {
  const runs: number[] = [];
  // A damaged run may have held some.
  const sound = writer.sound((_, { row }) => void (row !== undefined && runs.push(row.run_id as number)));
  for await (const { run_id, rows_unchanged } of rowsInOrder(sound, importRuns, {
    range: { from: runId + 1 },
    order: [['run_id', 'asc']],
    limit: RUNS_PER_READ,
  }))
    if (rows_unchanged > 0) runs.push(run_id);
  for (const run_id of runs) {
    for (const coverage of await collectRows(writer, runCoverage, { run_id })) {
      const ids = decodeIds(coverage.series);
      const left = ids.filter((id) => !changed.has(id));
      if (left.length === ids.length) continue;
      if (left.length === 0) await writer.remove(runCoverage, [coverage]);
      else
        await writer.upsert(runCoverage, [
          { ...coverage, series_count: left.length, series: encodeIds(left) },
        ]);
    }
  }
}

/**
 * Removes the coverage of an undone run: its series are complete as far as the other runs make them. Of `changed` series the undo
 * has removed or restored bars: a later run that held some bars unchanged no longer vouches for them.
 */
export async function removeCoverage(
  writer: Writer,
  runId: number,
  changed: ReadonlySet<number>,
): Promise<void> {
  const sound = writer.sound(ignoreDamage);
  const removed = await removeOwn(writer, runId);
  await removeFromLater(sound, runId, changed);
  await renewCompletions(sound, [...removed, ...changed]);
}

/** Works out from the coverage of all runs how far some series are complete. */
async function renewCompletions(writer: Writer, seriesIds: readonly number[]): Promise<void> {
  if (seriesIds.length === 0) return;
  const found = new Map<number, Completion>();
  for (const id of seriesIds) found.set(id, { complete_ms: null, complete_run_id: null });
  const furthest = new FurthestRun(writer);
  for await (const coverage of allRows(writer, runCoverage)) {
    for (const id of decodeIds(coverage.series)) {
      const known = found.get(id);
      if (known !== undefined) found.set(id, await furthest.of(known, coverage));
    }
  }
  for (const [series_id, completion] of found) await putCompletion(writer, series_id, completion);
}

/**
 * Works out anew how far runs make their series complete, after calendars have changed: `changedCalendar` gives that of a series,
 * null where it has not. What the caller of a run vouched for stays.
 */
export async function renewCoverage(
  writer: Writer,
  changedCalendar: (seriesId: number) => Promise<Calendar | null>,
): Promise<void> {
  const sound = writer.sound(ignoreDamage);
  const renewed: number[] = [];
  for await (const coverage of allRows(sound, runCoverage)) {
    const { run_id, last_ms: lastMs, last_series_id: lastId } = coverage;
    const calendar = lastMs === null || lastId === null ? null : await changedCalendar(lastId);
    const run = calendar === null ? null : await rowWith(sound, importRuns, { run_id });
    if (run === null) continue;
    const last = { calendar: calendar!, interval: coverage.interval as Interval, lastMs: lastMs! };
    const complete_ms = Math.min(run.started_ms, reachOf(last, run.started_ms).reachedMs);
    if (complete_ms === coverage.complete_ms) continue;
    await writer.upsert(runCoverage, [{ ...coverage, complete_ms }]);
    renewed.push(...decodeIds(coverage.series));
  }
  await renewCompletions(sound, renewed);
}

/** Removes the coverage of a run, and gives the series that it was of. */
async function removeOwn(writer: Writer, run_id: number): Promise<number[]> {
  const damaged: Partial<Coverage>[] = [];
  const sound = writer.sound((_, { row }) => void (row !== undefined && damaged.push(row as Coverage)));
  const removed = await collectRows(sound, runCoverage, { run_id });
  await writer.remove(runCoverage, [...removed, ...damaged]);
  const ids = removed.flatMap(({ series }) => decodeIds(series));
  if (damaged.length === 0) return ids;
  // In place of a damaged list of series, each series says which run completed it.
  for await (const row of allRows(writer.sound(ignoreDamage), seriesDataset))
    if (row.complete_run_id === run_id) ids.push(row.series_id);
  return ids;
}

/** Writes how far a series is complete; nothing where the series is gone. */
export async function putCompletion(
  writer: Writer,
  series_id: number,
  completion: Completion,
): Promise<void> {
  const row = await rowWith(writer, seriesDataset, { series_id });
  if (row !== null) await writer.upsert(seriesDataset, [{ ...row, ...completion }]);
}
