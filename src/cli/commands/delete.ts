// `bourse delete DATASET`: bars and instruments here, the datasets of rows by their declarations; and
// `bourse undo RUN`, which takes a deletion or an import back.
import { type Command, Option } from 'commander';
import { formatInstant } from '../../base/instant.ts';
import type { AssetSchema } from '../../contract/identifiers.ts';
import type { Interval } from '../../contract/interval.ts';
import { type DeleteReport, deleteBars, deleteInstrument } from '../../runs/delete-bars.ts';
import { deleteRows, type RowDeleteReport } from '../../runs/delete-rows.ts';
import type { DeletionRequest } from '../../runs/recorded-write.ts';
import { newestRuns, type Run, type UndoReport, undoRun } from '../../runs/undo-run.ts';
import { FoundDamage } from '../../series/damaged-bars.ts';
import { rowWith } from '../../store/all-rows.ts';
import { damageWords } from '../../store/damage.ts';
import { howToRestore, openStore } from '../../store/engines.ts';
import { type DeletionDeclaration, spokenName } from '../../store/schema/dataset.ts';
import { type FileDataset, fileDatasets } from '../../store/schema/index.ts';
import { importRuns } from '../../store/schema/internal.ts';
import { OlderLayout, type Reader, type Store } from '../../store/store.ts';
import { readSettings, UsageProblem } from '../config.ts';
import {
  type Bound,
  command,
  type FlagsOf,
  jsonFlag,
  quietFlag,
  readBound,
  readCountry,
  readField,
  readInterval,
  readSchema,
  readSymbol,
  storeFlag,
} from '../shared/flags.ts';
import { cliLimits } from '../shared/limits.ts';
import { closing, openToWrite } from '../shared/opened-store.ts';
import {
  count,
  countOf,
  formatTable,
  isQuiet,
  linesOf,
  note,
  noteWait,
  print,
  withProgress,
} from '../shared/output.ts';

/**
 * Runs `work` on the store of a command that must not make one; one of an older layout is updated.
 * @throws StoreUnusable where there is none
 */
async function withExistingStore(
  flags: { readonly store?: string },
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const { store: url } = readSettings(flags);
  // Opening for writing makes what is missing, opening for reading does not.
  try {
    await (await openStore(url, 'read')).close();
  } catch (error) {
    if (!(error instanceof OlderLayout)) throw error;
  }
  await closing(openToWrite(url, note), work);
}

const undoFlags = {
  ...quietFlag,
  ...storeFlag,
  '--dry-run': 'show what would change, store nothing',
  ...jsonFlag,
} as const;

/** Advice where one of the newest runs is damaged. */
const unlistedWords = ({ name }: Store): string =>
  `it is not listed and cannot be undone; ${howToRestore(name)}, from a day before the damage`;

const instantText = (ms: number | null): string => (ms === null ? '-' : formatInstant(ms));

function tableOf(runs: readonly Run[]): string {
  if (runs.length === 0) return 'The store has no runs yet.\n';
  const rows = runs.map(({ run_id, kind, dataset, file, ...run }) => {
    const [finished, undone] = [instantText(run.finished_ms), instantText(run.undone_ms)];
    return [`${run_id}`, finished, kind, dataset, file, count(run.rows_written), undone];
  });
  return formatTable([['run', 'finished', 'kind', 'dataset', 'file', 'rows', 'undone'], ...rows]);
}

/** An undoing in words. */
function describeUndo(report: UndoReport, isTrial: boolean): string {
  const { run, barsRemoved, barsRestored, barsKept, keptBy } = report;
  const { rowsRemoved, rowsRestored, rowsKept } = report;
  const { keepersNamed } = cliLimits;
  const more = keptBy.length > keepersNamed ? ` and ${keptBy.length - keepersNamed} more` : '';
  const keepers = `run${keptBy.length === 1 ? '' : 's'} ${keptBy.slice(0, keepersNamed).join(', ')}${more}`;
  const row = run.dataset === 'bars' || run.dataset === 'instruments' ? 'instrument' : 'row';
  const notes = [
    [barsRemoved, 'bar', 'removed'],
    [barsRestored, 'bar', 'restored'],
    [barsKept, 'bar', `left as they are: changed or stored again later, by ${keepers}`],
    [rowsRemoved, row, 'removed'],
    [rowsRestored, row, 'restored'],
    [rowsKept, row, `kept: changed or needed later, by ${keepers}`],
  ] as const;
  const found = notes.filter(([number]) => number > 0);
  const outcome = isTrial ? 'would be undone; nothing was stored' : 'undone';
  return linesOf([
    `run ${run.run_id}, ${run.kind} of ${run.file}: ${outcome}`,
    ...found.map(([number, what, fate]) => `  ${countOf(number, what)} ${fate}`),
    found.length === 0 && '  none of its changes are left',
  ]);
}

/** True if there is a run of a number. @throws DamagedData where its row is damaged */
const isRun = async (reader: Reader, run_id: number): Promise<boolean> =>
  (await rowWith(reader, importRuns, { run_id })) !== null;

/**
 * The number of a run that exists.
 * @throws UsageProblem that lists the newest runs, and names the damaged ones among them; DamagedData where
 * the named one is damaged
 */
async function runNamed(store: Store, text: string | undefined): Promise<number> {
  const runId = /^\d{1,15}$/.test(text ?? '') ? Number(text) : null;
  return store.snapshot(async (reader) => {
    if (runId !== null && (await isRun(reader, runId))) return runId;
    const found = new FoundDamage();
    const below = tableOf(await newestRuns(reader, cliLimits.runsListed, found.add));
    const what = text === undefined ? 'name the run to undo' : `there is no run ${text}`;
    const unlisted = (await found.named(reader))
      .map((one) => `${damageWords(one)}; ${unlistedWords(store)}. `)
      .join('');
    throw new UsageProblem(`${what}: bourse undo RUN. ${unlisted}The newest runs are`, { below });
  });
}

export const undoCommand = (): Command =>
  command(
    'undo',
    undoFlags,
    'bourse undo                 the newest runs',
    'bourse undo 12 --dry-run    what undoing run 12 would change',
    'bourse undo 12',
  )
    .argument('[run]', 'the run, by the number that its import or deletion printed')
    .action((text: string | undefined, flags: FlagsOf<typeof undoFlags>) =>
      withExistingStore(flags, async (store) => {
        const runId = await runNamed(store, text);
        const { dryRun = false } = flags;
        const request = { runId, dryRun, nowMs: Date.now, onWait: noteWait(store) };
        const report = await withProgress({ name: `undo of run ${runId}` }, ({ reached }) =>
          undoRun(store, { ...request, onRows: reached }),
        );
        print(flags, report, describeUndo(report, dryRun));
      }),
    );

const deletionFlags = {
  ...quietFlag,
  '--dry-run': 'show what would be deleted, store nothing',
  ...storeFlag,
  ...jsonFlag,
} as const;

type Flags = FlagsOf<typeof deletionFlags> & { readonly from?: Bound; readonly to?: Bound };

/** The words of `--to`, which are those of each dataset. */
const TO_WORDS = 'the end, included; a date includes its whole day';

/** A deletion in words: whose rows, which of them, and how to undo it. */
function describeDeletion(report: DeleteReport | RowDeleteReport, isTrial: boolean): string {
  const { damagedDeleted, instrumentsDeleted, runId } = report;
  const isRows = 'rowsDeleted' in report;
  const about = isRows ? `${report.dataset} ${report.choice}` : report.instrument;
  const instruments = isRows ? countOf(instrumentsDeleted, 'instrument') : 'the instrument';
  const deleted = [
    isRows && report.rowsDeleted > 0 && countOf(report.rowsDeleted, 'row'),
    ...(isRows ? [] : report.bars.map(({ interval, count }) => `${countOf(count, 'bar')} at ${interval}`)),
    instrumentsDeleted > 0 && instruments,
    damagedDeleted > 0 && `${count(damagedDeleted)} of them damaged, which no undo restores`,
  ]
    .filter(Boolean)
    .join(', ');
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
    const range = [from && `from ${from.text}`, to && `to ${to.text}`];
    const said = [...words, ...range].filter(Boolean).join(' ') || 'all';
    const request = { words: said, dryRun, nowMs: Date.now, onWait: noteWait(store) };
    const report = await withProgress({ name: 'delete' }, ({ reached }) =>
      work(store, { ...request, onRows: reached }),
    );
    print(flags, report, linesOf([describeDeletion(report, dryRun)]));
  });

/** The words of an instrument, or of as much of its name as was given. */
const nameOf = (...parts: readonly (string | null | undefined)[]): string =>
  parts.filter((part) => part).join(':');

const deletion = (name: string, about: string, calls: readonly string[]): Command =>
  command(name, deletionFlags, ...calls.map((call) => `bourse delete ${name} ${call}`)).description(about);

/** Flags that choose one instrument. */
type InstrumentFlags = Flags & {
  readonly symbol: string;
  readonly country: string;
  readonly schema?: AssetSchema;
  readonly interval?: Interval;
};

/** A command for one instrument: its bars, or itself. */
const ofInstrument = (made: Command, work: typeof deleteBars | typeof deleteInstrument): Command =>
  made
    .requiredOption('--symbol <symbol>', 'the instrument', readSymbol)
    .requiredOption('--country <code>', 'its country, such as US; GLOBAL for crypto and forex', readCountry)
    .option('--schema <type>', 'its asset type, if several have the symbol', readSchema)
    .action((flags: InstrumentFlags) => {
      const { schema: assetSchema = null, country, symbol, interval = null, from = null, to = null } = flags;
      const choice = { assetSchema, country, symbol, interval, from, to };
      return run(flags, [nameOf(assetSchema, country, symbol), interval], (store, request) =>
        work(store, { ...choice, ...request }),
      );
    });

const barsCommand = (): Command =>
  ofInstrument(
    deletion('bars', 'Delete bars of one instrument, at one interval or all that are stored.', [
      '--symbol AAPL --country US --interval 1M --from 2025-03-03 --to 2025-03-03 --dry-run',
      '--symbol BTCUSD --country GLOBAL --to 2019-12-31',
    ]),
    deleteBars,
  )
    .option(
      '--interval <interval>',
      'only this interval: 1M is one minute, 60M an hour, DAY, WEEK, MON',
      readInterval,
    )
    .option(
      '--from <time>',
      'the start: a date in the market’s zone, a label date for DAY and above, or a time',
      readBound('--from'),
    )
    .option('--to <time>', TO_WORDS, readBound('--to'));

const instrumentsCommand = (): Command =>
  ofInstrument(
    deletion(
      'instruments',
      'Delete one instrument that has no bars, and that no row of another dataset names.',
      ['--symbol AAPLX --country US'],
    ),
    deleteInstrument,
  );

/** How help names the value of a field's flag. */
const valueNames: Readonly<Record<string, string>> = {
  '--country': 'code',
  '--schema': 'type',
  '--symbol': 'symbol',
};

/** A command for a dataset of rows. */
function rowCommand(dataset: FileDataset, declared: DeletionDeclaration): Command {
  const { fields, time, names = [] } = dataset.file;
  const given: Record<string, string> = {};
  const made = deletion(spokenName(dataset), declared.about, declared.examples);
  const columnOf = (flag: string): string => Object.keys(fields).find((name) => fields[name]!.flag === flag)!;
  const choices = [
    ...Object.entries(declared.flags).map(
      ([flag, about]) => [flag, { takes: valueNames[flag]!, about, column: columnOf(flag) }] as const,
    ),
    ...Object.entries(declared.selectors ?? {}),
  ];
  for (const [flag, { takes, about, column }] of choices) {
    const option = new Option(`${flag} <${takes}>`, about).argParser((text) => {
      given[flag] = readField(flag, text, fields[column]!);
      return text;
    });
    made.addOption(option.makeOptionMandatory(declared.needs.includes(flag)));
  }
  if (time !== undefined) {
    const isDay = dataset.columns[time]!.kind === 'day';
    const what = isDay ? `by ${time}: a date` : 'by its time: a date (UTC) or a time';
    made.option('--from <time>', `the first, ${what}`, readBound('--from'));
    made.option('--to <time>', TO_WORDS, readBound('--to'));
  }
  // A choice that must name an instrument or a contract is never one of everything.
  const isNamed = declared.needs.includes('--symbol') || names.some(({ isOwn }) => isOwn);
  if (!isNamed)
    made.option('--all', `delete all ${declared.rows}: needed if no other flag narrows the choice`);
  return made.action((flags: Flags & { readonly all?: boolean }) => {
    const { '--schema': schema, '--country': country, '--symbol': symbol, ...others } = given;
    const { from, to, all } = flags;
    return run(flags, [nameOf(schema, country, symbol), ...Object.values(others)], (store, request) =>
      deleteRows(store, { ...request, dataset, flags: given, from, to, all }),
    );
  });
}

export function deleteCommand(): Command {
  const made = command(
    'delete',
    {},
    'bourse delete bars --symbol AAPL --country US --interval 1M --from 2025-03-03 --to 2025-03-03 --dry-run',
    'bourse delete news --to 2019-12-31',
    'bourse delete corporate-actions --symbol AAPL --country US --from 2020-08-31 --to 2020-08-31',
    'bourse delete instruments --symbol AAPLX --country US',
  )
    .addCommand(barsCommand())
    .addCommand(instrumentsCommand());
  for (const dataset of fileDatasets)
    if (dataset.file.deletion !== undefined) made.addCommand(rowCommand(dataset, dataset.file.deletion));
  return made;
}
