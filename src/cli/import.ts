// `bourse import DATASET FILE…`
import { hash } from 'node:crypto';
import { relative, resolve } from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import { parseInstant } from '../base/instant.ts';
import { findZone, type Zone } from '../calendar/zone.ts';
import { type PriceBasis, priceBases, type VolumeBasis, volumeBases } from '../contract/price-basis.ts';
import { barFields } from '../datasets/bars.ts';
import type { Fields } from '../datasets/field.ts';
import { BARS, fileDatasetNamed, fileDatasetNames } from '../datasets/index.ts';
import { FileProblem } from '../files/file-problem.ts';
import { inputsOf } from '../files/inputs.ts';
import { openSources } from '../files/source.ts';
import { clearFailure } from '../history/failed-files.ts';
import type { ImportReport } from '../history/import-report.ts';
import type { RecordedFlags } from '../history/run.ts';
import { runOfFile } from '../history/watched-file.ts';
import { importFile, requestOf } from '../loading/importers.ts';
import { chooseMapping } from '../mapping/choose-mapping.ts';
import type { ChooseMapping, MappedFile } from '../mapping/column-mapping.ts';
import { explainFile } from '../mapping/explain-file.ts';
import { namesOf } from '../mapping/field-names.ts';
import { readMappingFile } from '../mapping/mapping-file.ts';
import { DamagedData } from '../store/damage.ts';
import type { Store } from '../store/store.ts';
import { hintFor, readSettings, UsageProblem } from './config.ts';
import { describeExplained, describeRefusals } from './explain.ts';
import { examples, jsonOption, storeOption, wholeNumber } from './flags.ts';
import { describeImport } from './import-words.ts';
import { closing, type ImportMode, openForImport } from './opened-store.ts';
import { note, noteWait, print } from './output.ts';
import { presetList } from './preset-list.ts';
import { EXIT_PARTLY, printProblem } from './problem.ts';
import { Progress } from './progress.ts';
import {
  checkDataset,
  readCountry,
  readInterval,
  readSchema,
  readSymbolOf,
  spokenFlag,
} from './read-flags.ts';
import { count } from './table.ts';
import { skipText, type Watched, watchFolder } from './watch.ts';

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
  readonly completeThrough?: string;
  readonly volumes?: VolumeBasis;
  readonly source?: string;
  readonly allowRejects: number;
  readonly dryRun?: boolean;
  readonly watch?: string;
  readonly explain?: boolean;
  readonly json?: boolean;
};

function zoneNamed(name: string | undefined): Zone | undefined {
  const zone = name === undefined ? undefined : findZone(name);
  if (zone !== null) return zone;
  throw new UsageProblem(
    `--zone ${name}: is not a time zone${hintFor(name!, Intl.supportedValuesOf('timeZone'))}`,
  );
}

/** The fields of a dataset's files. */
const fieldsOf = (dataset: string): Fields => fileDatasetNamed(dataset)?.file.fields ?? barFields;

const fieldFlagNames = ['schema', 'country', 'symbol', 'exchange', 'interval', 'code'] as const;

/** The instant of `--complete-through`; null without the flag. */
function readCompleteThrough(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  const instant = parseInstant(text);
  if (instant?.kind !== 'time')
    throw new UsageProblem(
      `--complete-through ${text}: is no instant: write one such as 2025-03-04T01:00:00Z`,
    );
  if (instant.ms <= nowMs) return instant.ms;
  throw new UsageProblem(
    `--complete-through ${text}: is after now: an import makes nothing complete beyond its own start`,
  );
}

/** The flags that are for bars alone. */
const barFlags = ['prices', 'volumes', 'completeThrough'] as const;

/** Whether a flag has a meaning for a dataset. */
function applies(
  flag: (typeof fieldFlagNames)[number] | (typeof barFlags)[number] | 'zone',
  dataset: string,
): boolean {
  const fields = Object.values(fieldsOf(dataset));
  if ((barFlags as readonly string[]).includes(flag)) return dataset === BARS;
  if (flag === 'zone') return fields.some(({ rule }) => 'unit' in rule);
  return fields.some((field) => field.flag === `--${flag}`);
}

/** Checks flags before any file is read: each must apply to the dataset and have a possible value. */
function checkFlags(dataset: string, flags: Flags): void {
  for (const name of [...barFlags, 'zone', ...fieldFlagNames] as const) {
    if (flags[name] === undefined || applies(name, dataset)) continue;
    const others = fileDatasetNames.filter((other) => applies(name, other));
    throw new UsageProblem(
      `--${spokenFlag(name)} does not apply to ${dataset}: it is for ${others.join(', ')}`,
    );
  }
  readSchema(flags.schema);
  readCountry(flags.country);
  readSymbolOf(dataset, flags.symbol);
  readInterval(flags.interval);
  zoneNamed(flags.zone);
  readCompleteThrough(flags.completeThrough, Date.now());
}

/** The fields that flags give for the whole file. */
const fieldFlags = (dataset: string, flags: Flags): Map<string, string> =>
  new Map(
    Object.entries(fieldsOf(dataset)).flatMap(([field, { flag }]) => {
      const value = flags[fieldFlagNames.find((name) => `--${name}` === flag)!];
      return value === undefined ? [] : [[field, value] as const];
    }),
  );

/** Files are either named, or arrive in a watched folder. */
function checkSources(names: readonly string[], { watch, dryRun, explain }: Flags): void {
  if (names.length === 0 && watch === undefined)
    throw new UsageProblem('name the files to import, or with --watch the folder in which they arrive');
  if (watch !== undefined && (names.length > 0 || dryRun || explain))
    throw new UsageProblem(
      '--watch imports the files of its folder: name no file, and leave --dry-run and --explain out',
    );
}

/** Flags that change nothing of what a file gives. */
const flagsWithoutEffect: ReadonlySet<string> = new Set<keyof Flags>([
  ...(['store', 'source', 'allowRejects', 'dryRun', 'watch', 'explain', 'json'] as const),
]);

/** The other flags, in the order of their names: of a mapping file its content counts, wherever it is. */
function recordedFlagsOf(flags: Flags): RecordedFlags {
  const { map } = flags;
  const mapping = map === undefined ? {} : { map: hash('sha256', JSON.stringify(readMappingFile(map))) };
  const recorded = Object.entries({ ...flags, ...mapping }).filter(([name]) => !flagsWithoutEffect.has(name));
  return Object.fromEntries(
    recorded.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => [name, String(value)]),
  );
}

/** A message about a file without the file's path: the path is printed beside it. */
const withoutPath = (message: string, path: string): string =>
  message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;

/** A folder whose files are each imported by a call of their own. */
function watchedBy(call: Call, folder: string): Watched {
  const { dataset, storeUrl, flags, recordedFlags } = call;
  return {
    folder,
    dataset,
    flags: recordedFlags,
    storeUrl,
    async take(path) {
      const run = new ImportCall(call);
      try {
        return await run.take(path);
      } catch (error) {
        // How the call was meant for other files may be wrong for this one.
        if (!(error instanceof FileProblem)) throw error;
        printProblem(flags, error);
        return withoutPath(error.message, path);
      } finally {
        await run.close();
      }
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
      new Option('--prices <basis>', 'how the prices are adjusted (default raw)').choices(priceBases),
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
    .option(
      '--source <text>',
      'where the file comes from, kept with the run (default: the name of its preset)',
    )
    .option('--allow-rejects <count>', 'refused rows with which the exit status is still 0', wholeNumber, 0)
    .option('--watch <folder>', 'import the files of a folder as they arrive, until stopped')
    .option(
      '--explain',
      'show how a file would be read: its preset, columns and first rows, and what would be refused; store nothing',
    )
    .option('--dry-run', 'read and check everything, store nothing')
    .addOption(jsonOption())
    .addHelpText(
      ...examples(
        'bourse import bars prices.csv --schema stock --country US --interval 1M',
        'bourse import bars btc.csv.gz --schema crypto --country GLOBAL --symbol BTCUSD --interval 1M --map btc-map.json',
        'bourse import instruments nasdaq.csv --schema stock --country US',
        "bourse import bars '2025/*.parquet' --schema stock --country US --interval 1M --zone UTC",
        'bourse import bars --watch incoming --schema stock --country US --interval 1M',
        'zcat prices.csv.gz | bourse import bars - --schema stock --country US --interval 1M',
      ),
    )
    .action(async (dataset: string, names: string[], flags: Flags) => {
      checkDataset(dataset, 'import');
      checkFlags(dataset, flags);
      checkSources(names, flags);
      const choose = chooseMapping(dataset, flags.preset, flags.map, flags.delimiter);
      const recordedFlags = recordedFlagsOf(flags);
      const call = { dataset, choose, storeUrl: readSettings(flags).store, flags, recordedFlags };
      if (flags.watch !== undefined) return watchFolder(watchedBy(call, flags.watch));
      const run = new ImportCall(call);
      try {
        for (const name of await inputsOf(names)) await run.take(name);
      } finally {
        await run.close();
      }
      run.conclude();
    });
}

type Call = {
  readonly dataset: string;
  readonly choose: ChooseMapping;
  readonly storeUrl: string;
  readonly flags: Flags;
  readonly recordedFlags: RecordedFlags;
};

/** One call of the command: each file is an import of its own, and a bad one does not keep the others out. */
class ImportCall {
  readonly #call: Call;
  /** Opened, and made where there is none, only when there is a file to import. */
  #store: Store | null = null;
  readonly #reports: ImportReport[] = [];
  #failed = 0;
  /** The exit status of the worst file. */
  #worst = 0;
  /** Why something of the present name was not imported. */
  #problems: string[] = [];

  constructor(call: Call) {
    this.#call = call;
  }

  /** Imports the files of a name; gives why not all of it was imported, or null. @throws FileProblem where the call is wrong, not the file */
  async take(name: string): Promise<string | null> {
    this.#problems = [];
    await this.#takeFiles(name);
    const [problem, ...others] = this.#problems;
    if (problem !== undefined)
      return withoutPath(problem, name) + (others.length > 0 ? ` (and ${others.length} more)` : '');
    const { dataset, flags } = this.#call;
    if (this.#store !== null && !flags.dryRun) await clearFailure(this.#store, dataset, resolve(name));
    return null;
  }

  async #takeFiles(name: string): Promise<void> {
    const files = openSources(name, process.stdin, this.#call.choose);
    for (;;) {
      const next = await this.#orFailed(() => files.next());
      if (next === null || next.done === true) return;
      const opened = next.value;
      await this.#orFailed(async () => {
        if (opened instanceof FileProblem) throw opened;
        const { explain } = this.#call.flags;
        await closing(opened, (file) => (explain ? this.#explainFile(file) : this.#importFile(file)));
      });
    }
  }

  /** Runs a step. A problem of the file is reported, and the step gives null; so is damaged data, which other files may not need. */
  async #orFailed<T>(step: () => Promise<T>): Promise<T | null> {
    try {
      return await step();
    } catch (error) {
      const isOfFile = error instanceof FileProblem && error.kind !== 'usage';
      if (!isOfFile && !(error instanceof DamagedData)) throw error;
      this.#problems.push(error.message);
      this.#failed++;
      this.#worst = Math.max(this.#worst, printProblem(this.#call.flags, error));
      return null;
    }
  }

  #requestOf(opened: MappedFile) {
    const { dataset, flags } = this.#call;
    const { prices, volumes } = flags;
    const request = requestOf(opened, { zone: zoneNamed(flags.zone), prices, volumes });
    return { ...request, flags: fieldFlags(dataset, flags) };
  }

  /** Prints how the file would be read, and what its import would refuse. One that cannot be imported fails as its import would. */
  async #explainFile(opened: MappedFile): Promise<void> {
    const { dataset, flags } = this.#call;
    const fields = namesOf(fieldsOf(dataset));
    const { problem, ...explained } = await explainFile({ ...this.#requestOf(opened), fields });
    const done = problem ?? (await this.#trialOf(opened));
    const isDone = !(done instanceof FileProblem);
    const { rowsRead = null, rowsRefused = null, refusals = [] } = isDone ? done : {};
    const record = { ...explained, rowsRead, rowsRefused, refusals, problem: isDone ? null : done.message };
    print(flags, record, describeExplained(explained) + (isDone ? describeRefusals(done) : ''));
    if (!isDone) throw done;
    this.#reports.push(done);
  }

  /** The report of a dry run that writes no file of refused rows, or why the file cannot be imported. */
  async #trialOf(opened: MappedFile): Promise<ImportReport | FileProblem> {
    try {
      this.#store ??= await openForImport(this.#call.storeUrl, 'explain');
      return await this.#reportOf(this.#store, opened, 'explain');
    } catch (error) {
      if (error instanceof FileProblem && error.kind !== 'usage') return error;
      throw error;
    }
  }

  async #reportOf(store: Store, opened: MappedFile, mode: ImportMode): Promise<ImportReport> {
    const { dataset, flags, recordedFlags } = this.#call;
    const progress = new Progress(opened);
    const request = {
      ...this.#requestOf(opened),
      dryRun: mode !== 'import',
      keepsRefused: mode !== 'explain',
      source: flags.source ?? null,
      completeThroughMs: readCompleteThrough(flags.completeThrough, Date.now()),
      recordedFlags,
      nowMs: Date.now,
      onRows: (rows: number) => progress.reached(rows),
      onWait: noteWait(store),
    };
    return importFile(store, dataset, request).finally(() => progress.end());
  }

  async #importFile(opened: MappedFile): Promise<void> {
    const { dataset, storeUrl, flags } = this.#call;
    const mode = flags.dryRun ? 'dry run' : 'import';
    this.#store ??= await openForImport(storeUrl, mode);
    if (await this.#isSkipped(opened)) return;
    const report = await this.#reportOf(this.#store, opened, mode);
    const { path } = opened.origin;
    const given = path === null ? null : relative(process.cwd(), path) || path;
    const text = describeImport(report, { dataset, path: given, flags });
    // A watched folder has many runs: each is one line.
    const line = text
      .trimEnd()
      .replaceAll(/(?<!:)\n\s*/g, '; ')
      .replaceAll(/\n\s*/g, ' ');
    print(flags, report, flags.watch === undefined ? text : `${line}\n`);
    this.#reports.push(report);
    const [first] = report.refused;
    if (report.runId === null && first !== undefined)
      this.#problems.push(
        `${report.file}: every row was refused: data row ${first.row}, column ${first.column}: ${first.reason}`,
      );
  }

  /** Whether a watch passes over a member of an archive, because an earlier watch ended within the archive or another member failed. */
  async #isSkipped(opened: MappedFile): Promise<boolean> {
    const { dataset, flags, recordedFlags } = this.#call;
    const { name, recordedAs, origin } = opened;
    if (flags.watch === undefined || origin.path === null || origin.archiveSha256 === null) return false;
    const { sha256 } = await opened.digest();
    const file = { dataset, flags: recordedFlags, path: origin.path, recordedAs, sha256 };
    const run = await this.#store!.snapshot((reader) => runOfFile(reader, file));
    if (run !== null) note(skipText(name, run));
    return run !== null;
  }

  async close(): Promise<void> {
    await this.#store?.close();
  }

  /** Prints the sums of several files, and sets the exit status. */
  conclude(): void {
    const sumOf = (rows: 'rowsNew' | 'rowsReplaced' | 'rowsUnchanged' | 'rowsRefused'): number =>
      this.#reports.reduce((sum, report) => sum + report[rows], 0);
    const failed = this.#failed;
    const files = this.#reports.length + failed;
    const { flags } = this.#call;
    if (files > 1) {
      const [rowsNew, rowsReplaced] = [sumOf('rowsNew'), sumOf('rowsReplaced')];
      const [rowsUnchanged, rowsRefused] = [sumOf('rowsUnchanged'), sumOf('rowsRefused')];
      const sums = { files, failed, rowsNew, rowsReplaced, rowsUnchanged, rowsRefused };
      const text = `${count(files)} files: ${count(failed)} failed; rows: ${count(rowsNew)} new, ${count(rowsReplaced)} replaced, ${count(rowsUnchanged)} unchanged, ${count(rowsRefused)} refused\n`;
      print(flags, sums, text, 0, process.stderr);
    }
    const { allowRejects } = flags;
    const isPartly = this.#reports.some((report) => report.rowsRefused > allowRejects);
    // Where something was imported, the call was right.
    if (isPartly || (failed > 0 && this.#reports.length > 0)) process.exitCode = EXIT_PARTLY;
    else if (failed > 0) process.exitCode = this.#worst;
  }
}
