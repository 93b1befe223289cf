// Options that several commands share.
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { fileDatasetNames } from '../../store/schema/index.ts';
import { factsOf, hintFor, type SettingName, settingNames, UsageProblem } from '../config.ts';
import { beQuiet } from './output.ts';

/** The flag of a setting. */
export function settingOption(name: SettingName): Option {
  const { flag, env, takes, about, default: standard } = factsOf(name);
  const usual = typeof standard === 'string' || typeof standard === 'number' ? `default ${standard}; ` : '';
  return new Option(takes === null ? flag : `${flag} <${takes}>`, `${about} (${usual}environment: ${env})`);
}

/** The option that names the store. */
export const storeOption = (): Option => settingOption('store');

/** Gives a command the flag of every setting. */
export function addSettings(command: Command): Command {
  for (const name of settingNames) command.addOption(settingOption(name));
  return command;
}

/** Gives a command that prints more than its result the flag that leaves it out. */
export const withQuiet = (command: Command): Command =>
  command
    .option('--quiet', 'print only results and errors: no progress, no notes, no hints')
    .on('option:quiet', () => beQuiet(true));

/** Answers for a program instead of a person. */
export const jsonOption = (): Option => new Option('--json', 'print JSON instead of a table');

/** The dataset of `bourse import` and `bourse export`. */
export const datasetArgument = (verb: 'import' | 'export'): Argument =>
  new Argument('<dataset>', `what to ${verb}`).choices(fileDatasetNames).argParser((name: string) => {
    if (fileDatasetNames.includes(name)) return name;
    throw new UsageProblem(
      `there is no dataset ${name} to ${verb}: it is one of ${fileDatasetNames.join(', ')}${hintFor(name, fileDatasetNames)}`,
    );
  });

/** The examples at the beginning of a help text: whole calls, for `addHelpText`. */
export const examples = (...calls: readonly string[]): ['before', string] => [
  'before',
  `Examples:\n${calls.map((call) => `  ${call}\n`).join('')}`,
];

/** A whole number of an option. */
export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

/** A whole number of an option, from 1. */
export function positive(text: string): number {
  const number = wholeNumber(text);
  if (number > 0) return number;
  throw new InvalidArgumentError('It must be at least 1.');
}
