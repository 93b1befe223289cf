// The command line: commands put together, problems turned into one message and an exit status (contract 10).
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
const EXIT_FAULT = 3;

/** The commands by name. What they need takes long to load: each is loaded where it is called. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  demo: async () => (await import('./demo.ts')).demoCommand(),
  serve: async () => (await import('./serve.ts')).serveCommand(),
  import: async () => (await import('./import.ts')).importCommand(),
  undo: async () => (await import('./undo.ts')).undoCommand(),
  delete: async () => (await import('./delete.ts')).deleteCommand(),
  export: async () => (await import('./export.ts')).exportCommand(),
  calendar: async () => (await import('./calendar.ts')).calendarCommand(),
  keys: async () => (await import('./keys.ts')).keysCommand(),
  status: async () => (await import('./status.ts')).statusCommand(),
  backup: async () => (await import('./backup.ts')).backupCommand(),
  restore: async () => (await import('./backup.ts')).restoreCommand(),
  config: async () => (await import('./show-config.ts')).configCommand(),
  openapi: async () => (await import('./openapi.ts')).openapiCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
};

/** Loads the command that a first word names; all of them for help and for a word that is none. */
async function commandsFor(word: string | undefined): Promise<Command[]> {
  if (word === '--version') return [];
  const names = word !== undefined && Object.hasOwn(commands, word) ? [word] : Object.keys(commands);
  return Promise.all(names.map((name) => commands[name]!()));
}

async function program(firstWord: string | undefined): Promise<Command> {
  const bourse = new Command('bourse')
    .description('Market data query service over your own data: import files, serve them over HTTP.')
    .version(version())
    .showSuggestionAfterError()
    .helpCommand(false)
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

// Who reads may have had enough, as `head` has: that is no fault, and the work goes on.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.exitCode = EXIT_FAULT;
  process.stderr.write(`bourse: what was to be printed could not be written (${error.code})\n`);
});
process.stderr.on('error', () => undefined);

try {
  await (await program(process.argv[2])).parseAsync(process.argv);
} catch (error) {
  process.exitCode = statusOf(error);
}
