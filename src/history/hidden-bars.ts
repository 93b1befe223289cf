// Bars that became unfinished though no import changed them, by a change of their calendar or an undo: what its report says of them
// (contract 3.9, docs/decisions/0023).
import { formatDay } from '../base/instant.ts';
import { labelOfBar } from '../calendar/bar-end.ts';
import type { Interval } from '../contract/interval.ts';
import { unfinishedBars } from '../datasets/bars.ts';
import { BARS } from '../datasets/index.ts';
import { instruments } from '../datasets/reference.ts';
import { collectRows, rowWith } from '../store/all-rows.ts';
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
  /** The import of a file that was made after their close: it makes them served. */
  readonly command: string;
};

/** All of them, and the first of their series. */
export type HiddenReport = {
  readonly bars: number;
  readonly series: number;
  readonly named: readonly HiddenSeries[];
};

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
    const records: HiddenSeries[] = [];
    for (const hidden of named) records.push(await recordOf(reader, hidden));
    return {
      bars: left.reduce((sum, { keys }) => sum + keys.length, 0),
      series: left.length,
      named: records,
    };
  }
}

async function recordOf(reader: Reader, { series, keys }: Hidden): Promise<HiddenSeries> {
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
    command: importCommand(BARS, 'FILE', {}),
  };
}
