// `bourse status`: what a store holds. It reads the rows about series, and indexes; no bar, and no row of a
// large dataset.
import type { Command } from 'commander';
import { formatInstant } from '../../base/instant.ts';
import { formatBytes } from '../../base/words.ts';
import { FoundDamage } from '../../series/damaged-bars.ts';
import { rowWith } from '../../store/all-rows.ts';
import type { Check } from '../../store/control.ts';
import { contentHash } from '../../store/copy.ts';
import { unlessDamaged } from '../../store/damage.ts';
import { openStore, storeFacts } from '../../store/engines.ts';
import { writesBetween } from '../../store/former-rows.ts';
import { importRuns } from '../../store/schema/internal.ts';
import type { RowReader, ServerFacts } from '../../store/store.ts';
import { readSettings } from '../config.ts';
import { countWords, keptCheck } from '../shared/checks.ts';
import { command, type FlagsOf, jsonFlag, storeFlag } from '../shared/flags.ts';
import { type Holdings, readHoldings } from '../shared/holdings.ts';
import { closing } from '../shared/opened-store.ts';
import { cells, count, countOf, formatTable, print, printable } from '../shared/output.ts';
import { damageRecord, noteDamage } from '../shared/problem.ts';

const options = {
  ...storeFlag,
  '--series': 'every series too',
  '--content-hash':
    'one hash of every instrument, bar and row, whatever the order of imports: reads all of them',
  ...jsonFlag,
} as const;

type Flags = FlagsOf<typeof options>;

type Status = Awaited<ReturnType<typeof readStatus>>;

function readStatus(flags: Flags) {
  const { store: url } = readSettings(flags);
  return closing(openStore(url, 'read'), (store) =>
    store.snapshot(async (reader) => {
      const found = new FoundDamage();
      const counted = <T>(reading: Promise<T>) => unlessDamaged(reading, found.add);
      const check = await counted(checkOf(reader, await keptCheck(url)));
      const holdings = await readHoldings(reader, found.add);
      const { data_version } = holdings;
      return {
        store: store.name,
        facts: await storeFacts(url),
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

/**
 * A kept check, where it is of this store: another may have stood at its address, or an older state of it was
 * restored.
 */
async function checkOf(reader: RowReader, check: Check | null): Promise<Check | null> {
  if (check === null) return null;
  const run = await rowWith(reader, importRuns, { run_id: check.run_id });
  return run?.started_ms === check.run_started_ms ? check : null;
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
