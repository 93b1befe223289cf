// The command line: commands put together, problems turned into one message and an exit status (contract 10).
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { CertificateProblem } from '../http/tls.ts';
import { FileProblem } from '../ingest/problem.ts';
import { StoreUnusable, UnknownStoreAddress } from '../store/store.ts';
import { UsageProblem } from './config.ts';
import { demoCommand } from './demo.ts';
import { doctorCommand } from './doctor.ts';
import { importCommand } from './import.ts';
import { keysCommand } from './keys.ts';
import { serveCommand } from './serve.ts';
import { ServiceProblem } from './serving.ts';
import { configCommand } from './show-config.ts';

/** Exit statuses (contract 10). */
const EXIT_PARTLY = 1;
const EXIT_USAGE = 2;
const EXIT_FAULT = 3;

function version(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(file) as { version: string }).version;
}

function program(): Command {
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
  const commands = [
    demoCommand(),
    serveCommand(),
    importCommand(),
    keysCommand(),
    configCommand(),
    doctorCommand(),
  ];
  for (const command of commands) bourse.addCommand(command);
  for (const command of [bourse, ...bourse.commands, ...bourse.commands.flatMap((child) => child.commands)]) {
    command.exitOverride();
    command.showSuggestionAfterError();
    command.configureOutput({ writeErr: (text) => void process.stderr.write(text) });
  }
  return bourse;
}

/** The exit status of what ended a command, told in one message on standard error. */
function statusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`bourse: ${message}\n`);
  if (error instanceof FileProblem) return error.kind === 'usage' ? EXIT_USAGE : EXIT_PARTLY;
  const isUsage =
    error instanceof UsageProblem ||
    error instanceof UnknownStoreAddress ||
    error instanceof CertificateProblem;
  if (isUsage) return EXIT_USAGE;
  const expected =
    error instanceof StoreUnusable ||
    error instanceof ServiceProblem ||
    (error as NodeJS.ErrnoException).code !== undefined;
  if (!expected && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return EXIT_FAULT;
}

try {
  await program().parseAsync(process.argv);
} catch (error) {
  process.exitCode = statusOf(error);
}
