// The commands of bourse with their arguments, flags and examples, as the command line declares them.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';

const folder = join(import.meta.dirname, '../../src/cli/commands');

/** Every command: each file of the command line exports what it makes as `somethingCommand`. */
export async function readCommands(): Promise<Command> {
  const bourse = new Command('bourse').helpCommand(false);
  for (const name of readdirSync(folder).filter((file) =>
    /^(?!main\b).*(?<!\.test|-thread)\.ts$/.test(file),
  )) {
    const exported = (await import(join(folder, name))) as Record<string, unknown>;
    for (const [key, make] of Object.entries(exported))
      if (key.endsWith('Command')) bourse.addCommand((make as () => Command)());
  }
  return bourse;
}

/** All commands below one, itself included. */
export const allOf = (command: Command): Command[] => [command, ...command.commands.flatMap(allOf)];

/** The words of a command line, quotes taken off. */
export const wordsOf = (line: string): string[] =>
  Array.from(
    line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g),
    ([, single, double, bare]) => single ?? double ?? bare!,
  );

/** The calls of bourse that a text has, each up to what ends a command. */
export const callsIn = (text: string): string[] =>
  Array.from(
    text
      .replaceAll(/\$+\(date [^)]*\)/g, 'DATE')
      .matchAll(/(?:^|[\s(='"`|&])(?:\S*\/)?bourse ((?:'[^']*'|[^|>#&;)'\n])+)/g),
    ([, call]) => call!.trim(),
  ).flatMap((call) => [call, ...(/^.*?\bbourse /.test(call) ? [call.replace(/^.*\bbourse /, '')] : [])]);

/** What a call says: the command, and why it cannot be right or cannot be run as it stands. */
export type Call = { readonly problem: string | null; readonly isWhole: boolean };

/** Looks a call up: `import bars prices.csv --schema stock`. Brackets of a synopsis are passed over. */
export function lookUp(bourse: Command, call: string): Call | null {
  const words = wordsOf(call.replace(/[[\]]/g, ' ').replaceAll(/\s+[…|]\s+/g, ' '));
  let command = bourse;
  let at = 0;
  for (let next = command; at < words.length; at++) {
    const child = next.commands.find((one) => one.name() === words[at]);
    if (child === undefined) break;
    next = child;
    command = child;
  }
  if (command === bourse) return null;
  if (command.commands.length > 0 && /^[a-z]/.test(words[at] ?? ''))
    return { problem: `bourse ${command.name()} has no command ${words[at]}`, isWhole: false };
  const flags = words.slice(at).filter((word) => /^--?[a-z]/.test(word));
  const odd = flags.find((flag) => {
    const name = flag.split('=')[0]!;
    return name !== '--help' && !command.options.some(({ short, long }) => short === name || long === name);
  });
  if (odd !== undefined) return { problem: `bourse ${command.name()} has no flag ${odd}`, isWhole: false };
  // A list of presets is printed as soon as it is asked for; a synopsis leaves values away.
  if (/--preset list\b/.test(call)) return { problem: null, isWhole: true };
  if (call.includes('…')) return { problem: null, isWhole: false };
  const { operands } = command.parseOptions(words.slice(at));
  const needed = command.registeredArguments.filter((argument) => argument.required).length;
  const most = command.registeredArguments.some((argument) => argument.variadic)
    ? Number.POSITIVE_INFINITY
    : command.registeredArguments.length;
  if (command.commands.length === 0 && operands.length > most)
    return { problem: `bourse ${command.name()} takes no ${operands.at(-1)}`, isWhole: false };
  const isGiven = command.options.every(
    (option) => !option.mandatory || flags.some((flag) => flag.split('=')[0] === option.long),
  );
  return { problem: null, isWhole: command.commands.length === 0 && operands.length >= needed && isGiven };
}

/** The examples that a command's help begins with. */
export function examplesOf(command: Command): string[] {
  let printed = '';
  command.configureOutput({ writeOut: (text) => (printed += text) });
  command.outputHelp();
  const [, block = ''] = /^Examples:\n((?: {2}.*\n)+)/m.exec(printed) ?? [];
  return block
    .split('\n')
    .map((line) => line.trim().replace(/ {2,}.*$/, ''))
    .filter((line) => line !== '');
}
