// Child processes that are measured: servers on 127.0.0.1 and commands that run to their end.
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The command that is measured. */
export const bourse = join(import.meta.dirname, '../bin/bourse');

/** The arguments of Node.js that run another file of this folder. */
export const script = (url: string): string[] => [
  '--disable-warning=ExperimentalWarning',
  new URL(url).pathname,
];

/** A server that answers. */
export type Running = { readonly url: string; readonly pid: number; stop(): Promise<void> };

const START_TIMEOUT_MS = 300_000;
const children = new Set<ChildProcess>();

// Whatever ends the benchmark, no server outlives it.
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** Nothing of the caller's own settings reaches what is measured. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('BOURSE_')));
}

function start(folder: string, command: string, args: readonly string[], stdio: SpawnOptions['stdio']) {
  const child = spawn(command, args, { cwd: folder, env: environment(), stdio });
  children.add(child);
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

/** Starts a server that takes `--port`, and waits until it answers. @throws when it ends instead */
export async function startServer(
  folder: string,
  command: string,
  args: readonly string[],
): Promise<Running> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { child, ended } = start(
    folder,
    command,
    [...args, '--port', String(port)],
    ['ignore', 'ignore', 'inherit'],
  );
  const end = { status: null as number | null };
  ended.then(
    (code) => {
      end.status = code;
    },
    () => {
      end.status = -1;
    },
  );
  const startedMs = performance.now();
  while (!(await answers(url))) {
    if (end.status !== null) throw new Error(`${command} ${args.join(' ')} ended with ${end.status}`);
    if (performance.now() - startedMs > START_TIMEOUT_MS) throw new Error(`${command} does not answer`);
    await sleep(20);
  }
  return {
    url,
    pid: child.pid!,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    await (await fetch(url)).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

/** A command that has run to its end. */
export type Finished = { readonly stdout: string; readonly wallMs: number; readonly peakBytes: number };

const PEAK_INTERVAL_MS = 20;

/** Runs a command. @throws unless it ends with 0 */
export async function run(folder: string, command: string, args: readonly string[]): Promise<Finished> {
  const startedMs = performance.now();
  const { child, ended } = start(folder, command, args, ['ignore', 'pipe', 'inherit']);
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

/** The kernel's own high-water mark, so that looking now and then is enough; 0 when the process has ended. */
function peakBytesOf(pid: number): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}

let tickUs = 0;

/** Processor time that a process has used in all its threads, user and system, in microseconds. */
export const cpuUs = (pid: number): number => usedUs(`/proc/${pid}/stat`);

/** The same of its worker threads alone: of a server with one process, the query thread. */
export function workerCpuUs(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}`);
  const workers = tasks.filter((task) => readFileSync(`${task}/comm`, 'utf8') === 'WorkerThread\n');
  return workers.reduce((sum, task) => sum + usedUs(`${task}/stat`), 0);
}

/** By a file in the form of proc_pid_stat(5). */
function usedUs(path: string): number {
  tickUs ||= 1e6 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  const stat = readFileSync(path, 'utf8');
  // The name in brackets may hold anything: fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickUs;
}
