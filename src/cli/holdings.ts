// What a store holds, counted from its instruments, series and runs.
import { DAY_MS, formatDay, formatInstant } from '../base/instant.ts';
import { type Interval, intervalMinutes, namedIntervals } from '../contract/interval.ts';
import { series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { counters, importRuns } from '../datasets/internal.ts';
import { instruments as instrumentDataset } from '../datasets/reference.ts';
import { allRows } from '../store/all-rows.ts';
import type { Reader } from '../store/store.ts';

type Instrument = RowOf<typeof instrumentDataset>;
type Series = RowOf<typeof seriesDataset>;

const RUNS_SHOWN = 10;

/** First and last bar: instants of opens, or label dates from DAY on. */
type Extent = { readonly bars: number; readonly first: string; readonly last: string };

export type SeriesHeld = Extent & {
  readonly asset_schema: string;
  readonly country_iso_code: string;
  readonly symbol: string;
  readonly interval: string;
  readonly prices: string;
};

export type IntervalHeld = Extent & { readonly interval: string; readonly series: number };

type Totals = { readonly instruments: number; readonly series: number; readonly bars: number };

export type MarketHeld = Totals & {
  readonly asset_schema: string;
  readonly country_iso_code: string;
  readonly intervals: readonly IntervalHeld[];
};

export type RunHeld = {
  readonly run_id: number;
  /** `import` or `delete`. */
  readonly kind: string;
  readonly dataset: string;
  readonly file: string;
  readonly sha256: string;
  readonly source: string | null;
  readonly rows_read: number;
  readonly rows_written: number;
  readonly rows_unchanged: number;
  readonly rows_refused: number;
  readonly started: string;
  readonly finished: string;
  /** When it was taken back. */
  readonly undone: string | null;
};

/** What a store holds; series without a bar do not count. */
export type Holdings = {
  /** Advances with every import; 0 before the first. */
  readonly data_version: number;
  readonly totals: Totals;
  /** By asset type and country, in that order. */
  readonly markets: readonly MarketHeld[];
  /** By asset type, country, symbol and interval, the finest first. */
  readonly series: readonly SeriesHeld[];
  /** The newest imports and deletions, newest first. */
  readonly runs: readonly RunHeld[];
};

/** Counts what a store holds at one moment. */
export async function readHoldings(reader: Reader): Promise<Holdings> {
  const [version] = await reader.rows(counters, {
    where: { name: 'data_version' },
    order: [['name', 'asc']],
    limit: 1,
  });
  const found = await readSeries(reader);
  const markets: MarketHeld[] = [];
  const series: SeriesHeld[] = [];
  for (const instruments of (await readMarkets(reader)).values()) {
    const held = instruments.flatMap((instrument) =>
      (found.get(instrument.instrument_id) ?? []).map((row) => ({ instrument, row })),
    );
    markets.push(
      marketOf(
        instruments,
        held.map(({ row }) => row),
      ),
    );
    series.push(...held.map(({ instrument, row }) => seriesOf(instrument, row)));
  }
  return {
    data_version: version?.value ?? 0,
    totals: totalsOf(markets),
    markets,
    series,
    runs: await readRuns(reader),
  };
}

async function readMarkets(reader: Reader): Promise<Map<string, Instrument[]>> {
  const markets = new Map<string, Instrument[]>();
  for await (const instrument of allRows(reader, instrumentDataset)) {
    const market = `${instrument.asset_schema}:${instrument.country_iso_code}`;
    const known = markets.get(market);
    if (known === undefined) markets.set(market, [instrument]);
    else known.push(instrument);
  }
  return markets;
}

/** Series that have a bar, by instrument, the finest first. */
async function readSeries(reader: Reader): Promise<Map<number, Series[]>> {
  const found = new Map<number, Series[]>();
  for await (const row of allRows(reader, seriesDataset)) {
    if (row.bar_count === 0) continue;
    const known = found.get(row.instrument_id);
    if (known === undefined) found.set(row.instrument_id, [row]);
    else known.push(row);
  }
  for (const rows of found.values()) rows.sort((a, b) => rankOf(a.interval) - rankOf(b.interval));
  return found;
}

/** Minutes; DAY and above come after all of them. */
const rankOf = (interval: string): number =>
  intervalMinutes(interval as Interval) ?? DAY_MS + namedIntervals.indexOf(interval);

function marketOf(instruments: readonly Instrument[], series: readonly Series[]): MarketHeld {
  const { asset_schema, country_iso_code } = instruments[0]!;
  const intervals = [...Map.groupBy(series, (row) => row.interval)]
    .sort(([a], [b]) => rankOf(a) - rankOf(b))
    .map(([interval, rows]) => ({ interval, series: rows.length, ...extentOf(interval, rows) }));
  const bars = sumOf(intervals.map((one) => one.bars));
  return {
    asset_schema,
    country_iso_code,
    instruments: instruments.length,
    series: series.length,
    bars,
    intervals,
  };
}

const seriesOf = (instrument: Instrument, row: Series): SeriesHeld => ({
  asset_schema: instrument.asset_schema,
  country_iso_code: instrument.country_iso_code,
  symbol: instrument.symbol,
  interval: row.interval,
  ...extentOf(row.interval, [row]),
  prices: row.prices,
});

function extentOf(interval: string, rows: readonly Series[]): Extent {
  const text = (ms: number): string =>
    intervalMinutes(interval as Interval) === null ? formatDay(ms / DAY_MS) : formatInstant(ms);
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const row of rows) {
    firstMs = Math.min(firstMs, row.first_ms);
    lastMs = Math.max(lastMs, row.last_ms);
  }
  return { bars: sumOf(rows.map((row) => row.bar_count)), first: text(firstMs), last: text(lastMs) };
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const totalsOf = (markets: readonly MarketHeld[]): Totals => ({
  instruments: sumOf(markets.map((market) => market.instruments)),
  series: sumOf(markets.map((market) => market.series)),
  bars: sumOf(markets.map((market) => market.bars)),
});

async function readRuns(reader: Reader): Promise<RunHeld[]> {
  const rows = await reader.rows(importRuns, { order: [['run_id', 'desc']], limit: RUNS_SHOWN });
  return rows.map(({ started_ms, finished_ms, undone_ms, ...said }) => ({
    ...said,
    started: formatInstant(started_ms),
    finished: formatInstant(finished_ms),
    undone: undone_ms === null ? null : formatInstant(undone_ms),
  }));
}
