// Child processes that are measured: servers on 127.0.0.1 and commands that run to their end.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { peakBytes as peakBytesOf } from './proc.ts';

/** The command that is measured. */
export const bourse = join(import.meta.dirname, '../bin/bourse');

/** The arguments of Node.js that run another file of this folder. */
export const script = (url: string): string[] => [
  '--disable-warning=ExperimentalWarning',
  new URL(url).pathname,
];

/** A server that answers. */
export type Running = { readonly url: string; readonly pid: number; readonly stop: () => Promise<void> };

const START_TIMEOUT_MS = 300_000;
/** Characters of a log that an error repeats. */
const SAID_MAX = 1_000;
/** What runs, and the signal that ends it at once. */
const children = new Map<ChildProcess, NodeJS.Signals>();

function killChildren(): void {
  for (const [child, signal] of children) child.kill(signal);
}

/** Ends every process that still runs: what a failure has left. */
export async function endChildren(): Promise<void> {
  const ended = [...children.keys()].map((child) => once(child, 'close'));
  killChildren();
  await Promise.allSettled(ended);
}

// Whatever ends the benchmark, no server outlives it.
process.once('exit', killChildren);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void endChildren().finally(() => process.exit(1));
  });

/** Nothing of the caller's own settings reaches what is measured. */
function environmentWith(added: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('BOURSE_'));
  return { ...Object.fromEntries(own), ...added };
}

function start(folder: string, command: string, args: readonly string[], options: SpawnOptions) {
  const { env = {}, ...others } = options;
  const child = spawn(command, args, { cwd: folder, env: environmentWith(env), ...others });
  children.set(child, 'SIGKILL');
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      children.delete(child);
      resolve(code ?? -1);
    });
  });
  return { child, ended };
}

/** A port of 127.0.0.1 that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** How a server is started; each may be left out. */
export type StartOptions = {
  /** The user that it runs as. */
  readonly uid?: number | undefined;
  /** The signals that stop it, and that end it at once. */
  readonly stopSignal?: NodeJS.Signals;
  readonly killSignal?: NodeJS.Signals;
  /** What it must answer with 200 before it counts as started; without, any answer to `/` will do. */
  readonly target?: string;
  readonly pollMs?: number;
  /** The file to which it writes its log. */
  readonly log?: string;
  /** Variables of its environment, beside those of the benchmark. */
  readonly environment?: NodeJS.ProcessEnv;
};

const POLL_MS = 20;

/**
 * Starts a server that takes `--port`, or arguments with a port in them, and waits until it answers. @throws
 * when it ends instead
 */
export async function startServer(
  folder: string,
  command: string,
  args: readonly string[] | ((port: number) => readonly string[]),
  {
    target,
    pollMs = POLL_MS,
    environment = {},
    log,
  }: Pick<StartOptions, 'target' | 'pollMs' | 'environment' | 'log'> = {},
): Promise<Running> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const words = typeof args === 'function' ? args(port) : [...args, '--port', String(port)];
  const child = startChild(folder, command, words, { environment, ...(log !== undefined && { log }) });
  await child.until(() => answers(url, target), pollMs);
  return { url, pid: child.pid, stop: child.stop };
}

/** Starts Bourse's server of a store, with the log that it has by default, in a file. */
export const startBourse = (
  folder: string,
  storeUrl: string,
  flags: readonly string[] = [],
  options: Pick<StartOptions, 'target' | 'pollMs' | 'environment'> = {},
): Promise<Running> =>
  startServer(folder, bourse, ['serve', '--store', storeUrl, ...flags], {
    ...options,
    log: join(folder, 'serve.log'),
  });

/** A process that runs until it is stopped. */
export type Child = {
  readonly pid: number;
  /** Waits until something holds. @throws when the process ends first */
  until(holds: () => Promise<boolean>, pollMs?: number): Promise<void>;
  readonly stop: () => Promise<void>;
};

/** Starts a process that runs until it is stopped, or until the benchmark ends. */
export function startChild(
  folder: string,
  command: string,
  args: readonly string[],
  {
    uid,
    stopSignal = 'SIGTERM',
    killSignal = 'SIGKILL',
    environment = {},
    log,
  }: Omit<StartOptions, 'target' | 'pollMs'> = {},
): Child {
  const file = log === undefined ? null : openSync(log, 'a');
  const stdio: SpawnOptions['stdio'] = ['ignore', 'ignore', file ?? 'inherit'];
  const as = uid === undefined ? {} : { uid };
  const { child, ended } = start(folder, command, args, { stdio, env: environment, ...as });
  if (file !== null) closeSync(file);
  children.set(child, killSignal);
  const end = { status: null as number | null };
  ended.then(
    (code) => {
      end.status = code;
    },
    () => {
      end.status = -1;
    },
  );
  return {
    pid: child.pid!,
    async until(holds, pollMs = POLL_MS) {
      const startedMs = performance.now();
      while (!(await holds())) {
        if (end.status !== null) {
          const said = log === undefined ? '' : `: ${readFileSync(log, 'utf8').slice(-SAID_MAX)}`;
          throw new Error(`${command} ${args.join(' ')} ended with ${end.status}${said}`);
        }
        if (performance.now() - startedMs > START_TIMEOUT_MS) throw new Error(`${command} does not answer`);
        await sleep(pollMs);
      }
    },
    async stop() {
      child.kill(stopSignal);
      await ended;
    },
  };
}

/** Whether a server answers; with 200, where a target is given. */
async function answers(url: string, target: string | undefined): Promise<boolean> {
  try {
    const response = await fetch(url + (target ?? '/'));
    await response.body?.cancel();
    return target === undefined || response.ok;
  } catch {
    return false;
  }
}

/** A command that has run to its end. */
export type Finished = { readonly stdout: string; readonly wallMs: number; readonly peakBytes: number };

const PEAK_INTERVAL_MS = 20;

/** Runs a command. @throws unless it ends with 0 */
export async function run(
  folder: string,
  command: string,
  args: readonly string[],
  { uid }: Pick<StartOptions, 'uid'> = {},
): Promise<Finished> {
  const startedMs = performance.now();
  const { child, ended } = start(folder, command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid === undefined ? {} : { uid }),
  });
  let stdout = '';
  child.stdout!.on('data', (data: Buffer) => {
    stdout += data.toString();
  });
  let peakBytes = 0;
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, peakBytesOf(child.pid!));
  }, PEAK_INTERVAL_MS);
  try {
    const status = await ended;
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
    return { stdout: stdout.trim(), wallMs: performance.now() - startedMs, peakBytes };
  } finally {
    clearInterval(timer);
  }
}
