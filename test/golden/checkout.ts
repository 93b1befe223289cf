// One checkout of the project with a store of its own, driven as users drive it: by its `bin/bourse`, as
// processes under a false clock.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { until } from '../until.ts';
import type { Answer } from './compare.ts';

/** What a command did; paths of the side's folder are relative to it. */
export type Finished = { readonly status: number; readonly stdout: string; readonly stderr: string };

/** What is asked of a service. */
export type Sent = {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** A store, the commands that change it, and a service that answers from it. */
export type Side = {
  /** Runs a command of bourse on the store at a moment. */
  run(at: string, words: readonly string[]): Promise<Finished>;
  /** Answers from the store at a moment, until the next call or `close`. */
  serve(at: string): Promise<void>;
  ask(sent: Sent): Promise<Answer>;
  close(): Promise<void>;
};

/** What a process loads to have the false clock (`--import`). */
export const clock = pathToFileURL(join(import.meta.dirname, 'clock.ts')).href;

/** Where the pages of both services seem to be. */
const PUBLIC_URL = 'https://golden.example/bourse';

/** A port that is free now. */
async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Connections to one service. */
const CONNECTIONS = 8;

/** Writes the files of a world into the folder of a side. */
export function writeFiles(folder: string, files: ReadonlyMap<string, string | Uint8Array>): void {
  for (const [name, content] of files) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/** A checkout at a path; its store and files are in a folder of their own. */
export class Checkout implements Side {
  readonly #bourse: string;
  readonly #folder: string;
  readonly #store: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  readonly #running = new Set<ChildProcess>();
  #server: ChildProcess | null = null;
  #port = 0;

  constructor(path: string, folder: string, files: ReadonlyMap<string, string | Uint8Array>) {
    this.#bourse = join(path, 'bin/bourse');
    this.#folder = folder;
    this.#store = `sqlite:${join(folder, 'store.db')}`;
    writeFiles(folder, files);
  }

  #start(at: string, words: readonly string[]): ChildProcess {
    const { NODE_OPTIONS: _, ...own } = process.env;
    const env = {
      ...Object.fromEntries(Object.entries(own).filter(([name]) => !name.startsWith('BOURSE_'))),
      ...{ NODE_OPTIONS: `--import=${clock}`, GOLDEN_CLOCK: at, NO_COLOR: '1', TZ: 'UTC' },
      BOURSE_STORE: this.#store,
    };
    const child = spawn(this.#bourse, words, { cwd: this.#folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#running.add(child);
    child.once('close', () => this.#running.delete(child));
    return child;
  }

  async run(at: string, words: readonly string[]): Promise<Finished> {
    const child = this.#start(at, words);
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout!),
      text(child.stderr!),
      once(child, 'close'),
    ]);
    const local = (said: string): string => said.replaceAll(`${this.#folder}/`, '');
    return { status: (code as number | null) ?? -1, stdout: local(stdout), stderr: local(stderr) };
  }

  async serve(at: string): Promise<void> {
    await this.#stop();
    this.#port = await freePort();
    const server = this.#start(at, [
      'serve',
      '--port',
      String(this.#port),
      '--public-url',
      PUBLIC_URL,
      '--scrub-hours',
      '0',
      '--log-level',
      'error',
    ]);
    this.#server = server;
    let said = '';
    server.stderr!.on('data', (piece) => {
      said = `${said}${piece}`.slice(-4_000);
    });
    server.stdout!.resume();
    await until(`${this.#bourse} serve`, async () => {
      if (server.exitCode !== null || server.signalCode !== null)
        throw new Error(`${this.#bourse} serve ended: ${said}`);
      const ready = await this.ask({ method: 'GET', target: '/readyz', headers: {} }).catch(() => null);
      return ready?.status === 200;
    });
  }

  async ask({ method, target, headers }: Sent): Promise<Answer> {
    const sent = request({
      host: '127.0.0.1',
      port: this.#port,
      path: target,
      method,
      headers,
      agent: this.#agent,
      setHost: false,
    });
    sent.end();
    const [response] = await once(sent, 'response');
    const body = await buffer(response);
    return {
      status: response.statusCode,
      headers: new Map(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
      body,
    };
  }

  async #stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null || server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGTERM');
    await once(server, 'close');
  }

  async close(): Promise<void> {
    await this.#stop();
    this.kill();
    this.#agent.destroy();
  }

  /** Ends all that runs, at once. */
  kill(): void {
    for (const child of this.#running) child.kill('SIGKILL');
  }
}
