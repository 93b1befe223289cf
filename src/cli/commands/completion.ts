// `bourse completion SHELL`: what a shell offers at the Tab key, made from the program itself (contract
// 10.1).
import { Argument, Command, type Option } from 'commander';
import { assetSchemas } from '../../contract/identifiers.ts';
import { namedIntervals } from '../../contract/interval.ts';
import { presets } from '../../imports/map/presets/index.ts';
import { type Choices, type Shell, scriptOf, shells, type Word } from '../shared/completion-scripts.ts';
import { examples } from '../shared/flags.ts';

/**
 * Values of flags that the flag itself does not list: others are right too, or a message of our own names
 * them.
 */
const values: Readonly<Record<string, readonly string[]>> = {
  '--schema': assetSchemas,
  '--interval': namedIntervals,
  '--preset': [...new Set(presets.map(({ name }) => name)), 'none', 'list'],
};

const named = (words: readonly string[]): Word[] => words.map((word) => [word, '']);

/**
 * What a value in the help stands for: `<file>`, `[file...]`, `<folder>`, `--store <url>`. A store may be a
 * file.
 */
function choicesNamed(term: string): Choices {
  if (/\b(?:file|store)\b/.test(term)) return 'files';
  return /\bfolder\b/.test(term) ? 'folders' : [];
}

const choicesOfFlag = ({ long, flags, argChoices }: Option): Choices => {
  const words = argChoices ?? values[long!];
  return words === undefined ? choicesNamed(flags) : named(words);
};

const choicesOfArgument = (argument: Argument): Choices =>
  argument.argChoices === undefined ? choicesNamed(argument.name()) : named(argument.argChoices);

/** The first words of a description. */
const briefly = (about: string): string => about.split(/[.;:](?: |$)|\(/, 1)[0]!.trim();

/**
 * What can stand at each place: at `bourse import:-` its flags, at `bourse import:--schema` the values of one
 * that takes a value, at `bourse keys:1` its commands, at `bourse import:1` its first argument, at `bourse
 * import:+` any further.
 */
function placesOf(command: Command, path: string, places = new Map<string, Choices>()): typeof places {
  const help = command.createHelp();
  const options = help.visibleOptions(command).filter(({ long }) => long !== undefined);
  places.set(
    `${path}:-`,
    options.map(({ long, description }) => [long!, briefly(description)]),
  );
  for (const option of options)
    if (option.required || option.optional) places.set(`${path}:${option.long}`, choicesOfFlag(option));
  for (const [index, argument] of command.registeredArguments.entries())
    places.set(`${path}:${argument.variadic ? '+' : index + 1}`, choicesOfArgument(argument));
  const children = help.visibleCommands(command);
  if (children.length > 0)
    places.set(
      `${path}:1`,
      children.map((child) => [child.name(), briefly(child.description())]),
    );
  for (const child of children) placesOf(child, `${path} ${child.name()}`, places);
  return places;
}

/** `whole` gives the program with all of its commands. */
export function completionCommand(whole: () => Promise<Command>): Command {
  return new Command('completion')
    .addArgument(new Argument('<shell>', 'whose completion').choices(shells))
    .addHelpText(
      ...examples(
        'bourse completion bash > ~/.local/share/bash-completion/completions/bourse',
        "bourse completion zsh > ~/.zsh/completions/_bourse        a folder of zsh's fpath",
        'bourse completion fish > ~/.config/fish/completions/bourse.fish',
      ),
    )
    .action(async (shell: Shell) => {
      process.stdout.write(scriptOf(shell, placesOf(await whole(), 'bourse')));
    });
}
