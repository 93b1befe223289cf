// The command line: one command, its output streams and its exit status (contract 10).
import { EXIT_FAULT, runProgram } from './program.ts';

// The reader may end early, as `head` does: that is no fault, and the work goes on.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.exitCode = EXIT_FAULT;
  process.stderr.write(`bourse: the output could not be written (${error.code})\n`);
});
process.stderr.on('error', () => undefined);

await runProgram(process.argv.slice(2));
