// `bourse help COMMAND`, and `bourse help import DATASET`: the columns of a dataset's files, with an example
// (contract 10.2).
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { barFields } from '../../store/schema/bars.ts';
import type { Field, Fields } from '../../store/schema/dataset.ts';
import { BARS, fileDatasetNamed, fileDatasetNames } from '../../store/schema/index.ts';
import { hintFor, UsageProblem } from '../config.ts';
import { examples } from '../shared/flags.ts';
import { formatTable } from '../shared/table.ts';

const fieldsOf = (dataset: string): Fields =>
  dataset === BARS ? barFields : fileDatasetNamed(dataset)!.file.fields;

/** What a cell of a field may hold. */
function valueText({ rule }: Field): string {
  if ('unit' in rule) return `a time, to the ${rule.unit}: 2025-03-03T14:30:00Z; local times with --zone`;
  const { words, reason } = rule;
  if (words !== undefined) return words.join(', ');
  return /^must be (.*)$/.exec(reason)?.[1] ?? 'a text';
}

/** The head and the first row of a dataset's sample file. */
const sampleOf = (dataset: string): string[] =>
  readFileSync(new URL(`../../../examples/${dataset}.csv`, import.meta.url), 'utf8').split('\n', 2);

/** The columns of a dataset's files, and a file with the command that imports it. */
function columnsText(dataset: string): string {
  const rows = Object.entries(fieldsOf(dataset)).map(([name, field]) => [
    name,
    field.isRequired ? 'yes' : '',
    valueText(field),
    field.flag ?? '',
  ]);
  return `Columns of a file for bourse import ${dataset}, in any order. A flag gives a value that is the same for the whole file.

${formatTable([['COLUMN', 'NEEDED', 'VALUE', 'OR FLAG'], ...rows])}
Example, a file ${dataset}.csv:

${sampleOf(dataset)
  .map((line) => `  ${line}\n`)
  .join('')}
  bourse import ${dataset} ${dataset}.csv

A file with other columns: bourse import ${dataset} FILE --explain --write-map map.json
All flags: bourse import --help
`;
}

/** The help of the command that some words name. @throws UsageProblem where there is none */
function helpOf(program: Command, words: readonly string[]): string | Command {
  let command = program;
  for (const [at, word] of words.entries()) {
    const child = command.commands.find((one) => one.name() === word);
    const isLast = at === words.length - 1;
    if (command.name() === 'import' && isLast && fileDatasetNames.includes(word)) return columnsText(word);
    const known = command.name() === 'import' ? fileDatasetNames : command.commands.map((one) => one.name());
    if (child === undefined)
      throw new UsageProblem(`there is no help for ${words.join(' ')}${hintFor(word, known)}`);
    command = child;
  }
  return command;
}

/** `programFor` gives the program with the command that a word names, or with the names of all. */
export function helpCommand(programFor: (word: string | undefined) => Promise<Command>): Command {
  return new Command('help')
    .argument('[command...]', 'the command, and of import the dataset')
    .addHelpText(...examples('bourse help import bars', 'bourse help export', 'bourse help keys create'))
    .action(async (words: string[]) => {
      const help = helpOf(await programFor(words[0]), words);
      if (typeof help === 'string') process.stdout.write(help);
      else help.outputHelp();
    });
}
