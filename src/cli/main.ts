// The command line: one command, its output streams and its exit status (contract 10).

import { runProgram } from './program.ts';
import { EXIT_FAULT, noteProblem } from './shared/problem.ts';

// The reader may end early, as `head` does: that is no fault, and the work goes on.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.exitCode = EXIT_FAULT;
  const message = `the output could not be written (${error.code})`;
  const json = process.argv.includes('--json');
  noteProblem({ json }, { error: 'system', message, hint: null, exit: EXIT_FAULT });
});
process.stderr.on('error', () => undefined);

await runProgram(process.argv.slice(2));
