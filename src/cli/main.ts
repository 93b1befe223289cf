// The command line (contract 10): its commands, one message and exit status for each error, and the call of
// this process, with its output streams.

import { Command, CommanderError } from 'commander';
import { withoutPassword } from '../store/store.ts';
import { version } from './config.ts';
import { command } from './shared/flags.ts';
import { beQuiet, printable } from './shared/output.ts';
import { printProblem, problemOf } from './shared/problem.ts';

/**
 * The commands as `bourse --help` lists them. The file of a command takes long to load, and is loaded only
 * for its call.
 */
const commands: Readonly<Record<string, readonly [about: string, load: () => Promise<Command>]>> = {
  'demo [options]': [
    'Make a store with sample data, data/demo.db, and serve it. It is synthetic.',
    async () => (await import('./commands/demo.ts')).demoCommand(),
  ],
  'serve [options]': [
    'Serve a store over HTTP or HTTPS. A new or empty store is fine.',
    async () => (await import('./commands/serve.ts')).serveCommand(),
  ],
  'import [options] <dataset> [file...]': [
    'Import files. Each file becomes visible completely or not at all; importing it twice changes nothing.',
    async () => (await import('./commands/import.ts')).importCommand(),
  ],
  'undo [options] [run]': [
    'Undo an import or a deletion, and restore the data that it replaced. Changes of later runs stay.',
    async () => (await import('./commands/delete.ts')).undoCommand(),
  ],
  delete: [
    'Delete imported data. Each deletion is a run, which bourse undo can undo.',
    async () => (await import('./commands/delete.ts')).deleteCommand(),
  ],
  'export [options] <dataset>': [
    'Write stored data to a file that bourse import reads: exact values, of one state of the store.',
    async () => (await import('./commands/export.ts')).exportCommand(),
  ],
  'query [options] <path...>': [
    'Answer requests from the store, without a service or a key, with the same bytes as a service.',
    async () => (await import('./commands/query.ts')).queryCommand(),
  ],
  'mcp [options]': [
    'Answer an assistant from the store, in the Model Context Protocol over standard input and output.',
    async () => (await import('./commands/query.ts')).mcpCommand(),
  ],
  'calendar [options] <market>': [
    'Print the sessions of a market: hours, early closes, late opens and closings.',
    async () => (await import('./commands/calendar.ts')).calendarCommand(),
  ],
  keys: [
    'Issue, list and revoke the keys of callers.',
    async () => (await import('./commands/keys.ts')).keysCommand(),
  ],
  'status [options]': [
    'Show the contents of the store: instruments, series, bars, rows of every dataset, newest imports, sizes. All counts are exact.',
    async () => (await import('./commands/status.ts')).statusCommand(),
  ],
  'check [options] [dataset]': [
    'Print what is wrong, or may be wrong, with the stored data. Nothing is changed. Exit status 1 if there is a warning or an error.',
    async () => (await import('./commands/check.ts')).checkCommand(),
  ],
  'backup [options] <file>': [
    'Copy the whole store, keys included, into one file; the service and imports may run. The copy is verified.',
    async () => (await import('./commands/backup.ts')).backupCommand(),
  ],
  'restore [options] <file>': [
    'Restore a store from a backup. The backup is verified first; no other process may have the store open.',
    async () => (await import('./commands/backup.ts')).restoreCommand(),
  ],
  'copy [options]': [
    'Copy a whole store, keys included, into a new one, in SQLite or PostgreSQL. It is verified; the same command continues an interrupted copy.',
    async () => (await import('./commands/backup.ts')).copyCommand(),
  ],
  'config [options]': [
    'Show each setting and its source: flag, environment, bourse.config.json or default.',
    async () => (await import('./commands/serve.ts')).configCommand(),
  ],
  'openapi [options]': [
    'Print the OpenAPI 3.1 document that a service has at /openapi.json.',
    async () => (await import('./commands/query.ts')).openapiCommand(),
  ],
  'doctor [options]': [
    'Check the set-up of this machine, and say what to do. Nothing is changed. Exit status 1 if a check fails.',
    async () => (await import('./commands/doctor.ts')).doctorCommand(),
  ],
  'help [command...]': [
    'Show the help of a command. bourse help import bars shows the columns of a file of bars, with an example.',
    async () => (await import('./commands/help.ts')).helpCommand((word) => program(word, false)),
  ],
  'completion <shell>': [
    'Print the completion script of bash, zsh or fish.',
    async () => (await import('./commands/help.ts')).completionCommand(wholeProgram),
  ],
};

const nameOf = (term: string): string => term.split(' ', 1)[0]!;

/** The program with some of its commands. */
function programWith(some: readonly Command[]): Command {
  const bourse = command(
    'bourse',
    {},
    'bourse demo                                                      a store with sample data, served',
    'bourse import bars aapl.csv --schema stock --country US --symbol AAPL --interval 1M',
    'bourse keys create alice                                         a key for a caller',
    'bourse serve                                                     answers on http://127.0.0.1:8080',
    'bourse doctor                                                    checks the set-up',
  );
  for (const one of some) bourse.addCommand(one);
  return bourse.version(version()).helpCommand(false);
}

/** The program with every command and its options. */
const wholeProgram = async (): Promise<Command> => programWith(await loaded(Object.values(commands)));

const loaded = (entries: readonly (readonly [about: string, load: () => Promise<Command>])[]) =>
  Promise.all(entries.map(async ([about, load]) => (await load()).description(about)));

/** The command that the first word names; for help and a wrong word every command, without its options. */
function commandsFor(word: string | undefined): Promise<Command[]> {
  const listed = Object.entries(commands);
  const named = listed.filter(([term]) => nameOf(term) === word);
  if (named.length > 0) return loaded(named.map(([, entry]) => entry));
  return Promise.resolve(listed.map(([term, [about]]) => new Command(nameOf(term)).description(about)));
}

async function program(firstWord: string | undefined, json: boolean): Promise<Command> {
  const terms = Object.keys(commands);
  const bourse = programWith(await commandsFor(firstWord))
    .description('Market data query service over your own data: import files, serve them over HTTP.')
    .configureHelp({
      subcommandTerm: (command) => terms.find((term) => nameOf(term) === command.name())!,
    });
  for (const one of [bourse, ...bourse.commands, ...bourse.commands.flatMap((child) => child.commands)])
    one
      .exitOverride()
      .showSuggestionAfterError()
      .configureOutput({
        writeErr: (text) => void process.stderr.write(text.split('\n').map(printable).join('\n')),
        outputError: (text, write) => (json ? undefined : write(withoutPassword(text))),
      });
  return bourse;
}

/** Prints the error that ended a command, and gives its exit status. */
function statusOf(error: unknown, json: boolean): number {
  if (!(error instanceof CommanderError)) return printProblem({ json }, error);
  if (error.exitCode === 0) return 0;
  // The library has printed help, and for a person every message.
  return json && !isHelp(error) ? printProblem({ json }, error) : problemOf(error).exit;
}

const isHelp = ({ code }: CommanderError): boolean => code.startsWith('commander.help');

/** Runs the command of some words; sets the exit status of the process. */
export async function runProgram(words: readonly string[]): Promise<void> {
  const json = words.includes('--json');
  beQuiet(false);
  try {
    await (await program(words[0], json)).parseAsync(words, { from: 'user' });
  } catch (error) {
    process.exitCode = statusOf(error, json);
  }
}

if (import.meta.main) {
  // The reader may end early, as `head` does: that is no fault, and the work goes on.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return;
    const problem = Object.assign(new Error(`the output could not be written (${code})`), { code });
    process.exitCode = printProblem({ json: process.argv.includes('--json') }, problem);
  });
  process.stderr.on('error', () => undefined);
  await runProgram(process.argv.slice(2));
}
