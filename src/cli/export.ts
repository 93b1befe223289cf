// `bourse export DATASET`
import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { formatBytes } from '../base/size.ts';
import { type PriceBasis, priceBases, type VolumeBasis, volumeBases } from '../contract/price-basis.ts';
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
import { FoundDamage } from '../series/damaged-bars.ts';
import type { Damage } from '../store/damage.ts';
import { storeFacts } from '../store/engines.ts';
import { UnfitPlace } from '../store/store.ts';
import { readSettings, UsageProblem } from './config.ts';
import { damageRecord, noteDamage } from './damage.ts';
import { datasetArgument, examples, jsonOption, storeOption, withQuiet } from './flags.ts';
import { readStore } from './opened-store.ts';
import { isQuiet, linesOf, print } from './output.ts';
import { noteProblem } from './problem.ts';
import { Progress } from './progress.ts';
import { readBound, readCountry, readInterval, readSchema, readSymbolOf } from './read-flags.ts';
import { countOf } from './table.ts';

/** The exit status when the selection has no rows. */
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
  readonly volumes?: VolumeBasis;
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
  volumes: '--volumes',
  from: '--from',
  to: '--to',
};

function readSelection(dataset: string, flags: Flags): Selection {
  const selection: Selection = {
    assetSchema: readSchema(flags.schema),
    country: readCountry(flags.country),
    symbol: readSymbolOf(dataset, flags.symbol),
    interval: readInterval(flags.interval),
    basis: flags.prices ?? null,
    volumes: flags.volumes ?? null,
    from: readBound('--from', flags.from),
    to: readBound('--to', flags.to),
  };
  const stray = straySelector(dataset, selection);
  if (stray !== undefined) throw new UsageProblem(`${flagOf[stray]} does not apply to ${dataset}`);
  if (selection.symbol !== null && selection.country === null)
    throw new UsageProblem(`--symbol ${flags.symbol}: name its country too, such as --country US`);
  return selection;
}

function formatOf(name: string): OutFormat {
  const format = outFormatOf(name);
  if (format === null) throw new UsageProblem(`--out ${name}: its name must end in ${outNames}`);
  return format;
}

/** Never replaces a file of the store itself. */
async function refuseOwn(url: string, name: string): Promise<void> {
  const place = resolve(name);
  const { parts } = await storeFacts(url);
  if (parts.some(({ path }) => path !== null && [resolve(path), realpathSync(path)].includes(place)))
    throw new UnfitPlace(`${place} belongs to the store itself: give the export another name`);
}

type Done = ImportAdvice & { readonly rows: number; readonly bytes: number | null };

/** Writes a table to a file or to standard output; null where the reader of standard output ended early. */
async function exportTo(
  { out, force = false }: Flags,
  table: ExportTable,
  dataset: string,
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
    const bytes = isStream
      ? await writeToStream(table, process.stdout, onRows).then(() => null)
      : await writeToFile(table, out, formatOf(out), force, onRows);
    return { rows, bytes, ...table.advice() };
  } catch (error) {
    // main.ts reports what goes wrong with standard output; a reader may also have had enough.
    if (isStream && (error as NodeJS.ErrnoException).syscall === 'write') return null;
    throw error;
  } finally {
    progress.end();
  }
}

/** An export in words, with the command that imports it again. */
function describe(dataset: string, { out }: Flags, { rows, bytes, flags, notes }: Done): string {
  const [place, size, file] =
    bytes === null ? ['standard output', '', 'FILE'] : [out, `, ${formatBytes(bytes)}`, out];
  const again = ['bourse import', dataset, file, ...flags].join(' ');
  return linesOf([
    `${place}: ${countOf(rows, 'row')}${size}`,
    ...(isQuiet() ? [] : [...notes, `Import it again with: ${again}`]).map((line) => `  ${line}`),
  ]);
}

function report(dataset: string, flags: Flags, done: Done, damaged: readonly Damage[]): void {
  const { rows, bytes, notes } = done;
  if (rows === 0) {
    const message = `there is nothing to export of ${dataset} here; no file was made`;
    noteProblem(flags, { error: 'no_data', message, hint: null, exit: EXIT_NOTHING });
    process.exitCode = EXIT_NOTHING;
    return;
  }
  const about = { dataset, file: flags.out, rows, bytes, import_flags: done.flags, notes };
  const record = { ...about, damaged: damaged.map(damageRecord) };
  // On standard output is the result itself.
  if (bytes === null && isQuiet()) return;
  print(flags, record, describe(dataset, flags, done), 0, bytes === null ? process.stderr : process.stdout);
}

export function exportCommand(): Command {
  return withQuiet(new Command('export'))
    .addArgument(datasetArgument('export'))
    .option('--out <file>', `its name ends in ${outNames}; - is standard output, as CSV`, STANDARD_OUTPUT)
    .option('--force', 'replace the file if it exists')
    .option('--schema <type>', 'only this asset type: stock, future, crypto, forex or option')
    .option('--country <code>', 'only this country, such as US; GLOBAL for crypto and forex')
    .option('--symbol <symbol>', 'only this instrument; of option contracts the underlying')
    .option(
      '--interval <interval>',
      'only bars of this interval: 1M is one minute, 60M an hour, DAY, WEEK, MON',
    )
    .addOption(new Option('--prices <basis>', 'only bars whose prices have this basis').choices(priceBases))
    .addOption(
      new Option('--volumes <basis>', 'only bars whose volumes have this basis').choices(volumeBases),
    )
    .option('--from <time>', 'the first: a date or a time, as for bourse delete bars')
    .option('--to <time>', 'the last, likewise: a date is included whole')
    .addOption(storeOption())
    .addOption(jsonOption())
    .addHelpText(
      ...examples(
        'bourse export bars --out bars.parquet',
        'bourse export bars --country US --symbol AAPL --interval 1M --from 2025-01-01 --out aapl.csv.gz',
        'bourse export instruments --schema stock > stocks.csv',
      ),
    )
    .action(async (dataset: string, flags: Flags) => {
      const selection = readSelection(dataset, flags);
      const url = readSettings(flags).store;
      if (flags.out !== STANDARD_OUTPUT) {
        formatOf(flags.out);
        requireFree(resolve(flags.out), flags.force === true);
      }
      await readStore(url, 'read', async (reader) => {
        if (flags.out !== STANDARD_OUTPUT) await refuseOwn(url, flags.out);
        const found = new FoundDamage();
        try {
          const table = await exportTable(reader.sound(found.add), dataset, selection);
          const done = await exportTo(flags, table, dataset);
          if (done !== null) report(dataset, flags, done, await found.named(reader));
        } finally {
          noteDamage(await found.named(reader), 'not exported');
        }
      });
    });
}
