// `bourse import DATASET FILE…`
import { Command, Option } from 'commander';
import { findZone, type Zone } from '../calendar/zone.ts';
import { importBars } from '../ingest/bars.ts';
import { importInstruments } from '../ingest/instruments.ts';
import type { PriceBasis } from '../ingest/load.ts';
import { nearest, noMap, readMap } from '../ingest/mapping.ts';
import type { ImportReport } from '../ingest/report.ts';
import type { ImportRequest } from '../ingest/run.ts';
import { openStore } from '../store/engines.ts';
import type { OnWait, Store } from '../store/store.ts';
import { readSettings, UsageProblem } from './config.ts';
import { jsonOption, storeOption, wholeNumber } from './options.ts';

type Flags = {
  readonly store?: string;
  readonly map?: string;
  readonly schema?: string;
  readonly country?: string;
  readonly symbol?: string;
  readonly exchange?: string;
  readonly interval?: string;
  readonly zone?: string;
  readonly prices: PriceBasis;
  readonly source?: string;
  readonly allowRejects: number;
  readonly dryRun?: boolean;
  readonly json?: boolean;
};

type Importer = (store: Store, request: ImportRequest, flags: Flags) => Promise<ImportReport>;

const importers: Readonly<Record<string, Importer>> = {
  bars: (store, request, flags) =>
    importBars(store, { ...request, map: mapOf(flags), zone: zoneNamed(flags.zone), basis: flags.prices }),
  instruments: (store, request, flags) => importInstruments(store, { ...request, map: mapOf(flags) }),
};

const mapOf = (flags: Flags) => (flags.map === undefined ? noMap : readMap(flags.map));

function zoneNamed(name: string | undefined): Zone | null {
  if (name === undefined) return null;
  const zone = findZone(name);
  if (zone !== null) return zone;
  const near = nearest(name, Intl.supportedValuesOf('timeZone'));
  throw new UsageProblem(`--zone ${name}: is not a time zone${near === undefined ? '' : `; is it ${near}?`}`);
}

/** Flags that give a field for the whole file. */
function fieldFlags(flags: Flags): Map<string, string> {
  const given: [string, string | undefined][] = [
    ['asset_schema', flags.schema],
    ['country_iso_code', flags.country],
    ['symbol', flags.symbol],
    ['exchange', flags.exchange],
    ['interval', flags.interval],
  ];
  return new Map(given.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

const count = (value: number): string => value.toLocaleString('en-US');

/** The account of an import in words. */
function describe(report: ImportReport): string {
  const refusals = report.refused.map(
    (refusal) => `  data row ${refusal.row}, column ${refusal.column}: ${refusal.reason}`,
  );
  const more = report.rowsRefused - report.refused.length;
  const notes = [
    [report.ignoredColumns.length > 0, `columns passed over: ${report.ignoredColumns.join(', ')}`],
    [
      report.newInstruments > 0 && report.runId !== null,
      `${count(report.newInstruments)} new instruments, with their market's defaults`,
    ],
    [
      report.outsideSessions > 0,
      `${count(report.outsideSessions)} bars lie outside every session: kept, not served`,
    ],
    [
      report.offGrid > 0,
      `${count(report.offGrid)} bars lie off the session grid: served as imported, never used to derive others`,
    ],
    [
      report.rowsRefused > 0,
      `${count(report.rowsRefused)} rows refused, all of them in ${report.rejectedFile}:`,
    ],
  ] as const;
  return [
    `${report.file}: ${count(report.rowsRead)} rows read, ${count(report.rowsWritten)} written, ${count(report.rowsUnchanged)} unchanged, ${count(report.rowsRefused)} refused${report.runId === null ? '; nothing was stored' : ` (run ${report.runId}, ${(report.durationMs / 1000).toFixed(1)} s)`}`,
    ...notes.filter(([holds]) => holds).map(([, note]) => `  ${note}`),
    ...refusals,
    ...(more > 0 ? [`  and ${count(more)} more`] : []),
  ].join('\n');
}

/** Says once what an import waits for. */
const tellWait =
  (store: Store): OnWait =>
  (pid) =>
    void process.stderr.write(
      `bourse: waiting for another import into ${store.name} to end${pid === null ? '' : ` (process ${pid})`}\n`,
    );

function importerOf(dataset: string): Importer {
  if (Object.hasOwn(importers, dataset)) return importers[dataset]!;
  const near = nearest(dataset, Object.keys(importers));
  throw new UsageProblem(
    `there is no dataset ${dataset} to import: it is one of ${Object.keys(importers).join(', ')}${near === undefined ? '' : `; is it ${near}?`}`,
  );
}

export function importCommand(): Command {
  return new Command('import')
    .argument('<dataset>', Object.keys(importers).join(' or '))
    .argument('<file...>', 'CSV files with a header, plain or gzip')
    .description(
      'Import files. Each becomes visible whole or not at all; importing one twice changes nothing.',
    )
    .addOption(storeOption())
    .option(
      '--map <file>',
      'JSON that says which column gives which field: {"columns": {"datetime": "open_utc"}, "values": {"symbol": "X"}}',
    )
    .option('--schema <type>', 'asset type of the whole file: stock, future, crypto, forex or option')
    .option('--country <code>', 'country of the whole file, such as US; GLOBAL for crypto and forex')
    .option('--symbol <symbol>', 'symbol of the whole file')
    .option('--exchange <mic>', 'exchange of the whole file, such as XNAS')
    .option(
      '--interval <interval>',
      'interval of the whole file: 1M is one minute, 60M an hour, DAY, WEEK, MON',
    )
    .option('--zone <name>', 'time zone of times without an offset, such as America/New_York')
    .addOption(
      new Option('--prices <basis>', 'what was done to the prices already')
        .choices(['raw', 'split', 'all'])
        .default('raw'),
    )
    .option('--source <text>', 'where the file comes from, kept with the run')
    .option('--allow-rejects <count>', 'refused rows with which the exit status is still 0', wholeNumber, 0)
    .option('--dry-run', 'read and check everything, store nothing')
    .addOption(jsonOption())
    .addHelpText(
      'before',
      `Examples:
  bourse import bars prices.csv --schema stock --country US --interval 1M
  bourse import bars btc.csv.gz --schema crypto --country GLOBAL --symbol BTCUSD --interval 1M --map btc-map.json
  bourse import instruments nasdaq.csv --schema stock --country US
`,
    )
    .action(async (dataset: string, files: string[], flags: Flags) => {
      const importer = importerOf(dataset);
      const { store: url } = readSettings(flags.store === undefined ? {} : { store: flags.store });
      const store = await openStore(url, 'write');
      try {
        for (const file of files) {
          const request = {
            file,
            flags: fieldFlags(flags),
            source: flags.source ?? null,
            dryRun: flags.dryRun === true,
            nowMs: Date.now,
            onWait: tellWait(store),
          };
          const report = await importer(store, request, flags);
          process.stdout.write(flags.json ? `${JSON.stringify(report)}\n` : `${describe(report)}\n`);
          if (report.rowsRefused > flags.allowRejects) process.exitCode = 1;
        }
      } finally {
        await store.close();
      }
    });
}
