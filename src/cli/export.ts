// `bourse export DATASET`
import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { nearest } from '../base/nearest.ts';
import { formatBytes } from '../base/size.ts';
import { type PriceBasis, priceBases } from '../contract/price-basis.ts';
import { fileDatasetNames } from '../datasets/index.ts';
import {
  type OutFormat,
  outFormatOf,
  outNames,
  requireFree,
  writeToFile,
  writeToStream,
} from '../export/export-file.ts';
import type { ExportTable, ImportAdvice, Selection } from '../export/export-table.ts';
import { exportTable, straySelector } from '../export/tables.ts';
import { openStore, storeFacts } from '../store/engines.ts';
import { UnfitPlace } from '../store/store.ts';
import { readSettings, UsageProblem } from './config.ts';
import { jsonOption, storeOption } from './options.ts';
import { Progress } from './progress.ts';
import { readBound, readCountry, readInterval, readSchema, readSymbolOf } from './selection.ts';
import { countOf, printable } from './table.ts';

/** Nothing was there to be exported. */
const EXIT_NOTHING = 1;

const STANDARD_OUTPUT = '-';

type Flags = {
  readonly store?: string;
  readonly out: string;
  readonly force?: boolean;
  readonly schema?: string;
  readonly country?: string;
  readonly symbol?: string;
  readonly interval?: string;
  readonly prices?: PriceBasis;
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
};

/** The flag of each part of a selection. */
const flagOf: Readonly<Record<keyof Selection, string>> = {
  assetSchema: '--schema',
  country: '--country',
  symbol: '--symbol',
  interval: '--interval',
  basis: '--prices',
  from: '--from',
  to: '--to',
};

function datasetNamed(name: string): string {
  if (fileDatasetNames.includes(name)) return name;
  const near = nearest(name, fileDatasetNames);
  throw new UsageProblem(
    `there is no dataset ${name} to export: it is one of ${fileDatasetNames.join(', ')}${near === undefined ? '' : `; is it ${near}?`}`,
  );
}

function readSelection(dataset: string, flags: Flags): Selection {
  const selection: Selection = {
    assetSchema: readSchema(flags.schema),
    country: readCountry(flags.country),
    symbol: readSymbolOf(dataset, flags.symbol),
    interval: readInterval(flags.interval),
    basis: flags.prices ?? null,
    from: readBound('--from', flags.from),
    to: readBound('--to', flags.to),
  };
  const stray = straySelector(dataset, selection);
  if (stray !== undefined) throw new UsageProblem(`${flagOf[stray]} says nothing of ${dataset}`);
  if (selection.symbol !== null && selection.country === null)
    throw new UsageProblem(`--symbol ${flags.symbol}: name its country too, such as --country US`);
  return selection;
}

function formatOf(name: string): OutFormat {
  const format = outFormatOf(name);
  if (format === null) throw new UsageProblem(`--out ${name}: its name must end in ${outNames}`);
  return format;
}

/** A file of the store itself is never replaced. */
async function refuseOwn(url: string, name: string): Promise<void> {
  const place = resolve(name);
  const { parts } = await storeFacts(url);
  if (parts.some(({ path }) => [resolve(path), realpathSync(path)].includes(place)))
    throw new UnfitPlace(`${place} belongs to the store itself: give the export another name`);
}

type Done = ImportAdvice & { readonly rows: number; readonly bytes: number | null };

/**
 * Writes to standard output; false where not all of it was taken. Who reads may have had enough, and anything else is told where
 * standard output is looked after (`main.ts`).
 */
async function writeToOutput(table: ExportTable, onRows: (rows: number) => void): Promise<boolean> {
  try {
    await writeToStream(table, process.stdout, onRows);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === 'write') return false;
    throw error;
  }
}

/** Writes a table to where it is to go; null where that has ended before. */
async function exportTo(
  out: string,
  table: ExportTable,
  dataset: string,
  force: boolean,
): Promise<Done | null> {
  const isStream = out === STANDARD_OUTPUT;
  const name = isStream ? dataset : basename(out);
  const progress = new Progress({ name, bytes: null, rowsAbout: table.rowsAbout });
  let rows = 0;
  const onRows = (written: number): void => {
    rows = written;
    progress.reached(written);
  };
  try {
    if (isStream && !(await writeToOutput(table, onRows))) return null;
    const bytes = isStream ? null : await writeToFile(table, out, formatOf(out), force, onRows);
    return { rows, bytes, ...table.advice() };
  } finally {
    progress.end();
  }
}

/** The account of an export in words. */
function describe(dataset: string, { out }: Flags, { rows, bytes, flags, notes }: Done): string {
  const place = bytes === null ? 'standard output' : out;
  const size = bytes === null ? '' : `, ${formatBytes(bytes)}`;
  const back = ['bourse import', dataset, bytes === null ? 'FILE' : out, ...flags].join(' ');
  return [`${place}: ${countOf(rows, 'row')}${size}`, ...notes, `comes back by ${back}`]
    .map((line, place) => printable(place === 0 ? line : `  ${line}`))
    .join('\n');
}

function tell(dataset: string, flags: Flags, done: Done): void {
  const { out, json } = flags;
  const { rows, bytes } = done;
  if (rows === 0) {
    process.stderr.write(`bourse: there is nothing to export of ${dataset} here; no file was made\n`);
    process.exitCode = EXIT_NOTHING;
    return;
  }
  const record = { dataset, file: out, rows, bytes, import_flags: done.flags, notes: done.notes };
  const text = json ? JSON.stringify(record) : describe(dataset, flags, done);
  (bytes === null ? process.stderr : process.stdout).write(`${text}\n`);
}

export function exportCommand(): Command {
  return new Command('export')
    .argument('<dataset>', fileDatasetNames.join(', '))
    .addOption(
      new Option('--out <file>', `its name ends in ${outNames}; - is standard output, as CSV`).default(
        STANDARD_OUTPUT,
      ),
    )
    .option('--force', 'replace the file if it is there')
    .option('--schema <type>', 'this asset type alone: stock, future, crypto, forex or option')
    .option('--country <code>', 'this country alone, such as US; GLOBAL for crypto and forex')
    .option('--symbol <symbol>', 'this instrument alone; of option contracts the underlying')
    .option(
      '--interval <interval>',
      'bars of this interval alone: 1M is one minute, 60M an hour, DAY, WEEK, MON',
    )
    .addOption(new Option('--prices <basis>', 'bars of this basis alone').choices(priceBases))
    .option('--from <time>', 'the first: a date or a time, as bourse delete bars takes it')
    .option('--to <time>', 'the last, likewise: a date is included whole')
    .addOption(storeOption())
    .addOption(jsonOption())
    .addHelpText(
      'before',
      `Examples:
  bourse export bars --out bars.parquet
  bourse export bars --country US --symbol AAPL --interval 1M --from 2025-01-01 --out aapl.csv.gz
  bourse export instruments --schema stock > stocks.csv
`,
    )
    .action(async (name: string, flags: Flags) => {
      const dataset = datasetNamed(name);
      const selection = readSelection(dataset, flags);
      const url = readSettings(flags.store === undefined ? {} : { store: flags.store }).store;
      if (flags.out !== STANDARD_OUTPUT) {
        formatOf(flags.out);
        requireFree(resolve(flags.out), flags.force === true);
      }
      const store = await openStore(url, 'read');
      try {
        if (flags.out !== STANDARD_OUTPUT) await refuseOwn(url, flags.out);
        const done = await store.snapshot(async (reader) => {
          const table = await exportTable(reader, dataset, selection);
          return exportTo(flags.out, table, dataset, flags.force === true);
        });
        if (done !== null) tell(dataset, flags, done);
      } finally {
        await store.close();
      }
    });
}
