// `bourse status`: what a store holds. It reads the rows about series, and indexes; no bar, and no row of a
// large dataset.
import type { Command } from 'commander';
import { DAY_MS, formatDay, formatInstant } from '../../base/instant.ts';
import { formatBytes } from '../../base/words.ts';
import { volumeBasis } from '../../contract/file-words.ts';
import { assetSchemas } from '../../contract/identifiers.ts';
import { type Interval, intervalMinutes, namedIntervals } from '../../contract/interval.ts';
import { newestRuns } from '../../runs/undo-run.ts';
import { FoundDamage } from '../../series/damaged-bars.ts';
import { allRows, rowsAmong, soundRows } from '../../store/all-rows.ts';
import { oldestVersion, versionIn } from '../../store/changes.ts';
import { type Check, checkOf, readCheck } from '../../store/control.ts';
import { contentHash } from '../../store/copy.ts';
import { type Damage, refuseDamage, unlessDamaged } from '../../store/damage.ts';
import { engineAt, openControl, openStore } from '../../store/engines.ts';
import { writesBetween } from '../../store/former-rows.ts';
import { series as seriesDataset } from '../../store/schema/bars.ts';
import { type RowOf, spokenName } from '../../store/schema/dataset.ts';
import { fileDatasets } from '../../store/schema/index.ts';
import { failedFiles, importRuns } from '../../store/schema/internal.ts';
import { instruments as instrumentDataset, instrumentTerms } from '../../store/schema/reference.ts';
import type { Reader, ServerFacts } from '../../store/store.ts';
import { readSettings } from '../config.ts';
import { countWords } from '../shared/checks.ts';
import { command, type FlagsOf, jsonFlag, storeFlag } from '../shared/flags.ts';
import { cliLimits } from '../shared/limits.ts';
import { closing } from '../shared/opened-store.ts';
import { cells, count, countOf, formatTable, print, printable } from '../shared/output.ts';
import { damageRecord, noteDamage } from '../shared/problem.ts';

type Instrument = RowOf<typeof instrumentDataset>;
type Series = RowOf<typeof seriesDataset>;

const RUNS_SHOWN = 10;

/** The holdings of a store. */
type Holdings = Awaited<ReturnType<typeof readHoldings>>;

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
    /** Files of watched folders that could not be imported completely, by dataset and path. */
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

const options = {
  ...storeFlag,
  '--series': 'list every series',
  '--content-hash':
    'print one hash of all instruments, bars and rows, whatever the order of imports; it reads all of them',
  ...jsonFlag,
} as const;

type Flags = FlagsOf<typeof options>;

type Status = Awaited<ReturnType<typeof readStatus>>;

/**
 * The newest check; null where none is known: none was kept, or not in a layout that can be read, or out of
 * reach. The content of the store is reported all the same.
 */
async function keptCheck(url: string): Promise<Check | null> {
  try {
    return (await engineAt(url).hasControl()) ? await closing(openControl(url, 'inspect'), readCheck) : null;
  } catch {
    return null;
  }
}

function readStatus(flags: Flags) {
  const { store: url } = readSettings(flags);
  return closing(openStore(url, 'read'), (store) =>
    store.snapshot(async (reader) => {
      const found = new FoundDamage();
      const counted = <T>(reading: Promise<T>) => unlessDamaged(reading, found.add);
      const kept = await keptCheck(url);
      const check = kept && (await counted(checkOf(reader, kept)));
      const holdings = await readHoldings(reader, found.add);
      const { data_version } = holdings;
      return {
        store: store.name,
        facts: await engineAt(url).facts(),
        check,
        changes:
          check && data_version !== null
            ? await counted(writesBetween(reader, check.data_version, data_version))
            : null,
        holdings,
        hash: flags.contentHash ? await counted(contentHash(reader)) : null,
        damaged: await found.named(reader),
      };
    }),
  );
}

const serverRecord = ({ version, place, databaseBytes, standby, followers }: ServerFacts) => ({
  version,
  place,
  database_bytes: databaseBytes,
  standby:
    standby === null ? null : { receiving: standby.isReceiving, behind_seconds: standby.behindSeconds },
  followers: followers.map(({ name, behindBytes }) => ({ name, behind_bytes: behindBytes })),
});

const checkRecord = ({ checked_ms, data_version, error, warning, info }: Check) => ({
  checked: formatInstant(checked_ms),
  ...{ data_version, error, warning, info },
});

/** What the newest check found, and how many changes there were since. */
function checkWords(check: Check | null, since: number | null): string {
  if (check === null || since === null) return 'not known: run bourse check';
  const changed = since === 0 ? '' : `, ${countOf(since, 'change')} ago`;
  return `${countWords(check)} when checked at ${formatInstant(check.checked_ms)}${changed}`;
}

/** The lines about a server. */
function serverLines({ version, place, databaseBytes, standby, followers }: ServerFacts): string[][] {
  const role =
    standby === null
      ? `a primary, followed by ${countOf(followers.length, 'standby')}`
      : `a standby, ${standby.behindSeconds === null ? 'which has replayed nothing yet' : `${Math.round(standby.behindSeconds)} s behind`}`;
  return [
    ['server', `${version} at ${place}, ${role}`],
    ['database', formatBytes(databaseBytes)],
  ];
}

function recordOf({ store, facts, check, holdings, hash, damaged }: Status, flags: Flags) {
  const { series, ...rest } = holdings;
  return {
    store,
    layout: facts.layout,
    files: facts.parts,
    ...(facts.server === null ? {} : { server: serverRecord(facts.server) }),
    ...rest,
    newest_check: check === null ? null : checkRecord(check),
    ...(flags.series ? { series } : {}),
    ...(hash === null ? {} : { content_hash: hash }),
    damaged: damaged.map(damageRecord),
  };
}

const barRows = ({ markets }: Holdings): string[][] =>
  markets.flatMap(({ asset_schema, country_iso_code, intervals }) =>
    intervals.map(({ interval, series, bars, first, last }) =>
      cells(asset_schema, country_iso_code, interval, series, bars, first, last),
    ),
  );

const seriesRows = ({ series }: Holdings): string[][] =>
  series.map(({ asset_schema, country_iso_code, symbol, interval, bars, first, last, prices, volumes }) =>
    cells(asset_schema, country_iso_code, symbol, interval, bars, first, last, prices, volumes),
  );

const datasetRows = ({ datasets }: Holdings): string[][] =>
  datasets
    .filter(({ rows }) => rows !== 0)
    .map(({ dataset, rows, first, last }) => cells(dataset, rows ?? DAMAGED, first, last));

const runRows = ({ runs }: Holdings): string[][] =>
  runs.map(({ run_id, kind, dataset, file, finished, undone, ...counts }) => {
    const { rows_read, rows_written, rows_unchanged, rows_refused } = counts;
    const rows = cells(rows_read, rows_written, rows_unchanged, rows_refused);
    return [`${run_id}`, kind, dataset, file, ...rows, finished, undone ?? ''];
  });

const failureRows = ({ failed_files }: Holdings): string[][] =>
  failed_files.map(({ path, dataset, since, problem }) => [path, dataset, since, problem]);

/** In place of a number that damage hides. */
const DAMAGED = 'damaged';

const counts = (number: number | null): string => (number === null ? DAMAGED : count(number));

/** A table after an empty line; nothing where it has no rows. */
const section = (head: string, rows: string[][]): string =>
  rows.length > 0 ? `\n${formatTable([head.split(' '), ...rows])}` : '';

const partWords = ({ what, bytes }: Status['facts']['parts'][number]): string =>
  `${what} ${bytes === null ? 'does not answer' : formatBytes(bytes)}`;

function describe({ store, facts, check, changes, holdings, hash }: Status, flags: Flags): string {
  const { totals, data_version, oldest_version, markets } = holdings;
  const instruments = markets.map(
    (market) => `${market.asset_schema} ${market.country_iso_code} ${count(market.instruments)}`,
  );
  const about = [
    ['store', printable(store)],
    [facts.server === null ? 'files' : 'tables', facts.parts.map(partWords).join(', ')],
    ...(facts.server === null ? [] : serverLines(facts.server)),
    ['layout', `${facts.layout}`],
    ['data version', `${data_version ?? DAMAGED} (readable from ${oldest_version ?? DAMAGED} on)`],
    ['instruments', [counts(totals.instruments), ...instruments].join(', ')],
    ['series', counts(totals.series)],
    ['bars', counts(totals.bars)],
    ['findings', checkWords(check, changes)],
    ...(hash === null ? [] : [['content hash', hash]]),
  ];
  return [
    ...about.map(([name, value]) => `${name!.padEnd(14)}${value}\n`),
    section('TYPE COUNTRY INTERVAL SERIES BARS FIRST LAST', barRows(holdings)),
    section('DATASET ROWS FIRST LAST', datasetRows(holdings)),
    flags.series
      ? section('TYPE COUNTRY SYMBOL INTERVAL BARS FIRST LAST PRICES VOLUMES', seriesRows(holdings))
      : '',
    section('RUN KIND DATASET FILE READ WRITTEN UNCHANGED REFUSED FINISHED UNDONE', runRows(holdings)),
    section('FAILED-FILE DATASET SINCE PROBLEM', failureRows(holdings)),
  ].join('');
}

export const statusCommand = (): Command =>
  command('status', options, 'bourse status', 'bourse status --series', 'bourse status --json').action(
    async (flags: Flags) => {
      const status = await readStatus(flags);
      print(flags, recordOf(status, flags), describe(status, flags), 2);
      noteDamage(status.damaged, 'not counted');
    },
  );
