// `bourse import DATASET FILE…`
import { Command, CommanderError, Option } from 'commander';
import { nearest } from '../base/nearest.ts';
import { findZone, type Zone } from '../calendar/zone.ts';
import { type PriceBasis, priceBases } from '../contract/price-basis.ts';
import { barFields } from '../datasets/bars.ts';
import type { Fields } from '../datasets/field.ts';
import { BARS, fileDatasetNamed, fileDatasetNames } from '../datasets/index.ts';
import { FileProblem } from '../files/file-problem.ts';
import { inputsOf } from '../files/inputs.ts';
import { openSources } from '../files/source.ts';
import type { ImportReport } from '../history/import-report.ts';
import { importFile, requestOf } from '../loading/importers.ts';
import { chooseMapping } from '../mapping/choose-mapping.ts';
import type { ChooseMapping, MappedFile } from '../mapping/column-mapping.ts';
import { explainFile } from '../mapping/explain-file.ts';
import { namesOf } from '../mapping/field-names.ts';
import { readMappingFile } from '../mapping/mapping-file.ts';
import type { Store } from '../store/store.ts';
import { readSettings, UsageProblem } from './config.ts';
import { openForImport } from './existing-store.ts';
import { describeExplained } from './explain.ts';
import { jsonOption, storeOption, wholeNumber } from './options.ts';
import { presetList } from './preset-list.ts';
import { Progress } from './progress.ts';
import { readCountry, readInterval, readSchema, readSymbolOf } from './selection.ts';
import { count, countOf, printable } from './table.ts';
import { tellWait } from './waiting.ts';
import { type Watched, watchFolder } from './watch.ts';

/** Done, but not with everything (contract 10). */
const EXIT_PARTLY = 1;
const EXIT_USAGE = 2;

type Flags = {
  readonly store?: string;
  readonly map?: string;
  readonly delimiter?: string;
  readonly preset?: string;
  readonly schema?: string;
  readonly country?: string;
  readonly symbol?: string;
  readonly exchange?: string;
  readonly interval?: string;
  readonly code?: string;
  readonly zone?: string;
  readonly prices?: PriceBasis;
  readonly source?: string;
  readonly allowRejects: number;
  readonly dryRun?: boolean;
  readonly watch?: string;
  readonly explain?: boolean;
  readonly json?: boolean;
};

function zoneNamed(name: string | undefined): Zone | undefined {
  if (name === undefined) return undefined;
  const zone = findZone(name);
  if (zone !== null) return zone;
  const near = nearest(name, Intl.supportedValuesOf('timeZone'));
  throw new UsageProblem(`--zone ${name}: is not a time zone${near === undefined ? '' : `; is it ${near}?`}`);
}

/** The fields of a dataset's files. */
const fieldsOf = (dataset: string): Fields => fileDatasetNamed(dataset)?.file.fields ?? barFields;

const datasetsWhere = (holds: (fields: Fields) => boolean): string[] =>
  fileDatasetNames.filter((dataset) => holds(fieldsOf(dataset)));

const fieldFlagNames = ['schema', 'country', 'symbol', 'exchange', 'interval', 'code'] as const;

/** The datasets of whose files a flag says something. */
const datasetsOf = (flag: (typeof fieldFlagNames)[number]): string[] =>
  datasetsWhere((fields) => Object.values(fields).some((field) => field.flag === `--${flag}`));

const hasInstants = (fields: Fields): boolean => Object.values(fields).some(({ rule }) => 'unit' in rule);

/** A flag that means nothing for a dataset, and a value that no file could have, are mistakes before any file is read. */
function checkFlags(dataset: string, flags: Flags): void {
  const known = [
    ['prices', [BARS] as string[]] as const,
    ['zone', datasetsWhere(hasInstants)] as const,
    ...fieldFlagNames.map((flag) => [flag, datasetsOf(flag)] as const),
  ];
  for (const [name, datasets] of known) {
    if (flags[name] === undefined || datasets.includes(dataset)) continue;
    throw new UsageProblem(`--${name} says nothing of ${dataset}: it is for ${datasets.join(', ')}`);
  }
  readSchema(flags.schema);
  readCountry(flags.country);
  readSymbolOf(dataset, flags.symbol);
  readInterval(flags.interval);
  zoneNamed(flags.zone);
}

/** The fields that flags give for the whole file. */
const fieldFlags = (dataset: string, flags: Flags): Map<string, string> =>
  new Map(
    Object.entries(fieldsOf(dataset)).flatMap(([field, { flag }]) => {
      const value = fieldFlagNames.find((name) => `--${name}` === flag);
      return value === undefined || flags[value] === undefined ? [] : [[field, flags[value]] as const];
    }),
  );

const presetWords = ({ preset }: ImportReport): string =>
  preset === null
    ? ''
    : [
        preset.name,
        Object.entries(preset.says)
          .map(([what, value]) => `${what} ${value}`)
          .join(', '),
      ]
        .filter((words) => words !== '')
        .join(': ');

/** The account of an import in words. */
function describe(report: ImportReport): string {
  const refusals = report.refused.map(
    (refusal) => `  data row ${refusal.row}, column ${refusal.column}: ${refusal.reason}`,
  );
  const more = report.rowsRefused - report.refused.length;
  const notes = [
    [report.preset !== null, `read by the preset ${presetWords(report)}`],
    [report.preset !== null && report.preset.doubt !== null, `note: ${report.preset?.doubt}`],
    [report.ignoredColumns.length > 0, `columns passed over: ${report.ignoredColumns.join(', ')}`],
    [
      report.newInstruments > 0 && report.runId !== null,
      `${countOf(report.newInstruments, 'new instrument')}, with the defaults of the market`,
    ],
    [
      report.outsideSessions > 0,
      `outside every session, kept and not served: ${countOf(report.outsideSessions, 'bar')}${report.outsideSessions * 2 > report.rowsRead ? '; is the zone of the times right (--zone)?' : ''}`,
    ],
    [
      report.offGrid > 0,
      `off the session grid, served as imported and never used to derive others: ${countOf(report.offGrid, 'bar')}`,
    ],
    [
      report.vwapOutside > 0,
      `with a vwap outside low and high, stored and served: ${countOf(report.vwapOutside, 'bar')}`,
    ],
    ...Object.entries(report.findings).map(
      ([what, rows]) => [true, `${what}: ${countOf(rows, 'row')}`] as const,
    ),
    [report.mayBeCut, 'the last line has no end: if the file was cut off, its last value may be wrong'],
    [
      report.rowsRefused > 0,
      `${countOf(report.rowsRefused, 'row')} refused, kept in ${report.rejectedFile}:`,
    ],
  ] as const;
  return [
    `${report.file}: ${countOf(report.rowsRead, 'row')} read, ${count(report.rowsWritten)} written, ${count(report.rowsUnchanged)} unchanged, ${count(report.rowsRefused)} refused${report.runId === null ? '; nothing was stored' : ` (run ${report.runId}, ${(report.durationMs / 1000).toFixed(1)} s)`}`,
    ...notes.filter(([holds]) => holds).map(([, note]) => `  ${note}`),
    ...refusals,
    ...(more > 0 ? [`  and ${count(more)} more`] : []),
    ...(report.refused.some(({ reason }) => reason === 'is not a number')
      ? ['  signs and separators in numbers are taken out by a map: --map, "remove" and "decimal"']
      : []),
  ]
    .map(printable)
    .join('\n');
}

function checkDataset(dataset: string): void {
  if (fileDatasetNames.includes(dataset)) return;
  const near = nearest(dataset, fileDatasetNames);
  throw new UsageProblem(
    `there is no dataset ${dataset} to import: it is one of ${fileDatasetNames.join(', ')}${near === undefined ? '' : `; is it ${near}?`}`,
  );
}

/** Files are named, or come by and by. */
function checkSources(names: readonly string[], { watch, dryRun, explain }: Flags): void {
  if (names.length === 0 && watch === undefined)
    throw new UsageProblem('name the files to import, or by --watch the folder that they come to');
  if (watch !== undefined && (names.length > 0 || dryRun || explain))
    throw new UsageProblem(
      '--watch imports what its folder has: it goes with no file and without --dry-run and --explain',
    );
}

/** A folder whose files are each imported by a call of their own. */
function watchedBy(
  dataset: string,
  choose: ChooseMapping,
  storeUrl: string,
  folder: string,
  flags: Flags,
): Watched {
  const { watch: _, json: __, store: ___, allowRejects: ____, ...call } = flags;
  return {
    folder,
    dataset,
    call: JSON.stringify([call, flags.map === undefined ? null : readMappingFile(flags.map)]),
    storeUrl,
    async take(path) {
      const run = new ImportCall(dataset, choose, storeUrl, flags);
      try {
        await run.take(path);
      } catch (error) {
        // How the call was meant for other files may be wrong for this one.
        if (!(error instanceof FileProblem)) throw error;
        process.stderr.write(`bourse: ${printable(error.message)}\n`);
      } finally {
        await run.close();
      }
      return { runs: run.runs };
    },
  };
}

export function importCommand(): Command {
  return new Command('import')
    .argument('<dataset>', fileDatasetNames.join(', '))
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
      '--interval <interval>',
      'interval of the whole file: 1M is one minute, 60M an hour, DAY, WEEK, MON',
    )
    .option('--code <event_code>', 'code of all economic events of the file, such as INFLATION_CPI')
    .option('--zone <name>', 'time zone of times without an offset, such as America/New_York')
    .addOption(
      new Option('--prices <basis>', 'what was done to the prices already (default raw)').choices(priceBases),
    )
    .option('--source <text>', 'where the file comes from, kept with the run')
    .option('--allow-rejects <count>', 'refused rows with which the exit status is still 0', wholeNumber, 0)
    .option('--watch <folder>', 'take the files of a folder as they arrive, until stopped')
    .option(
      '--explain',
      'show what would be read of a file: its preset, columns and first rows; store nothing',
    )
    .option('--dry-run', 'read and check everything, store nothing')
    .addOption(jsonOption())
    .addHelpText(
      'before',
      `Examples:
  bourse import bars prices.csv --schema stock --country US --interval 1M
  bourse import bars btc.csv.gz --schema crypto --country GLOBAL --symbol BTCUSD --interval 1M --map btc-map.json
  bourse import instruments nasdaq.csv --schema stock --country US
  bourse import bars '2025/*.parquet' --schema stock --country US --interval 1M --zone UTC
  bourse import bars --watch incoming --schema stock --country US --interval 1M
  zcat prices.csv.gz | bourse import bars - --schema stock --country US --interval 1M
`,
    )
    .action(async (dataset: string, names: string[], flags: Flags) => {
      checkDataset(dataset);
      checkFlags(dataset, flags);
      checkSources(names, flags);
      const choose = chooseMapping(dataset, flags.preset, flags.map, flags.delimiter);
      const settings = readSettings(flags.store === undefined ? {} : { store: flags.store });
      if (flags.watch !== undefined)
        return watchFolder(watchedBy(dataset, choose, settings.store, flags.watch, flags));
      const run = new ImportCall(dataset, choose, settings.store, flags);
      try {
        for (const name of await inputsOf(names)) await run.take(name);
      } finally {
        await run.close();
      }
      run.conclude();
    });
}

/** One call of the command: each file is an import of its own, and one that is at fault does not keep others out. */
class ImportCall {
  readonly #dataset: string;
  readonly #choose: ChooseMapping;
  readonly #storeUrl: string;
  readonly #flags: Flags;
  /** Opened, and made where there is none, only when there is a file to import. */
  #store: Store | null = null;
  readonly #reports: ImportReport[] = [];
  #failed = 0;
  /** The exit status of the worst file. */
  #worst = 0;

  constructor(dataset: string, choose: ChooseMapping, storeUrl: string, flags: Flags) {
    this.#dataset = dataset;
    this.#choose = choose;
    this.#storeUrl = storeUrl;
    this.#flags = flags;
  }

  /** Imports what a name stands for. @throws FileProblem where the call, not the file, is at fault */
  async take(name: string): Promise<void> {
    const files = openSources(name, process.stdin, this.#choose);
    for (;;) {
      const next = await this.#orFailed(() => files.next());
      if (next === null || next.done === true) return;
      const opened = next.value;
      if (opened instanceof FileProblem) await this.#orFailed(() => Promise.reject(opened));
      else await this.#orFailed(() => this.#importAndClose(opened));
    }
  }

  /** Runs a step; a problem of the file is told, and the step gives null. */
  async #orFailed<T>(step: () => Promise<T>): Promise<T | null> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof FileProblem) || error.kind === 'usage') throw error;
      process.stderr.write(`bourse: ${printable(error.message)}\n`);
      this.#failed++;
      this.#worst = Math.max(this.#worst, error.kind === 'unfit' ? EXIT_USAGE : EXIT_PARTLY);
      return null;
    }
  }

  async #importAndClose(file: MappedFile): Promise<void> {
    try {
      await (this.#flags.explain === true ? this.#explainFile(file) : this.#importFile(file));
    } finally {
      await file.close();
    }
  }

  /** Tells what the file is; one that cannot be imported as it was asked for is told as one that was. */
  async #explainFile(opened: MappedFile): Promise<void> {
    const flags = this.#flags;
    const { file, zone } = requestOf(opened, { zone: zoneNamed(flags.zone), prices: flags.prices });
    const fields = namesOf(fieldsOf(this.#dataset));
    const explained = await explainFile({ file, fields, flags: fieldFlags(this.#dataset, flags), zone });
    process.stdout.write(flags.json ? `${JSON.stringify(explained)}\n` : describeExplained(explained));
    if (explained.problem !== null) throw new FileProblem('unfit', explained.problem);
  }

  async #importFile(file: MappedFile): Promise<void> {
    const flags = this.#flags;
    this.#store ??= await openForImport(this.#storeUrl, flags.dryRun === true);
    const progress = new Progress(file);
    const request = {
      ...requestOf(file, { zone: zoneNamed(flags.zone), prices: flags.prices }),
      flags: fieldFlags(this.#dataset, flags),
      source: flags.source ?? null,
      dryRun: flags.dryRun === true,
      nowMs: Date.now,
      onRows: (rows: number) => progress.reached(rows),
      onWait: tellWait(this.#store),
    };
    const report = await importFile(this.#store, this.#dataset, request).finally(() => progress.end());
    const text = describe(report);
    // Of many runs each is one line.
    const told =
      flags.watch === undefined ? text : text.replaceAll(/(?<!:)\n\s*/g, '; ').replaceAll(/\n\s*/g, ' ');
    process.stdout.write(flags.json ? `${JSON.stringify(report)}\n` : `${told}\n`);
    this.#reports.push(report);
  }

  /** What the files became; one of which nothing was stored is in none. */
  get runs(): number[] {
    return this.#reports.flatMap(({ runId }) => runId ?? []);
  }

  async close(): Promise<void> {
    await this.#store?.close();
  }

  /** Adds several files up, and sets the exit status. */
  conclude(): void {
    const refused = this.#reports.reduce((sum, report) => sum + report.rowsRefused, 0);
    const written = this.#reports.reduce((sum, report) => sum + report.rowsWritten, 0);
    const files = this.#reports.length + this.#failed;
    if (files > 1) {
      process.stderr.write(
        `${count(files)} files: ${count(this.#failed)} failed, ${count(written)} rows written, ${count(refused)} refused\n`,
      );
    }
    const isPartly = this.#reports.some((report) => report.rowsRefused > this.#flags.allowRejects);
    // Where something was imported, the call was not asked for wrongly.
    if (isPartly || (this.#failed > 0 && this.#reports.length > 0)) process.exitCode = EXIT_PARTLY;
    else if (this.#failed > 0) process.exitCode = this.#worst;
  }
}
