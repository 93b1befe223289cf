// `bourse import DATASET FILE…`
import { Command, CommanderError, Option } from 'commander';
import { barLabels, symbolTimes } from '../../contract/file-words.ts';
import { priceBases, volumeBases } from '../../contract/price-basis.ts';
import { chooseMapping, guessedMapping } from '../../imports/map/choose-mapping.ts';
import { presets } from '../../imports/map/presets/index.ts';
import { inputsOf } from '../../imports/read/inputs.ts';
import { readSettings } from '../config.ts';
import { type Call, ImportCall, watchedBy } from '../import/import-call.ts';
import {
  checkFlags,
  checkSources,
  checkWriteMap,
  fieldNamesOf,
  type ImportFlags,
  recordedFlagsOf,
} from '../import/import-flags.ts';
import { tellFailure } from '../import/on-failure.ts';
import { type TellFailed, watchFolder } from '../import/watch.ts';
import {
  datasetArgument,
  examples,
  jsonOption,
  storeOption,
  wholeNumber,
  withQuiet,
} from '../shared/flags.ts';
import { problemOf } from '../shared/problem.ts';

/** The presets, by dataset, in words. */
export function presetList(): string {
  const parts = [...Map.groupBy(presets, ({ dataset }) => dataset)].map(([dataset, own]) => {
    const lines = own.flatMap(({ name, says, example }) => [
      `  ${name}: ${says}`,
      ...example.map((line) => `      ${line}`),
    ]);
    return [`bourse import ${dataset}`, ...lines].join('\n');
  });
  return `${parts.join('\n\n')}\n\nA preset that a file surely fits is applied automatically; the report names it. --preset NAME chooses one, --preset none none.\n`;
}

/** Imports named files; `tell` is told of each that was not imported. */
async function importFiles(call: Call, names: readonly string[], tell: TellFailed): Promise<void> {
  const run = new ImportCall(call, async (file, problem) => {
    if (problem !== null) await tell(file, problem);
  });
  try {
    await run.take(await inputsOf(names));
    await run.tellFindings();
  } finally {
    await run.close();
  }
  run.conclude();
}

export function importCommand(): Command {
  return withQuiet(new Command('import'))
    .addArgument(datasetArgument('import'))
    .argument(
      '[file...]',
      'CSV or TSV with a header, JSON, NDJSON or Parquet; plain, .gz, .zst or .zip; patterns; - for standard input',
    )
    .addOption(storeOption())
    .option(
      '--map <file>',
      'JSON that says which column gives which field: {"columns": {"datetime": "open_utc"}, "values": {"symbol": "X"}}',
    )
    .option('--delimiter <character>', 'separator of the columns, where it is neither a comma nor a tab: ";"')
    .option(
      '--preset <name>',
      'whose files these are, where their header does not tell; none: Bourse’s own names; list: shows all',
    )
    .on('option:preset', (name: string) => {
      if (name !== 'list') return;
      process.stdout.write(presetList());
      throw new CommanderError(0, 'bourse.presets', '');
    })
    .option('--schema <type>', 'asset type of the whole file: stock, future, crypto, forex or option')
    .option('--country <code>', 'country of the whole file, such as US; GLOBAL for crypto and forex')
    .option('--symbol <symbol>', 'symbol of the whole file')
    .option('--exchange <mic>', 'exchange of the whole file, such as XNAS')
    .option(
      '--currency <code>',
      'currency of the whole file, such as USD, or GBp for pence: of its cash, with bars of its prices',
    )
    .option(
      '--interval <interval>',
      'interval of the whole file: 1M is one minute, 60M an hour, DAY, WEEK, MON',
    )
    .option('--code <event_code>', 'code of all economic events of the file, such as INFLATION_CPI')
    .option('--zone <name>', 'time zone of times without an offset, such as America/New_York')
    .addOption(
      new Option('--prices <basis>', 'how the prices are adjusted (default raw)').choices(priceBases),
    )
    .option(
      '--complete-from <instant>',
      'from when the files have every bar, where their first bars do not tell: 2025-03-03T09:00:00Z',
    )
    .option(
      '--complete-through <instant>',
      'through when the files have every bar, where their last bars do not tell: 2025-03-04T01:00:00Z',
    )
    .addOption(
      new Option(
        '--volumes <basis>',
        'how the volumes are adjusted (default: for splits where the prices are)',
      ).choices(volumeBases),
    )
    .addOption(
      new Option(
        '--symbols <time>',
        "whose rows are those from before an instrument took its present symbol: then: another company's, because the file has the symbols of each day; now: its own, because the file has each whole history under the present symbol",
      ).choices(symbolTimes),
    )
    .addOption(
      new Option(
        '--label <end>',
        'the end of a bar that its datetime names (default open; of weeks dated Sunday close: the week that ends with it)',
      ).choices(barLabels),
    )
    .option(
      '--source <text>',
      'where the file comes from, kept with the run (default: the name of its preset)',
    )
    .option(
      '--replace [from..to]',
      'remove what the same --source or preset brought before and the file does not hold: for each instrument, of events each country and code, from its first row’s date to its last’s, or in these days: 2025-01-01..2025-12-31; where a row is refused, nothing is stored',
    )
    .option('--allow-rejects <count>', 'refused rows with which the exit status is still 0', wholeNumber, 0)
    .option('--no-check', 'do not tell what may be wrong with the imported bars: bourse check tells it later')
    .option('--watch <folder>', 'import the files of a folder as they arrive, until stopped')
    .option(
      '--on-failure <command>',
      'run this by /bin/sh for each file that is not imported: FAILED_FILE, FAILED_DATASET and FAILED_REASON say what and why',
    )
    .option(
      '--explain',
      'show how a file would be read: its preset, columns and first rows, and what would be refused; store nothing',
    )
    .option(
      '--write-map <file>',
      'with --explain: write a mapping file for --map, by what the file shows: separator, encoding, columns, decimal mark, dates',
    )
    .option(
      '--date-format <format>',
      'for --write-map, where dates may begin with the day or with the month: %d.%m.%Y',
    )
    .addOption(
      new Option(
        '--decimal <mark>',
        'for --write-map, where 1.234 may be of thousands or have decimals: , or .',
      ).choices([',', '.']),
    )
    .option('--dry-run', 'read and check everything, store nothing')
    .addOption(jsonOption())
    .addHelpText(
      ...examples(
        'bourse import bars prices.csv --schema stock --country US --interval 1M',
        'bourse import bars btc.csv.gz --schema crypto --country GLOBAL --symbol BTCUSD --interval 1M --map btc-map.json',
        'bourse import instruments nasdaq.csv --schema stock --country US',
        "bourse import bars '2025/*.parquet' --schema stock --country US --interval 1M --zone UTC",
        'bourse import corporate-actions actions.csv --source acme --replace --dry-run',
        'bourse import bars --watch incoming --schema stock --country US --interval 1M',
        'zcat prices.csv.gz | bourse import bars - --schema stock --country US --interval 1M',
      ),
    )
    .action(async (dataset: string, names: string[], flags: ImportFlags) => {
      checkFlags(dataset, flags);
      checkSources(names, flags);
      checkWriteMap(names, flags);
      const choose =
        flags.writeMap === undefined
          ? chooseMapping(dataset, flags.preset, flags.map, flags.delimiter)
          : guessedMapping(dataset, fieldNamesOf(dataset), flags);
      const recordedFlags = recordedFlagsOf(flags);
      const call = { dataset, choose, storeUrl: readSettings(flags).store, flags, recordedFlags };
      const tell = (file: string, reason: string): Promise<void> =>
        tellFailure(flags.onFailure, { dataset, file, reason });
      try {
        if (flags.watch === undefined) await importFiles(call, names, tell);
        else await watchFolder(watchedBy(call, flags.watch, tell));
      } catch (error) {
        await tell(flags.watch ?? names.join(' '), problemOf(error).message);
        throw error;
      }
    });
}
