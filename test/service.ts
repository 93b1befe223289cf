// The product as its users have it: the command line and the server as child processes, over a store of their
// own.
import { type ChildProcess, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../src/contract/limits.ts';
import { command, type Finished, runAlone, runCommand } from './commands.ts';
import { TestFolder } from './stores.ts';
import { until } from './until.ts';

export { command, type Finished } from './commands.ts';

const root = join(import.meta.dirname, '..');
/** Where the data of others lies, when it is there. */
export const sharedData = join(root, '../shared/data');

/**
 * For so long a connection may be silent: longer than any limit of the service, so that only a fault lasts as
 * long.
 */
const SILENCE_MAX_MS = 120_000;

/** A folder of its own for one test file, with a store that commands and servers use. */
export class Workshop extends TestFolder {
  readonly store = this.storeUrl();
  readonly #servers: ChildProcess[] = [];
  #mayBeServed = false;

  /** Runs a command on the store. */
  run(...words: readonly string[]): Promise<Finished> {
    return this.runWith({}, ...words);
  }

  /** Runs a command on the store with more in its environment. */
  runWith(more: Readonly<Record<string, string>>, ...words: readonly string[]): Promise<Finished> {
    return runCommand({ words, folder: this.folder, environment: this.#environment(more) });
  }

  /** Runs a command in a process of its own, with something on its standard input. */
  pipe(input: string | Uint8Array, ...words: readonly string[]): Promise<Finished> {
    return runAlone({ words, folder: this.folder, environment: this.#environment({}) }, input);
  }

  #environment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
    return { ...process.env, BOURSE_STORE: this.store, NO_COLOR: '1', ...more };
  }

  /** Runs a command that must succeed; what it printed. */
  async must(...args: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await this.run(...args);
    if (status !== 0) throw new Error(`bourse ${args.join(' ')} ended with ${status}: ${stderr}`);
    // Until then a server that runs answers an unknown key from what it read for the one before it.
    if (this.#mayBeServed && args[0] === 'keys' && args[1] === 'create') await sleep(limits.keyMissRefreshMs);
    return stdout.trim();
  }

  /** Starts a command on the store, to be watched or killed. */
  start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): ChildProcess {
    const env = this.#environment(environment);
    this.#mayBeServed = true;
    return spawn(command, args, { cwd: this.folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  /** Starts the server on a free port. */
  serve(...args: readonly string[]): Promise<Server> {
    return this.serveWith({}, ...args);
  }

  /** Starts the server on a free port with more in its environment. */
  async serveWith(more: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Server> {
    const env = { ...process.env, BOURSE_STORE: this.store, ...more };
    const child = spawn(command, ['serve', '--port', '0', ...args], {
      cwd: this.folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#servers.push(child);
    this.#mayBeServed = true;
    const server = new Server(child);
    await server.listening;
    return server;
  }

  override close(): void {
    for (const child of this.#servers) child.kill('SIGKILL');
    super.close();
  }
}

const TRIES_MAX = 120;

/**
 * The answer of who comes again when told to: on a busy machine some of those are who ask at once (contract
 * 6.3).
 */
export async function patiently<T extends { readonly status: number }>(ask: () => Promise<T>): Promise<T> {
  for (let left = TRIES_MAX; ; left--) {
    const answer = await ask();
    if (answer.status !== 503 || left === 0) return answer;
    await sleep(1_000);
  }
}

type LogLine = { readonly msg?: string; readonly url?: string; readonly pid?: number };

/** A running server and what it logs. */
export class Server {
  url = '';
  readonly log: string[] = [];
  /** What it wrote on standard output. */
  printed = '';
  readonly listening: Promise<void>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<number>;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once('exit', (code) => resolve(code ?? -1)));
    child.stdout!.on('data', (piece) => {
      this.printed += piece;
    });
    const lines = createInterface({ input: child.stderr! });
    this.listening = new Promise((resolve, reject) => {
      lines.on('line', (line) => {
        this.log.push(line);
        const said = line.startsWith('{') ? (JSON.parse(line) as LogLine) : {};
        if (said.msg !== 'listening') return;
        this.url = said.url!;
        resolve();
      });
      void this.#ended.then((code) =>
        reject(new Error(`the server ended with ${code}: ${this.log.join('\n')}`)),
      );
    });
    this.listening.catch(() => undefined);
  }

  /** The serving process, or the one that looks after several. */
  get pid(): number {
    return this.#child.pid!;
  }

  /** The processes that have begun to listen, in order. */
  get listeningPids(): number[] {
    return this.log
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine)
      .flatMap(({ msg, pid }) => (msg === 'listening' && pid !== undefined ? [pid] : []));
  }

  /** Where it says that its metrics are. */
  async metricsUrl(): Promise<string> {
    const line = await until(
      () => `metrics: ${this.log.join('\n')}`,
      () => this.log.find((one) => one.includes('"msg":"metrics"')),
    );
    return (JSON.parse(line) as { url: string }).url;
  }

  /** Asks as a client does: again where the service says so. */
  get(path: string, init: RequestInit = {}): Promise<Response> {
    return patiently(() => this.getOnce(path, init));
  }

  /** Asks once, whatever the answer. */
  getOnce(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, init);
  }

  /** Writes bytes to a connection of its own; all that comes back until the server ends it. */
  send(bytes: string | Uint8Array): Promise<string> {
    const { hostname, port } = new URL(this.url);
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = [];
      const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes));
      socket.setTimeout(SILENCE_MAX_MS, () => reject(new Error('the server does not end the connection')));
      socket.once('timeout', () => socket.destroy());
      socket.on('data', (piece) => pieces.push(piece));
      socket.once('error', (error) => (pieces.length > 0 ? socket.destroy() : reject(error)));
      socket.once('close', () => resolve(Buffer.concat(pieces).toString()));
    });
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Kills it. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** Asks it to stop; its exit status. */
  async stop(): Promise<number> {
    this.#child.kill('SIGTERM');
    return this.#ended;
  }
}
