// `bourse export DATASET`
import { Command, Option } from 'commander';
import { formatBytes } from '../../base/size.ts';
import { type PriceBasis, priceBases, type VolumeBasis, volumeBases } from '../../contract/price-basis.ts';
import type { Selection } from '../../queries/export/export-table.ts';
import { exportTable, straySelector } from '../../queries/export/tables.ts';
import { readSettings, UsageProblem } from '../config.ts';
import { datasetArgument, examples, jsonOption, storeOption, withQuiet } from '../shared/flags.ts';
import { readStore } from '../shared/opened-store.ts';
import {
  type OutFlags,
  outWords,
  refuseOwnFile,
  requireOut,
  STANDARD_OUTPUT,
  type Written,
  writeOut,
} from '../shared/out-file.ts';
import { isQuiet, linesOf, print } from '../shared/output.ts';
import { noteProblem } from '../shared/problem.ts';
import { readBound, readCountry, readInterval, readSchema, readSymbolOf } from '../shared/read-flags.ts';
import { countOf } from '../shared/table.ts';

/** The exit status when the selection has no rows. */
const EXIT_NOTHING = 1;

type Flags = OutFlags & {
  readonly store?: string;
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

type Done = Written & { readonly flags: readonly string[] };

/** An export in words, with the command that imports it again. */
function describe(dataset: string, { out }: Flags, { rows, bytes, flags }: Done): string {
  const [place, size, file] =
    bytes === null ? ['standard output', '', 'FILE'] : [out, `, ${formatBytes(bytes)}`, out];
  const again = ['bourse import', dataset, file, ...flags].join(' ');
  return linesOf([
    `${place}: ${countOf(rows, 'row')}${size}`,
    ...(isQuiet() ? [] : [`  Import it again with: ${again}`]),
  ]);
}

function report(dataset: string, flags: Flags, done: Done): void {
  const { rows, bytes } = done;
  if (rows === 0) {
    const message = `there is nothing to export of ${dataset} here; no file was made`;
    noteProblem(flags, { error: 'no_data', message, hint: null, exit: EXIT_NOTHING });
    process.exitCode = EXIT_NOTHING;
    return;
  }
  const record = { dataset, file: flags.out, rows, bytes, import_flags: done.flags };
  // On standard output is the result itself.
  if (bytes === null && isQuiet()) return;
  print(flags, record, describe(dataset, flags, done), 0, bytes === null ? process.stderr : process.stdout);
}

export function exportCommand(): Command {
  return withQuiet(new Command('export'))
    .addArgument(datasetArgument('export'))
    .option('--out <file>', outWords, STANDARD_OUTPUT)
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
      requireOut(flags);
      await readStore(url, 'read', async (reader) => {
        await refuseOwnFile(url, flags.out);
        const table = await exportTable(reader, dataset, selection);
        const written = await writeOut(flags, table, dataset);
        if (written !== null) report(dataset, flags, { ...written, flags: table.flags });
      });
    });
}
