// What a store holds, counted from its instruments, series and runs, and from indexes.
import { DAY_MS, formatDay, formatInstant } from '../base/instant.ts';
import { assetSchemas } from '../contract/identifiers.ts';
import { type Interval, intervalMinutes, namedIntervals } from '../contract/interval.ts';
import { volumeBasis } from '../contract/price-basis.ts';
import { series as seriesDataset } from '../datasets/bars.ts';
import { type RowOf, spokenName } from '../datasets/dataset.ts';
import { fileDatasets } from '../datasets/index.ts';
import { counters, failedFiles, importRuns } from '../datasets/internal.ts';
import { instruments as instrumentDataset, instrumentTerms } from '../datasets/reference.ts';
import { allRows } from '../store/all-rows.ts';
import { oldestVersion } from '../store/changes.ts';
import { type Damage, type OnDamage, refuseDamage } from '../store/damage.ts';
import type { Reader } from '../store/store.ts';

type Instrument = RowOf<typeof instrumentDataset>;
type Series = RowOf<typeof seriesDataset>;

const RUNS_SHOWN = 10;

/** The holdings of a store. */
export type Holdings = Awaited<ReturnType<typeof readHoldings>>;

/**
 * Counts what a store holds at one moment. Series without a bar do not count. What is damaged or lost is
 * reported to `onDamage`.
 */
export async function readHoldings(whole: Reader, onDamage: OnDamage = refuseDamage) {
  const reader = whole.sound(onDamage);
  const series = await readSeries(reader, onDamage);
  const markets = (await readMarkets(reader, onDamage)).map((market) => {
    const rows = series.filter(({ instrument }) => isOf(instrument, market)).map(({ row }) => row);
    const intervals = [...Map.groupBy(rows, (row) => row.interval)]
      .sort(([a], [b]) => rankOf(a) - rankOf(b))
      .map(([interval, of]) => ({ interval, series: of.length, ...extentOf(interval, of) }));
    return { ...market, series: rows.length, bars: sumOf(intervals, 'bars'), intervals };
  });
  return {
    /** Advances with every import; 0 before the first. */
    data_version: (await reader.group(counters, { name: 'data_version' }))[0]?.value ?? 0,
    /** The oldest version that requests can ask for (contract 9.12). */
    oldest_version: await oldestVersion(reader),
    totals: {
      instruments: sumOf(markets, 'instruments'),
      series: sumOf(markets, 'series'),
      bars: sumOf(markets, 'bars'),
    },
    /** By asset type and country, in that order. */
    markets,
    /** By asset type, country, symbol and interval, the finest first. */
    series: series.map(({ instrument: { asset_schema, country_iso_code, symbol }, row }) => ({
      ...{ asset_schema, country_iso_code, symbol, interval: row.interval },
      ...extentOf(row.interval, [row]),
      prices: row.prices,
      volumes: volumeBasis(row),
    })),
    datasets: await readDatasets(reader),
    /** The newest imports and deletions, newest first. */
    runs: await readRuns(reader),
    /** Files of watched folders that could not be imported, or not wholly, by dataset and path. */
    failed_files: await readFailures(reader),
  };
}

type Market = Pick<Instrument, 'asset_schema' | 'country_iso_code'> & { readonly instruments: number };

/**
 * The markets that have an instrument. Millions may be options: they are counted, and none is read. An index
 * may count one twice in place of another, so each market is counted by its instruments and by their symbols.
 */
async function readMarkets(reader: Reader, onDamage: OnDamage): Promise<Market[]> {
  const markets: Market[] = [];
  let isEqual = true;
  for (const asset_schema of assetSchemas.toSorted()) {
    for (let from = ''; ; ) {
      const [next] = await reader.rows(instrumentDataset, {
        where: { asset_schema },
        range: { from },
        order: [['country_iso_code', 'asc']],
        limit: 1,
      });
      if (next === undefined) break;
      const market = { asset_schema, country_iso_code: next.country_iso_code };
      const instruments = await reader.count(instrumentDataset, market);
      const symbols = await reader.count(instrumentTerms, { ...market, kind: 'symbol' });
      if (instruments !== symbols) isEqual = false;
      markets.push({ ...market, instruments });
      from = `${next.country_iso_code} `;
    }
  }
  const { rows } = await reader.extent(instrumentDataset);
  if (!isEqual || rows !== sumOf(markets, 'instruments')) onDamage(lostRows(instrumentTerms.name), {});
  return markets;
}

const lostRows = (dataset: string): Damage => ({
  dataset,
  place: 'its table or an index',
  problem: 'rows are missing: an index or page lost them',
});

/** The series that have a bar, in the order of their instruments' names, the finest first. */
async function readSeries(
  reader: Reader,
  onDamage: OnDamage,
): Promise<{ row: Series; instrument: Instrument }[]> {
  const rows: Series[] = [];
  let count = 0;
  const counting = reader.sound((damage, remains) => {
    count++;
    onDamage(damage, remains);
  });
  for await (const row of allRows(counting, seriesDataset)) {
    count++;
    if (row.bar_count > 0) rows.push(row);
  }
  if (count !== (await reader.extent(seriesDataset)).rows) onDamage(lostRows(seriesDataset.name), {});
  const ids = [...new Set(rows.map((row) => row.instrument_id))];
  const named = new Map(
    (await reader.among(instrumentDataset, {}, 'instrument_id', ids)).map((one) => [one.instrument_id, one]),
  );
  // An index that lost the row of an instrument tells it here.
  for (const id of ids) if (!named.has(id)) await reader.group(instrumentDataset, { instrument_id: id });
  // The row of an instrument may be damaged, and left out.
  const held = rows.flatMap((row) => {
    const instrument = named.get(row.instrument_id);
    return instrument === undefined ? [] : [{ row, instrument }];
  });
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

const isOf = (instrument: Instrument, market: Market): boolean =>
  instrument.asset_schema === market.asset_schema && instrument.country_iso_code === market.country_iso_code;

/** The bars of some series, the first and the last: instants of opens, or label dates from DAY on. */
function extentOf(interval: string, rows: readonly Series[]) {
  const text = (ms: number): string =>
    intervalMinutes(interval as Interval) === null ? formatDay(ms / DAY_MS) : formatInstant(ms);
  const firstMs = rows.reduce((least, row) => Math.min(least, row.first_ms), Number.POSITIVE_INFINITY);
  const lastMs = rows.reduce((most, row) => Math.max(most, row.last_ms), Number.NEGATIVE_INFINITY);
  return { bars: sumOf(rows, 'bar_count'), first: text(firstMs), last: text(lastMs) };
}

const sumOf = <K extends string>(rows: readonly Readonly<Record<K, number>>[], name: K): number =>
  rows.reduce((sum, row) => sum + row[name], 0);

/**
 * The rows of every dataset besides instruments and bars, and which time they span. Of a large one only an
 * index is read.
 */
async function readDatasets(reader: Reader) {
  const held = [];
  for (const dataset of fileDatasets.filter((one) => one !== instrumentDataset)) {
    const { time } = dataset.file;
    const { rows, first, last } = await reader.extent(dataset, time);
    const textOf = (value: number | null): string | null => {
      if (value === null) return null;
      return dataset.columns[time!]!.kind === 'day' ? formatDay(value) : formatInstant(value);
    };
    held.push({ dataset: spokenName(dataset), rows, first: textOf(first), last: textOf(last) });
  }
  return held;
}

async function readFailures(reader: Reader) {
  const failures = [];
  for await (const { failed_ms, ...failed } of allRows(reader, failedFiles))
    failures.push({ ...failed, since: formatInstant(failed_ms) });
  return failures;
}

async function readRuns(reader: Reader) {
  // A lost run would make an older one the tenth.
  await reader.extent(importRuns);
  const rows = await reader.rows(importRuns, { order: [['run_id', 'desc']], limit: RUNS_SHOWN });
  return rows.map(({ started_ms, finished_ms, undone_ms, ...run }) => ({
    ...run,
    started: formatInstant(started_ms),
    finished: formatInstant(finished_ms),
    undone: undone_ms === null ? null : formatInstant(undone_ms),
  }));
}
