// What a store holds, counted from its instruments, series and runs, and from indexes.
import { DAY_MS, formatDay, formatInstant } from '../../base/instant.ts';
import { volumeBasis } from '../../contract/file-words.ts';
import { assetSchemas } from '../../contract/identifiers.ts';
import { type Interval, intervalMinutes, namedIntervals } from '../../contract/interval.ts';
import { newestRuns } from '../../runs/undo-run.ts';
import { allRows, rowsAmong, soundRows } from '../../store/all-rows.ts';
import { oldestVersion, versionIn } from '../../store/changes.ts';
import { type Damage, refuseDamage, unlessDamaged } from '../../store/damage.ts';
import { series as seriesDataset } from '../../store/schema/bars.ts';
import { type RowOf, spokenName } from '../../store/schema/dataset.ts';
import { fileDatasets } from '../../store/schema/index.ts';
import { failedFiles, importRuns } from '../../store/schema/internal.ts';
import { instruments as instrumentDataset, instrumentTerms } from '../../store/schema/reference.ts';
import type { Reader } from '../../store/store.ts';
import { cliLimits } from './limits.ts';

type Instrument = RowOf<typeof instrumentDataset>;
type Series = RowOf<typeof seriesDataset>;

const RUNS_SHOWN = 10;

/** The holdings of a store. */
export type Holdings = Awaited<ReturnType<typeof readHoldings>>;

type OnDamage = (damage: Damage) => void;

/**
 * Counts what a store holds at one moment. Series without a bar do not count. A number is null where damage
 * hides it, which is reported to `onDamage`.
 */
export async function readHoldings(reader: Reader, onDamage: OnDamage = refuseDamage) {
  const counted = <T>(reading: Promise<T>) => unlessDamaged(reading, onDamage);
  const found = await counted(readSeries(reader));
  const series = found ?? [];
  const known = await counted(readMarkets(reader));
  const markets = (known ?? []).map((market) => {
    const rows = series.filter(({ instrument }) => isOf(instrument, market)).map(({ row }) => row);
    const intervals = [...Map.groupBy(rows, (row) => row.interval)]
      .sort(([a], [b]) => rankOf(a) - rankOf(b))
      .map(([interval, of]) => ({ interval, series: of.length, ...extentOf(interval, of) }));
    return { ...market, series: found && rows.length, bars: found && sumOf(intervals, 'bars'), intervals };
  });
  return {
    /** Advances with every import; 0 before the first. */
    data_version: await counted(versionIn(reader)),
    /** The oldest version that requests can ask for (contract 9.12). */
    oldest_version: await counted(oldestVersion(reader)),
    totals: {
      instruments: known && sumOf(known, 'instruments'),
      series: found?.length ?? null,
      bars:
        found &&
        sumOf(
          series.map(({ row }) => row),
          'bar_count',
        ),
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
    datasets: await readDatasets(reader, onDamage),
    /** The newest imports and deletions, newest first. */
    runs: await readRuns(reader, onDamage),
    /** Files of watched folders that could not be imported, or not wholly, by dataset and path. */
    failed_files: await readFailures(reader, onDamage),
  };
}

type Market = Pick<Instrument, 'asset_schema' | 'country_iso_code'> & { readonly instruments: number };

/**
 * The markets that have an instrument. Millions may be options: they are counted, and none is read. An index
 * may count one twice in place of another, so each market is counted by its instruments and by their symbols.
 */
async function readMarkets(reader: Reader): Promise<Market[]> {
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
  if (!isEqual || rows !== sumOf(markets, 'instruments')) refuseDamage(lostRows(instrumentTerms.name));
  return markets;
}

const lostRows = (dataset: string): Damage => ({
  dataset,
  place: 'its table or an index',
  problem: 'rows are missing: an index or page lost them',
});

/** The series that have a bar, in the order of their instruments' names, the finest first. */
async function readSeries(reader: Reader): Promise<{ row: Series; instrument: Instrument }[]> {
  const rows: Series[] = [];
  let count = 0;
  for await (const row of allRows(reader, seriesDataset)) {
    count++;
    if (row.bar_count > 0) rows.push(row);
  }
  if (count !== (await reader.extent(seriesDataset)).rows) refuseDamage(lostRows(seriesDataset.name));
  const ids = [...new Set(rows.map((row) => row.instrument_id))];
  const named = new Map(
    (await rowsAmong(reader, instrumentDataset, {}, 'instrument_id', ids)).map((one) => [
      one.instrument_id,
      one,
    ]),
  );
  // An index that lost the row of an instrument tells it here.
  for (const id of ids) if (!named.has(id)) await reader.group(instrumentDataset, { instrument_id: id });
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
async function readDatasets(reader: Reader, onDamage: OnDamage) {
  const held = [];
  for (const dataset of fileDatasets.filter((one) => one !== instrumentDataset)) {
    const { time } = dataset.file;
    const found = await unlessDamaged(reader.extent(dataset, time), onDamage);
    const { rows, first, last } = found ?? { rows: null, first: null, last: null };
    const textOf = (value: number | null): string | null => {
      if (value === null) return null;
      return dataset.columns[time!]!.kind === 'day' ? formatDay(value) : formatInstant(value);
    };
    held.push({ dataset: spokenName(dataset), rows, first: textOf(first), last: textOf(last) });
  }
  return held;
}

async function readFailures(reader: Reader, onDamage: OnDamage) {
  const order = [['dataset', 'asc'] as const, ['path', 'asc'] as const];
  const rows = await soundRows(reader, failedFiles, { order, limit: cliLimits.failedFilesMax }, onDamage);
  return rows.map(({ failed_ms, ...failed }) => ({ ...failed, since: formatInstant(failed_ms) }));
}

async function readRuns(reader: Reader, onDamage: OnDamage) {
  // A lost run would make an older one the tenth.
  await unlessDamaged(reader.extent(importRuns), onDamage);
  return (await newestRuns(reader, RUNS_SHOWN, onDamage)).map(
    ({ started_ms, finished_ms, undone_ms, ...run }) => ({
      ...run,
      started: formatInstant(started_ms),
      finished: formatInstant(finished_ms),
      undone: undone_ms === null ? null : formatInstant(undone_ms),
    }),
  );
}
