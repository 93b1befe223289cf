// What a store holds, counted from its instruments, series and runs.
import { DAY_MS, formatDay, formatInstant } from '../base/instant.ts';
import { assetSchemas } from '../contract/identifiers.ts';
import { type Interval, intervalMinutes, namedIntervals } from '../contract/interval.ts';
import { series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { counters, importRuns } from '../datasets/internal.ts';
import { instruments as instrumentDataset, instrumentTerms } from '../datasets/reference.ts';
import { allRows } from '../store/all-rows.ts';
import type { Reader } from '../store/store.ts';
import { type RowsHeld, readRowsHeld } from './rows-held.ts';

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
  readonly datasets: readonly RowsHeld[];
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
  const series = await readSeries(reader);
  const markets = (await readMarkets(reader)).map((market) => marketOf(market, series));
  return {
    data_version: version?.value ?? 0,
    totals: totalsOf(markets),
    markets,
    series: series.map(seriesOf),
    datasets: await readRowsHeld(reader),
    runs: await readRuns(reader),
  };
}

type Market = Pick<MarketHeld, 'asset_schema' | 'country_iso_code' | 'instruments'>;

/** The markets that have an instrument. Millions may be options: they are counted by their symbols' index, none is read. */
async function readMarkets(reader: Reader): Promise<Market[]> {
  const markets: Market[] = [];
  for (const asset_schema of assetSchemas.toSorted()) {
    for (let from = ''; ; ) {
      const [next] = await reader.rows(instrumentDataset, {
        where: { asset_schema },
        range: { from },
        order: [['country_iso_code', 'asc']],
        limit: 1,
      });
      if (next === undefined) break;
      const { country_iso_code } = next;
      const instruments = await reader.count(instrumentTerms, {
        asset_schema,
        country_iso_code,
        kind: 'symbol',
      });
      markets.push({ asset_schema, country_iso_code, instruments });
      from = `${country_iso_code} `;
    }
  }
  return markets;
}

/** A series that has a bar, and whose it is. */
type HeldSeries = { readonly row: Series; readonly instrument: Instrument };

/** In the order of their instruments' names, the finest first. */
async function readSeries(reader: Reader): Promise<HeldSeries[]> {
  const rows: Series[] = [];
  for await (const row of allRows(reader, seriesDataset)) if (row.bar_count > 0) rows.push(row);
  const ids = [...new Set(rows.map((row) => row.instrument_id))];
  const named = new Map(
    (await reader.among(instrumentDataset, {}, 'instrument_id', ids)).map((one) => [one.instrument_id, one]),
  );
  const held = rows.map((row) => ({ row, instrument: named.get(row.instrument_id)! }));
  return held.sort(
    (a, b) => compareNames(a.instrument, b.instrument) || rankOf(a.row.interval) - rankOf(b.row.interval),
  );
}

function compareNames(a: Instrument, b: Instrument): number {
  const differing = instrumentDataset.key.find((column) => a[column] !== b[column]);
  if (differing === undefined) return 0;
  return a[differing] < b[differing] ? -1 : 1;
}

/** Minutes; DAY and above come after all of them. */
const rankOf = (interval: string): number =>
  intervalMinutes(interval as Interval) ?? DAY_MS + namedIntervals.indexOf(interval);

function marketOf(market: Market, series: readonly HeldSeries[]): MarketHeld {
  const rows = series.filter(({ instrument }) => isOf(instrument, market)).map(({ row }) => row);
  const intervals = [...Map.groupBy(rows, (row) => row.interval)]
    .sort(([a], [b]) => rankOf(a) - rankOf(b))
    .map(([interval, of]) => ({ interval, series: of.length, ...extentOf(interval, of) }));
  return { ...market, series: rows.length, bars: sumOf(intervals.map((one) => one.bars)), intervals };
}

const isOf = (instrument: Instrument, market: Market): boolean =>
  instrument.asset_schema === market.asset_schema && instrument.country_iso_code === market.country_iso_code;

const seriesOf = ({ instrument, row }: HeldSeries): SeriesHeld => ({
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
