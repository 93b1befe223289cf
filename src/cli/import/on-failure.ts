// `bourse import --on-failure COMMAND`: tells the operator of a file that was not imported (contract 10.3).
import { spawn } from 'node:child_process';
import { environmentWith } from '../config.ts';
import { cliLimits } from '../shared/limits.ts';
import { complain, STDERR } from '../shared/output.ts';
import { printable } from '../shared/table.ts';

/** A file that was not imported, or not wholly, and why. */
type Failure = { readonly dataset: string; readonly file: string; readonly reason: string };

/** How a command ended that did not do its work; null where it did. */
function run(command: string, { dataset, file, reason }: Failure, mostMs: number): Promise<string | null> {
  const env = environmentWith({ FAILED_DATASET: dataset, FAILED_FILE: file, FAILED_REASON: reason });
  // Names and reasons are never a part of what the shell reads. A group of its own ends whole.
  const child = spawn('/bin/sh', ['-c', command], { env, stdio: ['pipe', STDERR, STDERR], detached: true });
  child.stdin!.on('error', () => undefined);
  child.stdin!.end(`${reason}\n`);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      process.kill(-child.pid!, 'SIGKILL');
      resolve(`took more than ${mostMs / 1_000} s and was ended`);
    }, mostMs);
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      resolve(`could not be started (${error.code})`);
    });
    child.once('exit', (status, signal) => {
      clearTimeout(timer);
      if (status !== 0) resolve(status === null ? `was ended by ${signal}` : `ended with status ${status}`);
      resolve(null);
    });
  });
}

/**
 * Runs the command for a failure; without one does nothing. What goes wrong with it is reported, and changes
 * nothing else.
 */
export async function tellFailure(
  command: string | undefined,
  failure: Failure,
  mostMs: number = cliLimits.onFailureMs,
): Promise<void> {
  if (command === undefined) return;
  const reason = printable(failure.reason).slice(0, cliLimits.onFailureReasonMax);
  const problem = await run(command, { ...failure, reason }, mostMs);
  if (problem !== null) complain(`${failure.file}: the command of --on-failure ${problem}`);
}
