// `bourse delete DATASET`: bars and instruments here, the datasets of rows by their declarations.
import { Command, Option } from 'commander';
import type { ParsedInstant } from '../../base/instant.ts';
import { type DeleteReport, deleteBars, deleteInstrument } from '../../runs/delete-bars.ts';
import { deleteRows, type RowDeleteReport } from '../../runs/delete-rows.ts';
import type { DeletionRequest } from '../../runs/deletion.ts';
import { type DeletionDeclaration, spokenName } from '../../store/schema/dataset.ts';
import { type FileDataset, fileDatasets } from '../../store/schema/index.ts';
import type { Store } from '../../store/store.ts';
import { examples, jsonOption, storeOption, withQuiet } from '../shared/flags.ts';
import { withExistingStore } from '../shared/opened-store.ts';
import { isQuiet, linesOf, noteWait, print } from '../shared/output.ts';
import { withProgress } from '../shared/progress.ts';
import {
  readBound,
  readCountry,
  readField,
  readInterval,
  readSchema,
  readSymbol,
} from '../shared/read-flags.ts';
import { count, countOf } from '../shared/table.ts';

type Bound = ParsedInstant & { readonly text: string };

type Flags = {
  readonly store?: string;
  readonly from?: Bound;
  readonly to?: Bound;
  readonly dryRun?: boolean;
  readonly json?: boolean;
};
type InstrumentFlags = Flags & {
  readonly symbol: string;
  readonly country: string;
  readonly schema?: string;
  readonly interval?: string;
};
type RowFlags = Flags & { readonly all?: boolean };

/** A deletion in words: whose rows, which of them, and how to undo it. */
function describe(report: DeleteReport | RowDeleteReport, isTrial: boolean): string {
  const { damagedDeleted, instrumentsDeleted, runId } = report;
  const isRows = 'rowsDeleted' in report;
  const about = isRows ? `${report.dataset} ${report.choice}` : report.instrument;
  const instruments = isRows ? countOf(instrumentsDeleted, 'instrument') : 'the instrument';
  const deleted = [
    ...(isRows && report.rowsDeleted > 0 ? [countOf(report.rowsDeleted, 'row')] : []),
    ...(isRows ? [] : report.bars.map(({ interval, count }) => `${countOf(count, 'bar')} at ${interval}`)),
    ...(instrumentsDeleted > 0 ? [instruments] : []),
    ...(damagedDeleted > 0 ? [`${count(damagedDeleted)} of them damaged, which no undo restores`] : []),
  ].join(', ');
  if (deleted === '') return `${about}: there is nothing to delete${isRows ? '' : ' in this range'}`;
  const end = isTrial
    ? 'would be deleted; nothing was stored'
    : `deleted (run ${runId})${isQuiet() ? '' : `. Undo with: bourse undo ${runId}`}`;
  return `${about}: ${deleted} ${end}`;
}

/** Deletes what the words say, and reports it. */
const run = (
  flags: Flags,
  words: readonly (string | null | undefined)[],
  work: (store: Store, request: DeletionRequest) => Promise<DeleteReport | RowDeleteReport>,
): Promise<void> =>
  withExistingStore(flags, async (store) => {
    const { from, to, dryRun = false } = flags;
    const range = [...(from === undefined ? [] : ['from', from.text]), ...(to ? ['to', to.text] : [])];
    const said = [...words, ...range].filter((word) => word).join(' ') || 'all';
    const onWait = noteWait(store);
    const task = { name: 'delete', bytes: null, rowsAbout: null };
    const report = await withProgress(task, (onRows) =>
      work(store, { words: said, dryRun, nowMs: Date.now, onWait, onRows }),
    );
    print(flags, report, linesOf([describe(report, dryRun)]));
  });

/** The words of an instrument, or of as much of its name as was given. */
const nameOf = (...parts: readonly (string | null | undefined)[]): string =>
  parts.filter((part) => part).join(':');

const bound = (name: '--from' | '--to', about: string): Option =>
  new Option(`${name} <time>`, about).argParser((text) => ({ ...readBound(name, text), text }));

const command = (name: string, about: string, calls: readonly string[]): Command =>
  withQuiet(new Command(name))
    .description(about)
    .option('--dry-run', 'show what would be deleted, store nothing')
    .addOption(storeOption())
    .addOption(jsonOption())
    .addHelpText(...examples(...calls.map((call) => `bourse delete ${name} ${call}`)));

/** A command for one instrument: its bars, or itself. */
const instrumentCommand = (
  name: string,
  about: string,
  calls: readonly string[],
  work: typeof deleteBars | typeof deleteInstrument,
): Command =>
  command(name, about, calls)
    .requiredOption('--symbol <symbol>', 'the instrument')
    .requiredOption('--country <code>', 'its country, such as US; GLOBAL for crypto and forex')
    .option('--schema <type>', 'its asset type, where several have the symbol')
    .action((flags: InstrumentFlags) => {
      const assetSchema = readSchema(flags.schema);
      const country = readCountry(flags.country)!;
      const symbol = readSymbol(flags.symbol)!;
      const interval = readInterval(flags.interval);
      const { from = null, to = null } = flags;
      const choice = { assetSchema, country, symbol, interval, from, to };
      return run(flags, [nameOf(assetSchema, country, symbol), interval], (store, request) =>
        work(store, { ...choice, ...request }),
      );
    });

const barsCommand = (): Command =>
  instrumentCommand(
    'bars',
    'Delete bars of one instrument, at one interval or all that are stored.',
    [
      '--symbol AAPL --country US --interval 1M --from 2025-03-03 --to 2025-03-03 --dry-run',
      '--symbol BTCUSD --country GLOBAL --to 2019-12-31',
    ],
    deleteBars,
  )
    .option('--interval <interval>', 'only this interval: 1M is one minute, 60M an hour, DAY, WEEK, MON')
    .addOption(
      bound('--from', 'the first: a date in the market’s zone, a label date for DAY and above, or a time'),
    )
    .addOption(bound('--to', 'the last, likewise: a date is included whole'));

const instrumentsCommand = (): Command =>
  instrumentCommand(
    'instruments',
    'Delete one instrument that has no bars, and that no row of another dataset names.',
    ['--symbol AAPLX --country US'],
    deleteInstrument,
  );

/** How help names the value of a field's flag. */
const valueNames: Readonly<Record<string, string>> = {
  '--country': 'code',
  '--schema': 'type',
  '--symbol': 'symbol',
};

/** A command for a dataset of rows. */
function rowCommand(dataset: FileDataset, deletion: DeletionDeclaration): Command {
  const { fields, time, names = [] } = dataset.file;
  const given: Record<string, string> = {};
  const made = command(spokenName(dataset), deletion.about, deletion.examples);
  const addChoice = (flag: string, takes: string, about: string, column: string): void => {
    const option = new Option(`${flag} <${takes}>`, about).argParser((text) => {
      given[flag] = readField(flag, text, fields[column]!);
      return text;
    });
    made.addOption(option.makeOptionMandatory(deletion.needs.includes(flag)));
  };
  for (const [flag, about] of Object.entries(deletion.flags))
    addChoice(
      flag,
      valueNames[flag]!,
      about,
      Object.keys(fields).find((name) => fields[name]!.flag === flag)!,
    );
  for (const [flag, { takes, about, column }] of Object.entries(deletion.selectors ?? {}))
    addChoice(flag, takes, about, column);
  if (time !== undefined) {
    const isDay = dataset.columns[time]!.kind === 'day';
    const what = isDay ? `by ${time}: a date` : 'by its time: a date (UTC) or a time';
    made.addOption(bound('--from', `the first, ${what}`));
    made.addOption(bound('--to', 'the last, likewise: a date is included whole'));
  }
  // A choice that must name an instrument or a contract is never one of everything.
  const isNamed = deletion.needs.includes('--symbol') || names.some(({ isOwn }) => isOwn);
  if (!isNamed)
    made.option('--all', `delete all ${deletion.rows}: needed where nothing else narrows the choice`);
  return made.action((flags: RowFlags) => {
    const { '--schema': schema, '--country': country, '--symbol': symbol, ...others } = given;
    const { from, to, all } = flags;
    return run(flags, [nameOf(schema, country, symbol), ...Object.values(others)], (store, request) =>
      deleteRows(store, { ...request, dataset, flags: given, from, to, all }),
    );
  });
}

export function deleteCommand(): Command {
  const made = new Command('delete')
    .addHelpText(
      ...examples(
        'bourse delete bars --symbol AAPL --country US --interval 1M --from 2025-03-03 --to 2025-03-03 --dry-run',
        'bourse delete news --to 2019-12-31',
        'bourse delete corporate-actions --symbol AAPL --country US --from 2020-08-31 --to 2020-08-31',
        'bourse delete instruments --symbol AAPLX --country US',
      ),
    )
    .addCommand(barsCommand())
    .addCommand(instrumentsCommand());
  for (const dataset of fileDatasets)
    if (dataset.file.deletion !== undefined) made.addCommand(rowCommand(dataset, dataset.file.deletion));
  return made;
}
