// `bourse export DATASET`
import type { Command } from 'commander';
import { formatBytes } from '../../base/words.ts';
import { priceBases, volumeBases } from '../../contract/file-words.ts';
import type { Selection } from '../../queries/export/export-table.ts';
import { everything, exportTable, whereOf } from '../../queries/export/tables.ts';
import { BARS, fileDatasetNamed } from '../../store/schema/index.ts';
import { readSettings, UsageProblem } from '../config.ts';
import {
  command,
  datasetArgument,
  type FlagsOf,
  jsonFlag,
  quietFlag,
  readBound,
  readCountry,
  readInterval,
  readSchema,
  readSymbolOf,
  storeFlag,
} from '../shared/flags.ts';
import { readStore } from '../shared/opened-store.ts';
import {
  type OutFlags,
  outWords,
  requireOut,
  STANDARD_OUTPUT,
  type Written,
  writeOut,
} from '../shared/out-file.ts';
import { countOf, isQuiet, linesOf, print } from '../shared/output.ts';
import { noteProblem } from '../shared/problem.ts';

/** The exit status when the selection has no rows. */
const EXIT_NOTHING = 1;

const options = {
  ...quietFlag,
  '--out <file>': [outWords, String, STANDARD_OUTPUT],
  '--force': 'replace the file if it exists',
  '--schema <type>': ['only this asset type: stock, future, crypto, forex or option', readSchema],
  '--country <code>': ['only this country, such as US; GLOBAL for crypto and forex', readCountry],
  '--symbol <symbol>': 'only this instrument; for option contracts the underlying',
  '--interval <interval>': [
    'only bars of this interval: 1M is one minute, 60M an hour, DAY, WEEK, MON',
    readInterval,
  ],
  '--prices <basis>': ['only bars whose prices have this basis', priceBases],
  '--volumes <basis>': ['only bars whose volumes have this basis', volumeBases],
  '--from <time>': ['the start: a date or a time, as for bourse delete bars', readBound('--from')],
  '--to <time>': ['the end, included; a date includes its whole day', readBound('--to')],
  ...storeFlag,
  ...jsonFlag,
} as const;

type Flags = FlagsOf<typeof options> & OutFlags;

/** The flags of parts of a selection that have another name. */
const flagNames: { readonly [part in keyof Selection]?: string } = { assetSchema: 'schema', basis: 'prices' };

/** The first part of a selection that a dataset does not have; undefined where it has all. */
function straySelector(name: string, selection: Selection): keyof Selection | undefined {
  if (name === BARS) return undefined;
  const dataset = fileDatasetNamed(name)!;
  const isKnown = (part: keyof Selection): boolean => {
    if (part === 'from' || part === 'to') return dataset.file.time !== undefined;
    return Object.keys(whereOf(dataset, { ...everything, [part]: selection[part] })).length > 0;
  };
  const given = (Object.keys(selection) as (keyof Selection)[]).filter((part) => selection[part] !== null);
  return given.find((part) => !isKnown(part));
}

function readSelection(dataset: string, flags: Flags): Selection {
  const { schema = null, country = null, symbol, interval = null, prices = null, volumes = null } = flags;
  const selection: Selection = {
    ...{ assetSchema: schema, country, interval, basis: prices, volumes },
    symbol: symbol === undefined ? null : readSymbolOf(dataset, symbol),
    from: flags.from ?? null,
    to: flags.to ?? null,
  };
  const stray = straySelector(dataset, selection);
  if (stray !== undefined)
    throw new UsageProblem(`--${flagNames[stray] ?? stray} does not apply to ${dataset}`);
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
    !isQuiet() && `  Import it again with: ${again}`,
  ]);
}

function report(dataset: string, flags: Flags, done: Done): void {
  const { rows, bytes } = done;
  if (rows === 0) {
    const message = `no ${dataset} to export; no file was made`;
    noteProblem(flags, { error: 'no_data', message, hint: null, exit: EXIT_NOTHING });
    process.exitCode = EXIT_NOTHING;
    return;
  }
  const record = { dataset, file: flags.out, rows, bytes, import_flags: done.flags };
  // On standard output is the result itself.
  if (bytes === null && isQuiet()) return;
  print(flags, record, describe(dataset, flags, done), 0, bytes === null ? process.stderr : process.stdout);
}

export const exportCommand = (): Command =>
  command(
    'export',
    options,
    'bourse export bars --out bars.parquet',
    'bourse export bars --country US --symbol AAPL --interval 1M --from 2025-01-01 --out aapl.csv.gz',
    'bourse export instruments --schema stock > stocks.csv',
  )
    .addArgument(datasetArgument('export'))
    .action(async (dataset: string, flags: Flags) => {
      const selection = readSelection(dataset, flags);
      const url = readSettings(flags).store;
      await requireOut(url, flags);
      await readStore(url, 'read', async (reader) => {
        const table = await exportTable(reader, dataset, selection);
        const written = await writeOut(flags, table, dataset);
        if (written !== null) report(dataset, flags, { ...written, flags: table.flags });
      });
    });
