// What live runs hold of series, and have deleted of them: the facts that completeness is decided from
// (contract 3.9).
import { decodeIds } from '../base/id-list.ts';
import type { Interval } from '../contract/interval.ts';
import { rowsAmong, rowWith } from '../store/all-rows.ts';
import { DamagedData } from '../store/damage.ts';
import { runSpans, series } from '../store/schema/bars.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import type { Reader } from '../store/store.ts';

/** A span that a run holds, or has deleted, of one market at one interval. */
export type RunSpan = Omit<RowOf<typeof runSpans>, 'interval'> & { readonly interval: Interval };

/** A run with the moment when its bytes were first read. */
export type BegunRun = { readonly run: RunSpan; readonly begunMs: number };

/** A series by what its row says of its runs. */
type RunsOfSeries = { readonly series_id: number; readonly interval: string; readonly runs: Uint8Array };

/** Runs asked for at a time. */
const RUNS_PER_READ = 500;

/** True if a run holds a series, or has deleted bars of it. */
const concerns = (run: Pick<RunSpan, 'series'>, seriesId: number): boolean =>
  decodeIds(run.series).includes(seriesId);

/** The runs of any number of series, each read once. */
export class SeriesRuns {
  readonly #reader: Reader;
  readonly #spans = new Map<number, RunSpan[]>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** Reads the runs of some series that are not known yet. */
  async read(some: readonly RunsOfSeries[]): Promise<void> {
    const unknown = some.flatMap(({ runs }) => decodeIds(runs).filter((id) => !this.#spans.has(id)));
    const ids = [...new Set(unknown)];
    for (const id of ids) this.#spans.set(id, []);
    for (let at = 0; at < ids.length; at += RUNS_PER_READ)
      for (const row of await rowsAmong(
        this.#reader,
        runSpans,
        {},
        'run_id',
        ids.slice(at, at + RUNS_PER_READ),
      ))
        this.#spans.get(row.run_id)!.push({ ...row, interval: row.interval as Interval });
  }

  /**
   * The runs that hold a series or have deleted bars of it, in the order of the journal; they were read.
   * @throws DamagedData where one is lost
   */
  of({ series_id, interval, runs }: RunsOfSeries): readonly RunSpan[] {
    return decodeIds(runs).map((run_id) => {
      const rows = this.#spans.get(run_id)!.filter((row) => row.interval === interval);
      // A run may have held series of several markets at one interval.
      const found = rows.length === 1 ? rows[0] : rows.find((row) => concerns(row, series_id));
      if (found === undefined)
        throw new DamagedData({
          dataset: runSpans.name,
          place: `row run_id ${run_id}, interval "${interval}"`,
          problem: 'the row is lost',
        });
      return found;
    });
  }
}

/**
 * The runs that hold a series or have deleted bars of it, in the order of the journal. @throws DamagedData
 * where one is lost
 */
export async function runsOf(reader: Reader, row: RunsOfSeries): Promise<readonly RunSpan[]> {
  const runs = new SeriesRuns(reader);
  await runs.read([row]);
  return runs.of(row);
}

/**
 * The files among some runs of one series, each with the moment when its bytes were first read: rows that a
 * run brought before count as begun then (contract 3.9 (1)).
 */
export function begunRuns(runs: readonly RunSpan[]): BegunRun[] {
  const first = new Map<string, RunSpan>();
  return runs.flatMap((run) => {
    if (run.kind !== 'import') return [];
    const before = first.get(run.sha256) ?? run;
    first.set(run.sha256, before);
    // The keys of the last bars are those that had closed when the bytes were first read.
    const begun = before === run ? run : { ...run, last_keys: before.last_keys };
    return [{ run: begun, begunMs: before.started_ms }];
  });
}

/** The runs of a series: those that hold it or have deleted bars of it, and the files among them. */
export type OwnRuns = { readonly runs: readonly RunSpan[]; readonly files: readonly BegunRun[] };

/**
 * Reads the runs of a stored series by its number. @throws DamagedData where its row or one of them is lost
 */
export async function ownRuns(
  reader: Reader,
  { series_id }: { readonly series_id: number },
): Promise<OwnRuns> {
  const row = await rowWith(reader, series, { series_id });
  if (row === null)
    throw new DamagedData({
      dataset: series.name,
      place: `row series_id ${series_id}`,
      problem: 'an index has lost it',
    });
  const runs = await runsOf(reader, row);
  return { runs, files: begunRuns(runs) };
}
