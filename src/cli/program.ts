// The program behind the command line: commands put together, problems turned into one message and an exit status (contract 10).
import { Command, CommanderError } from 'commander';
import { DiskFull, FolderUnusable } from '../disk/space.ts';
import { FileProblem } from '../files/file-problem.ts';
import { RequestProblem } from '../history/request-problem.ts';
import { StoreUnusable, UnfitPlace, UnknownStoreAddress, WouldReplace } from '../store/store.ts';
import { UsageProblem } from './config.ts';
import { ServiceProblem } from './problem.ts';
import { printable } from './table.ts';
import { version } from './version.ts';

/** Exit statuses (contract 10). */
const EXIT_PARTLY = 1;
const EXIT_USAGE = 2;
export const EXIT_FAULT = 3;

/** A command as `bourse --help` lists it. Its file takes long to load: it is loaded only where the command is called. */
type Listed = { readonly term: string; readonly about: string; readonly load: () => Promise<Command> };

const commands: Readonly<Record<string, Listed>> = {
  demo: {
    term: 'demo [options]',
    about: 'Make a store with sample data, data/demo.db, and serve it. It is synthetic.',
    load: async () => (await import('./demo.ts')).demoCommand(),
  },
  serve: {
    term: 'serve [options]',
    about: 'Serve a store over HTTP or HTTPS. A new or empty store is fine.',
    load: async () => (await import('./serve.ts')).serveCommand(),
  },
  import: {
    term: 'import [options] <dataset> [file...]',
    about: 'Import files. Each becomes visible whole or not at all; importing one twice changes nothing.',
    load: async () => (await import('./import.ts')).importCommand(),
  },
  undo: {
    term: 'undo [options] [run]',
    about:
      'Take an import or a deletion back: what it replaced is there again. What later runs changed stays as they left it.',
    load: async () => (await import('./undo.ts')).undoCommand(),
  },
  delete: {
    term: 'delete',
    about: 'Delete what was imported. Each deletion is a run: bourse undo takes it back.',
    load: async () => (await import('./delete.ts')).deleteCommand(),
  },
  export: {
    term: 'export [options] <dataset>',
    about: 'Write what was imported as a file that bourse import takes: one state of the store, exact.',
    load: async () => (await import('./export.ts')).exportCommand(),
  },
  calendar: {
    term: 'calendar [options] <market>',
    about: 'Print the sessions of a market: hours, early closes, late opens and closings.',
    load: async () => (await import('./calendar.ts')).calendarCommand(),
  },
  keys: {
    term: 'keys',
    about: 'Issue, list and revoke the keys of callers.',
    load: async () => (await import('./keys.ts')).keysCommand(),
  },
  status: {
    term: 'status [options]',
    about:
      'What the store holds: instruments, series, bars, rows of every dataset, newest imports, sizes. All counts are exact.',
    load: async () => (await import('./status.ts')).statusCommand(),
  },
  backup: {
    term: 'backup [options] <file>',
    about:
      'Copy the whole store, keys included, into one file, while it is served and imported into. The copy is verified.',
    load: async () => (await import('./backup.ts')).backupCommand(),
  },
  restore: {
    term: 'restore [options] <file>',
    about: 'Make a store of a backup. It is verified first; nothing may have the store open.',
    load: async () => (await import('./backup.ts')).restoreCommand(),
  },
  config: {
    term: 'config [options]',
    about: 'Show each setting and where it comes from: flag, environment, bourse.config.json or default.',
    load: async () => (await import('./show-config.ts')).configCommand(),
  },
  openapi: {
    term: 'openapi [options]',
    about: 'Print the OpenAPI 3.1 document, as a service gives it at /openapi.json.',
    load: async () => (await import('./openapi.ts')).openapiCommand(),
  },
  doctor: {
    term: 'doctor [options]',
    about:
      'Say what is wrong with this machine’s set-up, and what to do. Nothing is changed. Exit status 1 when something fails.',
    load: async () => (await import('./doctor.ts')).doctorCommand(),
  },
};

/** The command that the first word names, or for help and a wrong word every command as it is listed. */
async function commandsFor(word: string | undefined): Promise<Command[]> {
  if (word !== undefined && Object.hasOwn(commands, word)) {
    const { about, load } = commands[word]!;
    return [(await load()).description(about)];
  }
  return Object.entries(commands).map(([name, { about }]) => new Command(name).description(about));
}

async function program(firstWord: string | undefined): Promise<Command> {
  const bourse = new Command('bourse')
    .description('Market data query service over your own data: import files, serve them over HTTP.')
    .version(version())
    .showSuggestionAfterError()
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => commands[command.name()]!.term })
    .addHelpText(
      'before',
      `Examples:
  bourse demo                                                      a store with sample data, served
  bourse import bars aapl.csv --schema stock --country US --symbol AAPL --interval 1M
  bourse keys create alice                                         a key for a caller
  bourse serve                                                     answers on http://127.0.0.1:8080
  bourse doctor                                                    what is wrong with the set-up
`,
    );
  for (const command of await commandsFor(firstWord)) bourse.addCommand(command);
  for (const command of [bourse, ...bourse.commands, ...bourse.commands.flatMap((child) => child.commands)]) {
    command.exitOverride();
    command.showSuggestionAfterError();
    command.configureOutput({
      writeErr: (text) => void process.stderr.write(text.split('\n').map(printable).join('\n')),
    });
  }
  return bourse;
}

/** The exit status of what ended a command, told in one message on standard error. */
function statusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`bourse: ${printable(message)}\n${error instanceof UsageProblem ? error.below : ''}`);
  if (error instanceof FileProblem) return error.kind === 'content' ? EXIT_PARTLY : EXIT_USAGE;
  const usage = [UsageProblem, RequestProblem, UnknownStoreAddress, UnfitPlace, WouldReplace];
  if (usage.some((kind) => error instanceof kind)) return EXIT_USAGE;
  const expected =
    error instanceof StoreUnusable ||
    error instanceof DiskFull ||
    error instanceof FolderUnusable ||
    error instanceof ServiceProblem ||
    (error as NodeJS.ErrnoException).code !== undefined;
  if (!expected && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return EXIT_FAULT;
}

/** Runs the command that the words call; sets the exit status of the process. */
export async function runProgram(words: readonly string[]): Promise<void> {
  try {
    await (await program(words[0])).parseAsync(words, { from: 'user' });
  } catch (error) {
    process.exitCode = statusOf(error);
  }
}
