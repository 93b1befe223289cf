// Which bars at the ends of a market's series are not finished, without reading all the runs of each series (contract 3.9 (5)).
import { decodeIds } from '../base/id-list.ts';
import { closesAfter } from '../calendar/bar-end.ts';
import type { Calendar } from '../calendar/calendar.ts';
import type { Interval } from '../contract/interval.ts';
import { runSpans, type series } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { withoutUnfinished } from '../series/read-stored.ts';
import { ownRuns } from '../series/run-spans.ts';
import { asStored, type Series } from '../series/series.ts';
import { unfinishedBars } from '../series/unfinished.ts';
import type { Reader } from '../store/store.ts';

/** Runs read at a time. */
const RUNS_PER_READ = 500;

/** Bars at the end of a series that are removed one by one. Where there are more, all the runs of the series are read. */
const SINGLE_BARS_MAX = 2;

/** When a run began, and the key of its last bar of an interval. */
type RunEnd = { readonly interval: string; readonly startedMs: number; readonly lastMs: number };

/** The ends of the imports of a market: each is read once. */
export class RunEnds {
  readonly #reader: Reader;
  readonly #ends = new Map<number, RunEnd[]>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** Reads the runs of some series that are not known yet. */
  async read(rows: readonly Pick<RowOf<typeof series>, 'runs'>[]): Promise<void> {
    const unknown = new Set(rows.flatMap(({ runs }) => decodeIds(runs).filter((id) => !this.#ends.has(id))));
    const ids = [...unknown];
    for (const id of ids) this.#ends.set(id, []);
    for (let at = 0; at < ids.length; at += RUNS_PER_READ)
      for (const run of await this.#reader.among(runSpans, {}, 'run_id', ids.slice(at, at + RUNS_PER_READ))) {
        const lastMs = (run.last_keys as readonly number[]).at(-1);
        if (run.kind !== 'import' || lastMs === undefined) continue;
        this.#ends.get(run.run_id)!.push({ interval: run.interval, startedMs: run.started_ms, lastMs });
      }
  }

  /**
   * A series up to its last bar that is finished; null where no bar is. Its runs were read. A calendar is that of the present, by which
   * bars close.
   */
  async finished(calendar: Calendar, row: RowOf<typeof series>): Promise<Series | null> {
    let stored: Series | null = asStored(row);
    for (let removed = 0; removed <= SINGLE_BARS_MAX && stored !== null; removed++) {
      const { last_ms } = stored;
      const late = this.#mayHold(row, last_ms).map(({ startedMs }) =>
        closesAfter(calendar, { interval: row.interval as Interval, isOffGrid: false }, last_ms, startedMs),
      );
      if (!late.includes(true)) return stored;
      // Some run that began later may hold the bar, or have bytes that were read before.
      if (late.includes(false)) break;
      const unfinished = [{ first_ms: last_ms, last_ms }];
      stored = await withoutUnfinished(this.#reader, { ...stored, unfinished });
    }
    return stored === null ? null : this.#whollyRead(calendar, row);
  }

  /** The imports of a series that may hold a bar. */
  #mayHold({ runs, interval }: RowOf<typeof series>, keyMs: number): RunEnd[] {
    return decodeIds(runs)
      .flatMap((id) => this.#ends.get(id) ?? [])
      .filter((end) => end.interval === interval && end.lastMs >= keyMs);
  }

  /** The same from all the runs of the series. */
  async #whollyRead(calendar: Calendar, row: RowOf<typeof series>): Promise<Series | null> {
    const stored = asStored(row);
    const { files } = await ownRuns(this.#reader, row);
    const unfinished = await unfinishedBars(this.#reader, calendar, stored, files);
    return withoutUnfinished(this.#reader, { ...stored, unfinished });
  }
}
