// `bourse import DATASET FILE…`
import { type Command, CommanderError } from 'commander';
import { chooseMapping, guessedMapping } from '../../imports/map/choose-mapping.ts';
import { presets } from '../../imports/map/presets/index.ts';
import { inputsOf } from '../../imports/read/inputs.ts';
import { readSettings } from '../config.ts';
import { runImport } from '../import/import-call.ts';
import { type ImportFlags, importOptions, readImportFlags, recordedFlagsOf } from '../import/import-flags.ts';
import { tellFailure, watchFolder } from '../import/watch.ts';
import { command, datasetArgument } from '../shared/flags.ts';
import { problemOf } from '../shared/problem.ts';

/** The presets, by dataset, in words. */
function presetList(): string {
  const parts = [...Map.groupBy(presets, ({ dataset }) => dataset)].map(([dataset, own]) => {
    const lines = own.flatMap(({ name, says, example }) => [
      `  ${name}: ${says}`,
      ...example.map((line) => `      ${line}`),
    ]);
    return [`bourse import ${dataset}`, ...lines].join('\n');
  });
  return `${parts.join('\n\n')}\n\nA preset that a file surely fits is applied automatically; the report names it. --preset NAME chooses one; --preset none turns them off.\n`;
}

export const importCommand = (): Command =>
  command(
    'import',
    importOptions,
    'bourse import bars prices.csv --schema stock --country US --interval 1M',
    'bourse import bars btc.csv.gz --schema crypto --country GLOBAL --symbol BTCUSD --interval 1M --map btc-map.json',
    'bourse import instruments nasdaq.csv --schema stock --country US',
    "bourse import bars '2025/*.parquet' --schema stock --country US --interval 1M --zone UTC",
    'bourse import corporate-actions actions.csv --source acme --replace --dry-run',
    'bourse import bars --watch incoming --schema stock --country US --interval 1M',
    'zcat prices.csv.gz | bourse import bars - --schema stock --country US --interval 1M',
  )
    .addArgument(datasetArgument('import'))
    .argument(
      '[file...]',
      'CSV or TSV with a header, JSON, NDJSON, Parquet or Arrow; plain, .gz, .zst, .bz2, .xz, .zip or .tar; patterns; - for standard input',
    )
    .on('option:preset', (name: string) => {
      if (name !== 'list') return;
      process.stdout.write(presetList());
      throw new CommanderError(0, 'bourse.presets', '');
    })
    .action(async (dataset: string, names: string[], flags: ImportFlags) => {
      const given = readImportFlags(dataset, names, flags);
      const choose =
        flags.writeMap === undefined
          ? chooseMapping(dataset, flags.preset, flags.map, flags)
          : guessedMapping(dataset, given.fields, flags);
      const recordedFlags = recordedFlagsOf(flags);
      const call = { dataset, choose, storeUrl: readSettings(flags).store, flags, given, recordedFlags };
      const tell = (file: string, reason: string): Promise<void> =>
        tellFailure(flags.onFailure, { dataset, file, reason });
      try {
        if (flags.watch !== undefined)
          await watchFolder({
            ...{ ...call, folder: flags.watch, tellFailed: tell },
            take: (paths, onTaken, stop) => runImport(call, paths, onTaken, stop),
          });
        else {
          const run = await runImport(call, await inputsOf(names), async (file, problem) => {
            if (problem !== null) await tell(file, problem);
          });
          run.conclude();
        }
      } catch (error) {
        await tell(flags.watch ?? names.join(' '), problemOf(error).message);
        throw error;
      }
    });
