// Commands of bourse for tests: in a process that runs many, or each in its own as users start them.
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Call, Finished } from './command-host.ts';

export type { Finished } from './command-host.ts';

/** What users start. */
export const command = join(import.meta.dirname, '../bin/bourse');

/** Read before a test moves it. */
const temporary = tmpdir();

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Runs a command in a process of its own; `program` is that of another checkout. */
export function runAlone(
  { words, folder, environment }: Call,
  input: string | Uint8Array = '',
  program = command,
): Promise<Finished> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: environment, maxBuffer: OUTPUT_BYTES_MAX };
    const child = execFile(program, words, options, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
    // One that ends without reading its input breaks the pipe.
    child.stdin!.on('error', () => undefined);
    child.stdin!.end(input);
  });
}

/**
 * Commands that serve until a signal, or until their input ends. Every other one ends by itself, and one
 * process can run many of them.
 */
const serving = ['serve', 'demo', 'mcp'];

/** What has a command go on until a signal, or read its standard input. */
const going = ['--watch', '--follow', '-'];

const isHosted = ({ words, environment }: Call): boolean =>
  !serving.includes(words[0] ?? '') &&
  !going.some((word) => words.includes(word)) &&
  environment.NODE_OPTIONS === process.env.NODE_OPTIONS;

/** Starts a process that runs commands (`command-host.ts`); where it is asked, once it can be. */
export async function startHost(
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ readonly socket: string; readonly child: ChildProcess }> {
  const socket = join(temporary, `bourse-host-${randomUUID()}.sock`);
  const child = fork(join(import.meta.dirname, 'command-host.ts'), [socket], {
    env,
    execArgv: ['--single-threaded-gc', `--import=${import.meta.resolve('../src/cli/own-modules.ts')}`],
  });
  child.once('exit', () => rmSync(socket, { force: true }));
  await once(child, 'message');
  child.unref();
  child.channel!.unref();
  return { socket, child };
}

type Host = { readonly connection: Socket; readonly lines: Interface };

/**
 * Reaches the process that runs commands: one that the runner of the tests has started, or one of our own.
 */
async function reachHost(): Promise<Host> {
  const connection = connect(process.env.TEST_COMMAND_HOST ?? (await startHost()).socket);
  await once(connection, 'connect');
  connection.once('close', () => {
    host = null;
  });
  return { connection, lines: createInterface({ input: connection }) };
}

let host: Promise<Host> | null = null;
/** The end of the newest command of the common process: they run one after the other. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command: in the common process, after those that were called before it, or in its own where it needs
 * one.
 */
export function runCommand(call: Call): Promise<Finished> {
  if (!isHosted(call)) return runAlone(call);
  const finished = last.then(() => runInHost(call));
  last = finished.catch(() => undefined);
  return finished;
}

async function runInHost(call: Call): Promise<Finished> {
  host ??= reachHost();
  const { connection, lines } = await host;
  connection.ref();
  const answered = new AbortController();
  const { signal } = answered;
  try {
    const line = once(lines, 'line', { signal });
    const closed = once(connection, 'close', { signal }).then(() => {
      throw new Error(`the process of the command ended: bourse ${call.words.join(' ')}`);
    });
    connection.write(`${JSON.stringify(call)}\n`);
    return JSON.parse(((await Promise.race([line, closed])) as [string])[0]) as Finished;
  } finally {
    answered.abort();
    connection.unref();
  }
}
