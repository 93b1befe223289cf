// Help: `bourse help COMMAND`, `bourse help import DATASET` (the columns of a
// dataset's files, with an example, contract 10.2), and `bourse completion SHELL` (what a shell offers at
// the Tab key, contract 10.1).
import { readFileSync } from 'node:fs';
import { Argument, type Command, type Option } from 'commander';
import { assetSchemas } from '../../contract/identifiers.ts';
import { namedIntervals } from '../../contract/interval.ts';
import { presets } from '../../imports/map/presets/index.ts';
import { barFields } from '../../store/schema/bars.ts';
import type { Field, Fields } from '../../store/schema/dataset.ts';
import { BARS, fileDatasetNamed, fileDatasetNames } from '../../store/schema/index.ts';
import { hintFor, UsageProblem } from '../config.ts';
import { command } from '../shared/flags.ts';
import { formatTable } from '../shared/output.ts';

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
  return command('help', {}, 'bourse help import bars', 'bourse help export', 'bourse help keys create')
    .argument('[command...]', 'the command, and for import the dataset')
    .action(async (words: string[]) => {
      const help = helpOf(await programFor(words[0]), words);
      if (typeof help === 'string') process.stdout.write(help);
      else help.outputHelp();
    });
}

/** A word that can stand at a place, and in a few words what it is. */
type Word = readonly [word: string, about: string];

/** The words that can stand at a place: the names of files or of folders, or some words. */
type Choices = 'files' | 'folders' | readonly Word[];

/** By place: `bourse import:-` are its flags, `bourse import:1` is its first argument (`placesOf`). */
type Places = ReadonlyMap<string, Choices>;

/** True if a script offers the names of files or folders. */
const isNames = (choices: Choices): choices is 'files' | 'folders' => typeof choices === 'string';

/** A literal of bash and zsh. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A literal of fish. */
const fishQuoted = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;

/** One line for each place. */
const casesOf = (places: Places, line: (place: string, choices: Choices) => string): string =>
  Array.from(places, ([place, choices]) => line(place, choices)).join('\n');

const bash = (places: Places): string => `# Completion of bourse for bash, made by: bourse completion bash
_bourse_words() {
  case $1 in
${casesOf(places, (place, choices) => `    ${quoted(place)}) echo ${quoted(isNames(choices) ? `<${choices}>` : choices.map(([word]) => word).join(' '))} ;;`)}
    *) return 1 ;;
  esac
}

_bourse() {
  local cur=\${COMP_WORDS[COMP_CWORD]} spot=bourse flag= number=1 words word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == = ]]; then continue
    elif [[ $word == :* ]]; then ((i++))
    elif [[ -n $flag ]]; then flag=
    elif [[ $word == -* ]]; then _bourse_words "$spot:$word" > /dev/null && flag=$word
    elif _bourse_words "$spot $word:-" > /dev/null; then spot="$spot $word"
    else ((number++))
    fi
  done
  [[ $cur == = ]] && cur=
  COMPREPLY=()
  if [[ -n $flag ]]; then words=$(_bourse_words "$spot:$flag")
  elif [[ $cur == -* ]]; then words=$(_bourse_words "$spot:-")
  else words=$(_bourse_words "$spot:$number" || _bourse_words "$spot:+")
  fi
  local IFS=$'\\n'
  case $words in
    '<files>') compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
    '<folders>') compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
    *) IFS=$' \\n'; COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
  esac
}
complete -F _bourse bourse
`;

const zshWord = ([word, about]: Word): string => quoted(about === '' ? word : `${word}:${about}`);

const zsh = (places: Places): string => `#compdef bourse
# Completion of bourse for zsh, made by: bourse completion zsh
_bourse_words() {
  case $1 in
${casesOf(places, (place, choices) => `    (${quoted(place)}) reply=(${isNames(choices) ? quoted(`<${choices}>`) : choices.map(zshWord).join(' ')}) ;;`)}
    (*) return 1 ;;
  esac
}

_bourse() {
  local spot=bourse flag= word
  local -a reply
  integer number=1
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $flag ]]; then flag=
    elif [[ $word == -* ]]; then _bourse_words "$spot:$word" && flag=$word
    elif _bourse_words "$spot $word:-"; then spot="$spot $word"
    else (( number++ ))
    fi
  done
  reply=()
  if [[ -n $flag ]]; then _bourse_words "$spot:$flag"
  elif [[ $PREFIX == --*=* ]]; then _bourse_words "$spot:\${PREFIX%%=*}" && compset -P '*='
  elif [[ $PREFIX == -* ]]; then _bourse_words "$spot:-"
  else _bourse_words "$spot:$number" || _bourse_words "$spot:+"
  fi
  case $reply[1] in
    ('<files>') _files ;;
    ('<folders>') _files -/ ;;
    (?*) _describe -t words bourse reply ;;
    (*) return 1 ;;
  esac
}

if [[ $funcstack[1] == _bourse ]]; then _bourse "$@"; else compdef _bourse bourse; fi
`;

const fishWord = ([word, about]: Word): string => fishQuoted(about === '' ? word : `${word}\t${about}`);

const fishLines = (choices: Choices): string =>
  isNames(choices)
    ? `echo ${fishQuoted(`<${choices}>`)}`
    : choices.length === 0
      ? 'true'
      : `printf '%s\\n' ${choices.map(fishWord).join(' ')}`;

const fish = (places: Places): string => `# Completion of bourse for fish, made by: bourse completion fish
function __bourse_words
  switch $argv[1]
${casesOf(places, (place, choices) => `    case ${fishQuoted(place)}\n      ${fishLines(choices)}`)}
    case '*'
      return 1
  end
end

function __bourse_complete
  set -l cur (commandline -ct)
  set -l before (commandline -opc)
  set -e before[1]
  set -l spot bourse
  set -l flag
  set -l number 1
  set -l prefix ''
  for word in $before
    if test -n "$flag"
      set flag
    else if string match -q -- '-*' $word
      __bourse_words "$spot:$word" >/dev/null; and set flag $word
    else if __bourse_words "$spot $word:-" >/dev/null
      set spot "$spot $word"
    else
      set number (math $number + 1)
    end
  end
  set -l place $number
  if test -n "$flag"
    set place $flag
  else if string match -q -- '--*=*' $cur
    set place (string split -m 1 = -- $cur)[1]
    set prefix "$place="
  else if string match -q -- '-*' $cur
    set place -
  end
  set -l found (__bourse_words "$spot:$place"; or __bourse_words "$spot:+")
  switch "$found"
    case '<files>'
      __fish_complete_path $cur
    case '<folders>'
      __fish_complete_directories $cur ''
    case '*'
      printf '%s\\n' $prefix$found
  end
end

complete -c bourse -f -a '(__bourse_complete)'
`;

const scripts = { bash, zsh, fish };

type Shell = keyof typeof scripts;

/** The shells that have a script. */
const shells = Object.keys(scripts) as Shell[];

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
 * The choices for a value in the help: `<file>`, `[file...]`, `<folder>`, `--store <url>`. A store may be a
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
 * The choices at each place: at `bourse import:-` its flags, at `bourse import:--schema` the values of one
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
  return command(
    'completion',
    {},
    'bourse completion bash > ~/.local/share/bash-completion/completions/bourse',
    "bourse completion zsh > ~/.zsh/completions/_bourse        a folder of zsh's fpath",
    'bourse completion fish > ~/.config/fish/completions/bourse.fish',
  )
    .addArgument(new Argument('<shell>', 'whose completion').choices(shells))
    .action(async (shell: Shell) => {
      process.stdout.write(scripts[shell](placesOf(await whole(), 'bourse')));
    });
}
