// How far runs make their series complete (contract 3.9): recorded by imports, recomputed by undos and changes of calendars.
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
import { isNear } from './near-dates.ts';
import { type Followed, SeriesCalendars } from './series-calendars.ts';

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
  /** Without the overrides of the instrument. */
  readonly marketCalendar: Calendar;
  readonly lastMs: number;
  /** The key of the first bar of it that the run holds; null where that is not known. */
  readonly firstMs: number | null;
};

/** When a run began, and the instant that its caller vouches for; null: its bars tell. */
export type RunTimes = { readonly startedMs: number; readonly completeThroughMs: number | null };

/** A session that a run does not finish for all its series: the calendar by which it ends, and through when it is complete. */
export type OpenSession = {
  readonly calendar: Calendar;
  readonly lastMs: number;
  readonly completeMs: number;
  readonly endMs: number;
};

/** A coverage, and the session of the run's last bar where that is not finished. */
export type FoundCoverage = { readonly coverage: Coverage; readonly open: OpenSession | null };

/**
 * What a run makes complete: one coverage a market and interval, through the session of its last bar there that had opened when it
 * began (contract 3.9). The calendar of the market decides; `completeMsOf` is about single series. Nothing where all its bars were
 * still to come.
 */
export function coverageOf(runId: number, held: readonly HeldSeries[], times: RunTimes): FoundCoverage[] {
  const groups = Map.groupBy(held, ({ market, interval }) => `${market} ${interval}`);
  return [...groups.values()].flatMap((group) => {
    const last = group.reduce((latest, one) => (one.lastMs > latest.lastMs ? one : latest));
    const { market, interval, lastMs, marketCalendar } = last;
    if (lastMs === Number.NEGATIVE_INFINITY) return [];
    const { startedMs, completeThroughMs } = times;
    const reach = (calendar: Calendar) => {
      const { reachedMs, endMs } = reachOf({ calendar, interval, lastMs }, startedMs);
      return { calendar, lastMs, completeMs: Math.min(startedMs, completeThroughMs ?? reachedMs), endMs };
    };
    const isVouched = completeThroughMs !== null;
    const coverage = {
      run_id: runId,
      market,
      interval,
      complete_ms: reach(marketCalendar).completeMs,
      series_count: group.length,
      series: encodeIds(group.map(({ seriesId }) => seriesId)),
      last_ms: isVouched ? null : lastMs,
      last_series_id: isVouched ? null : last.seriesId,
      first_ms: firstOf(group),
      tells_held: true,
    };
    const [open = null] = [...new Set(group.map(({ calendar }) => calendar))]
      .map(reach)
      .filter(({ completeMs, endMs }) => completeMs < endMs)
      .sort((a, b) => b.endMs - a.endMs);
    return { coverage, open };
  });
}

/** The key of the first bar of some series that a run holds; null where that of one is not known. */
function firstOf(held: readonly HeldSeries[]): number | null {
  let firstMs = Number.POSITIVE_INFINITY;
  for (const one of held) {
    if (one.firstMs === null) return null;
    firstMs = Math.min(firstMs, one.firstMs);
  }
  return firstMs;
}

/** How far a run that began at a moment reaches by its last bar, and the end of that bar's session. */
function reachOf(
  { calendar, interval, lastMs }: Pick<HeldSeries, 'calendar' | 'interval' | 'lastMs'>,
  startedMs: number,
) {
  const { closeMs, sessionEndMs: endMs } = barEnd(calendar, interval, lastMs);
  return { reachedMs: startedMs < endMs ? closeMs : endMs, endMs };
}

/**
 * How far a run makes one of its series complete: by the calendar of the series, unless the caller of the run vouched. One that has
 * left the market since is complete through no more than its own last bar tells.
 */
export function completeMsOf(
  coverage: Coverage,
  { market, calendar, lastMs }: Followed,
  startedMs: number,
): number {
  const { interval, complete_ms, last_ms } = coverage;
  if (last_ms === null) return complete_ms;
  const ownMs = market === coverage.market ? last_ms : Math.min(last_ms, lastMs);
  const own = { calendar, interval: interval as Interval, lastMs: ownMs };
  return Math.min(startedMs, reachOf(own, startedMs).reachedMs);
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

/** Takes series out of the later runs of layout 12 or older that may have held the same bars: they do not tell. */
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
      if (coverage.tells_held === true) continue;
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
 * has removed or restored bars.
 */
export async function removeCoverage(
  writer: Writer,
  runId: number,
  changed: ReadonlySet<number>,
): Promise<void> {
  const sound = writer.sound(ignoreDamage);
  const removed = await removeOwn(writer, runId);
  await removeFromLater(sound, runId, changed);
  for (const id of changed) removed.add(id);
  await renewCompletions(sound, removed);
}

/** Works out from the coverage of all runs how far some series are complete. */
async function renewCompletions(writer: Writer, seriesIds: Iterable<number>): Promise<void> {
  const found = new Map<number, Completion>();
  for (const id of seriesIds) found.set(id, { complete_ms: null, complete_run_id: null });
  if (found.size === 0) return;
  const calendars = new SeriesCalendars(writer);
  const [furthest, completions] = [new FurthestRun(writer), new Completions(writer, calendars)];
  for await (const coverage of allRows(writer, runCoverage)) {
    for (const id of decodeIds(coverage.series)) {
      const known = found.get(id);
      if (known === undefined) continue;
      found.set(id, await furthest.of(known, await completions.by(coverage, id)));
    }
  }
  for (const [id, completion] of found) {
    const row = await calendars.rowOf(id);
    if (row !== null && isOther(row, completion))
      await writer.upsert(seriesDataset, [{ ...row, ...completion }]);
  }
}

const isOther = (one: Completion, other: Completion): boolean =>
  one.complete_ms !== other.complete_ms || one.complete_run_id !== other.complete_run_id;

/** Finds how far stored runs make single series complete. */
export class Completions {
  readonly #reader: Reader;
  readonly #calendars: SeriesCalendars;
  /** The last run that was asked for, and its start; null where its row is damaged. */
  #run: { readonly id: number; readonly startedMs: number | null } | null = null;
  /** How far the last coverage reaches, by the calendars of its market: most of its series share one. */
  #reached: { readonly coverage: Coverage; readonly byCalendar: Map<Calendar, number> } | null = null;

  constructor(reader: Reader, calendars = new SeriesCalendars(reader)) {
    this.#reader = reader.sound(ignoreDamage);
    this.#calendars = calendars;
  }

  /** A coverage as it is for one of its series. */
  async by(coverage: Coverage, seriesId: number): Promise<Coverage> {
    if (coverage.last_ms === null) return coverage;
    const followed = await this.#calendars.of(seriesId);
    if (followed === null) return coverage;
    // A run has begun when what it makes complete has closed, also where its own row is damaged.
    const startedMs = (await this.#startOf(coverage.run_id)) ?? coverage.complete_ms;
    const complete_ms = this.#completeMsOf(coverage, followed, startedMs);
    return complete_ms === coverage.complete_ms ? coverage : { ...coverage, complete_ms };
  }

  #completeMsOf(coverage: Coverage, followed: Followed, startedMs: number): number {
    if (followed.market !== coverage.market) return completeMsOf(coverage, followed, startedMs);
    if (this.#reached?.coverage !== coverage) this.#reached = { coverage, byCalendar: new Map() };
    const { byCalendar } = this.#reached;
    const known = byCalendar.get(followed.calendar) ?? completeMsOf(coverage, followed, startedMs);
    byCalendar.set(followed.calendar, known);
    return known;
  }

  async #startOf(run_id: number): Promise<number | null> {
    if (this.#run?.id !== run_id) {
      const row = await rowWith(this.#reader, importRuns, { run_id });
      this.#run = { id: run_id, startedMs: row?.started_ms ?? null };
    }
    return this.#run.startedMs;
  }
}

/** Which series have another calendar than before: the label dates on which it differs, or null for any date. */
export type ChangedSeries = ReadonlyMap<number, ReadonlySet<number> | null>;

/** Recomputes how far runs make their series complete, after calendars have changed. What the caller of a run vouched for stays. */
export async function renewCoverage(writer: Writer, changed: ChangedSeries): Promise<void> {
  const sound = writer.sound(ignoreDamage);
  const calendars = new SeriesCalendars(sound);
  const dates = new Set<number>();
  // Series of one market share their list of dates.
  for (const some of new Set(changed.values())) for (const date of some ?? []) dates.add(date);
  const renewed = new Set<number>();
  for (const [id, some] of changed) if (some === null) renewed.add(id);
  for await (const coverage of allRows(sound, runCoverage)) {
    const { run_id, last_ms: lastMs, last_series_id: lastId } = coverage;
    const interval = coverage.interval as Interval;
    if (lastMs === null || (!isNear(interval, lastMs, dates) && changed.get(lastId!) !== null)) continue;
    const ids = decodeIds(coverage.series);
    for (const id of ids) if (changed.has(id)) renewed.add(id);
    const run = await rowWith(sound, importRuns, { run_id });
    const calendar = run === null ? null : await calendars.ofRun(coverage, ids);
    if (calendar === null) continue;
    const last = { calendar, interval, lastMs };
    const complete_ms = Math.min(run!.started_ms, reachOf(last, run!.started_ms).reachedMs);
    if (complete_ms !== coverage.complete_ms)
      await writer.upsert(runCoverage, [{ ...coverage, complete_ms }]);
  }
  await renewCompletions(sound, renewed);
}

/** Removes the coverage of a run, and gives the series that it was of. */
async function removeOwn(writer: Writer, run_id: number): Promise<Set<number>> {
  const damaged: Partial<Coverage>[] = [];
  const sound = writer.sound((_, { row }) => void (row !== undefined && damaged.push(row as Coverage)));
  const removed = await collectRows(sound, runCoverage, { run_id });
  await writer.remove(runCoverage, [...removed, ...damaged]);
  const ids = new Set<number>();
  for (const { series } of removed) for (const id of decodeIds(series)) ids.add(id);
  if (damaged.length === 0) return ids;
  // In place of a damaged list of series, each series says which run completed it.
  for await (const row of allRows(writer.sound(ignoreDamage), seriesDataset))
    if (row.complete_run_id === run_id) ids.add(row.series_id);
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
