// Bars that became unfinished though no import changed them, by a change of their calendar or an undo: what its report says of them
// (contract 3.9, docs/decisions/0023).
import { decodeIds } from '../base/id-list.ts';
import { formatDay } from '../base/instant.ts';
import { closesAfter, labelOfBar } from '../calendar/bar-end.ts';
import type { Interval } from '../contract/interval.ts';
import { runCoverage, unfinishedBars } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { BARS } from '../datasets/index.ts';
import { importRuns } from '../datasets/internal.ts';
import { instruments } from '../datasets/reference.ts';
import { allRows, collectRows, rowWith } from '../store/all-rows.ts';
import { ignoreDamage } from '../store/damage.ts';
import type { Reader } from '../store/store.ts';
import { importCommand } from './import-command.ts';
import { historyLimits } from './limits.ts';
import type { StoredSeries } from './stored-series.ts';
import { keyed, listedRun } from './unfinished.ts';

/** Bars of one series that are not served until an import has them again. */
export type HiddenSeries = {
  /** Such as `stock:US:AAPL`. */
  readonly instrument: string;
  readonly interval: string;
  readonly bars: number;
  /** The label dates of the first and the last one. */
  readonly first: string;
  readonly last: string;
  /**
   * The newest run that began after their close and holds bars of the series: the journal does not tell whether it had them unchanged.
   * Null where there is none: then a file that was made after their close is needed.
   */
  readonly perhapsHeldBy: number | null;
  /** The import that makes them served. */
  readonly command: string;
};

/** All of them, and the first of their series. */
export type HiddenReport = {
  readonly bars: number;
  readonly series: number;
  readonly named: readonly HiddenSeries[];
};

type Run = RowOf<typeof importRuns>;
type Hidden = { readonly series: StoredSeries; readonly keys: readonly number[] };

/** Collects the bars that one write puts on the list of unfinished ones without importing them. */
export class HiddenBars {
  readonly #found = new Map<number, { readonly series: StoredSeries; readonly keys: Set<number> }>();

  /** Notes bars of a series, by their keys. */
  add(series: StoredSeries, keys: readonly number[]): void {
    if (keys.length === 0) return;
    const known = this.#found.get(series.row.series_id);
    this.#found.set(series.row.series_id, { series, keys: new Set(keys).union(known?.keys ?? new Set()) });
  }

  /** Those that the list still has at the end of the write. */
  async report(whole: Reader): Promise<HiddenReport> {
    const reader = whole.sound(ignoreDamage);
    const left: Hidden[] = [];
    for (const [series_id, { series, keys }] of this.#found) {
      const spans = keyed(await collectRows(reader, unfinishedBars, { series_id }));
      const listed = [...keys].filter((key) => listedRun(spans, key) !== undefined).sort((a, b) => a - b);
      if (listed.length > 0) left.push({ series, keys: listed });
    }
    const named = left.slice(0, historyLimits.hiddenNamedMax);
    const holders = await laterHolders(reader, named);
    const records: HiddenSeries[] = [];
    for (const hidden of named)
      records.push(await recordOf(reader, hidden, holders.get(hidden.series.row.series_id) ?? null));
    return {
      bars: left.reduce((sum, { keys }) => sum + keys.length, 0),
      series: left.length,
      named: records,
    };
  }
}

/** For each series the newest run that began after the close of its hidden bars and has bars of it. */
async function laterHolders(reader: Reader, hidden: readonly Hidden[]): Promise<ReadonlyMap<number, Run>> {
  const found = new Map<number, Run>();
  if (hidden.length === 0) return found;
  const sought = new Map(hidden.map((one) => [one.series.row.series_id, one]));
  for await (const { run_id, series } of allRows(reader, runCoverage)) {
    const held = decodeIds(series).flatMap((id) => sought.get(id) ?? []);
    const run = held.length === 0 ? null : await rowWith(reader, importRuns, { run_id });
    if (run === null) continue;
    for (const one of held) if (!closesLater(one, run.started_ms)) found.set(one.series.row.series_id, run);
  }
  return found;
}

/** Whether the last of the bars closes after a moment. */
function closesLater({ series, keys }: Hidden, ms: number): boolean {
  const { interval, off_grid: isOffGrid } = series.row;
  return closesAfter(series.calendar, { interval: interval as Interval, isOffGrid }, keys.at(-1)!, ms);
}

async function recordOf(reader: Reader, { series, keys }: Hidden, run: Run | null): Promise<HiddenSeries> {
  const { instrument_id, series_id } = series.row;
  const interval = series.row.interval as Interval;
  const named = await rowWith(reader, instruments, { instrument_id });
  const dayOf = (key: number): string => formatDay(labelOfBar(series.calendar, interval, key));
  return {
    instrument:
      named === null
        ? `series ${series_id}`
        : `${named.asset_schema}:${named.country_iso_code}:${named.symbol}`,
    interval,
    bars: keys.length,
    first: dayOf(keys[0]!),
    last: dayOf(keys.at(-1)!),
    perhapsHeldBy: run?.run_id ?? null,
    command: run === null ? importCommand(BARS, 'FILE', {}) : commandOf(run),
  };
}

/** The import of a run once more. Of its mapping file only a hash is recorded. */
function commandOf({ path, file, flags }: Run): string {
  const given = (flags ?? {}) as Readonly<Record<string, string>>;
  return importCommand(BARS, path ?? file, { ...given, ...(given.map !== undefined && { map: 'MAPPING' }) });
}
