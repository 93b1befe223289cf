// `bourse delete DATASET` for the datasets of rows, by their declarations.
import { Command, Option } from 'commander';
import type { ParsedInstant } from '../base/instant.ts';
import { type DeletionDeclaration, spokenName } from '../datasets/dataset.ts';
import type { Field } from '../datasets/field.ts';
import { type FileDataset, fileDatasets } from '../datasets/index.ts';
import { deleteRows, type RowDeleteReport } from '../history/delete-rows.ts';
import { withExistingStore } from './existing-store.ts';
import { jsonOption, storeOption } from './options.ts';
import { readBound, readField } from './selection.ts';
import { countOf, printable } from './table.ts';
import { tellWait } from './waiting.ts';

type Bound = ParsedInstant & { readonly text: string };

type Flags = {
  readonly from?: Bound;
  readonly to?: Bound;
  readonly all?: boolean;
  readonly store?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
};

/** What the value of a field's flag is called in help. */
const takes: Readonly<Record<string, string>> = {
  '--country': 'code',
  '--schema': 'type',
  '--symbol': 'symbol',
};

function bound(name: '--from' | '--to', about: string): Option {
  return new Option(`${name} <time>`, about).argParser((text) => ({ ...readBound(name, text), text }));
}

function boundOptions({ columns, file: { time } }: FileDataset): Option[] {
  if (time === undefined) return [];
  const what = columns[time]!.kind === 'day' ? `by ${time}: a date` : 'by its time: a date (UTC) or a time';
  return [
    bound('--from', `the first, ${what}`),
    bound('--to', 'the last, likewise: a date is included whole'),
  ];
}

/** A flag of a choice, which its command collects under its name. */
type ChoiceFlag = {
  readonly flag: string;
  readonly about: string;
  readonly takes: string;
  readonly field: Field;
};

function choiceFlags({ file: { fields } }: FileDataset, deletion: DeletionDeclaration): ChoiceFlag[] {
  const fieldOf = (flag: string): Field => Object.values(fields).find((field) => field.flag === flag)!;
  return [
    ...Object.entries(deletion.flags).map(([flag, about]) => ({
      flag,
      about,
      takes: takes[flag]!,
      field: fieldOf(flag),
    })),
    ...Object.entries(deletion.selectors ?? {}).map(([flag, selector]) => ({
      flag,
      about: selector.about,
      takes: selector.takes,
      field: fields[selector.column]!,
    })),
  ];
}

/** What is asked for, in words. */
function wordsOf(given: Readonly<Record<string, string>>, { from, to }: Flags): string {
  const { '--schema': schema, '--country': country, '--symbol': symbol, ...others } = given;
  const name = [schema, country, symbol].filter((part) => part !== undefined).join(':');
  const words = [
    ...[name, ...Object.values(others)],
    ...(from === undefined ? [] : ['from', from.text]),
    ...(to === undefined ? [] : ['to', to.text]),
  ].filter((word) => word !== '');
  return words.length === 0 ? 'all' : words.join(' ');
}

/** The account of a deletion in words. */
function describe(report: RowDeleteReport, isTrial: boolean): string {
  const { dataset, choice, runId, rowsDeleted, instrumentsDeleted } = report;
  const about = `${dataset} ${choice}`;
  if (rowsDeleted === 0) return `${about}: there is nothing to delete`;
  const own = instrumentsDeleted === 0 ? '' : `, ${countOf(instrumentsDeleted, 'instrument')}`;
  const end = isTrial
    ? 'would be deleted; nothing was stored'
    : `deleted (run ${runId}). Undo with: bourse undo ${runId}`;
  return `${about}: ${countOf(rowsDeleted, 'row')}${own} ${end}`;
}

const deleteChosen = (
  dataset: FileDataset,
  given: Readonly<Record<string, string>>,
  flags: Flags,
): Promise<void> =>
  withExistingStore(flags, async (store) => {
    const { from, to, all, json, dryRun = false } = flags;
    const about = { words: wordsOf(given, flags), dryRun, nowMs: Date.now, onWait: tellWait(store) };
    const report = await deleteRows(store, { dataset, flags: given, from, to, all, ...about });
    process.stdout.write(`${json ? JSON.stringify(report) : printable(describe(report, dryRun))}\n`);
  });

function commandOf(dataset: FileDataset, deletion: DeletionDeclaration): Command {
  const command = new Command(spokenName(dataset)).description(deletion.about);
  const given: Record<string, string> = {};
  for (const { flag, about, takes: value, field } of choiceFlags(dataset, deletion)) {
    const option = new Option(`${flag} <${value}>`, about).argParser((text) => {
      given[flag] = readField(flag, text, field);
      return text;
    });
    command.addOption(deletion.needs.includes(flag) ? option.makeOptionMandatory() : option);
  }
  for (const option of boundOptions(dataset)) command.addOption(option);
  const examples = deletion.examples.map((example) => `  bourse delete ${spokenName(dataset)} ${example}\n`);
  return command
    .option('--all', `delete all ${deletion.rows}: needed where nothing else narrows the choice`)
    .option('--dry-run', 'say what would be deleted, store nothing')
    .addOption(storeOption())
    .addOption(jsonOption())
    .addHelpText('before', `Examples:\n${examples.join('')}`)
    .action((flags: Flags) => deleteChosen(dataset, given, flags));
}

/** A command for each dataset of rows. */
export const rowCommands = (): Command[] =>
  fileDatasets.flatMap((dataset) => {
    const { deletion } = dataset.file;
    return deletion === undefined ? [] : [commandOf(dataset, deletion)];
  });
