// PostgreSQL servers of tests: as an unprivileged user, in a folder of their own, gone with the process that
// started them. A run of many files starts one that they share, and makes the folder of which the others' are
// copies.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { until } from '../until.ts';

/** PostgreSQL refuses to run as root: it then runs as this user (`nobody`). */
const NOBODY = 65_534;

/** Where Debian has the programs of its versions. */
const DEBIAN = '/usr/lib/postgresql';

/** The folder with `initdb` and `postgres`; null where there is none. */
export function postgresPrograms(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = versions.map((version) => join(DEBIAN, version, 'bin'));
  return folders.find((folder) => existsSync(join(folder, 'postgres'))) ?? null;
}

/** Why tests with a server are skipped; false where they run. */
export const skip: string | false =
  postgresPrograms() === null && 'PostgreSQL is not installed: apt-get install postgresql-15';

/**
 * Ports of each process, which the system gives to no client. While a process lives it listens on the first
 * of its ports, so that no other takes them, those of its servers that are halted too.
 */
const PORTS_FROM = 10_000;
const PORTS_A_PROCESS = 20;
const PROCESSES = 1_100;

/** The first of some ports that this process now has. */
async function takePorts(): Promise<number> {
  for (let at = process.pid; ; at++) {
    const first = PORTS_FROM + (at % PROCESSES) * PORTS_A_PROCESS;
    const guard = createServer().unref();
    const isTaken = await new Promise((resolve) => {
      guard.once('error', () => resolve(false)).listen(first, '127.0.0.1', () => resolve(true));
    });
    if (isTaken) return first;
  }
}

let taken: Promise<number> | null = null;
let portsUsed = 0;

async function nextPort(): Promise<number> {
  taken ??= takePorts();
  return (await taken) + 1 + (portsUsed++ % (PORTS_A_PROCESS - 1));
}

/** Runs a statement; how many rows it gives. */
export async function askServer(url: string, sql: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows.length;
  } finally {
    await client.end();
  }
}

/** A running server. */
export type PostgresServer = {
  /** The address of its database, without a schema. */
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** Of its first process, the postmaster. */
  readonly pid: number;
  /** Stops the server, for a time: SIGINT is its fast stop, SIGQUIT the immediate one. */
  halt(signal?: NodeJS.Signals): Promise<void>;
  resume(): Promise<void>;
  /** Starts a standby of it. */
  standby(): Promise<PostgresServer>;
  stop(): Promise<void>;
};

type Run = (program: string, ...args: readonly string[]) => void;

/** Fills the folder of a new server. */
type Fill = (run: Run, data: string) => void;

const initialize: Fill = (run, data) =>
  run(
    ...(['initdb', '-D', data, '-U', 'bourse', '-A', 'trust', '-E', 'UTF8', '--locale=C'] as const),
    ...['--data-checksums', '--no-sync', '--no-instructions'],
    // Not the order of bytes, which the product must ask for.
    ...['--locale-provider=icu', '--icu-locale=en-US'],
  );

/** The folder of a server that never ran, of which those of the others of a run are copies. */
const templateIn = (folder: string): string => join(folder, 'template');
const template = (): string | undefined => process.env.TEST_POSTGRES_TEMPLATE;

const copyTemplate: Fill = (run, data) => run('cp', '-R', template()!, data);

/** Starts a server. `settings` are given to it as `-c name=value`. */
export const startPostgres = (settings: readonly string[] = []): Promise<PostgresServer> =>
  startFilled(template() === undefined ? initialize : copyTemplate, settings);

function programsFolder(): string {
  const programs = postgresPrograms();
  if (programs === null) throw new Error('PostgreSQL is not installed: apt-get install postgresql-15');
  return programs;
}

type User = { readonly uid?: number; readonly gid?: number };

/** A new folder that belongs to the user of a server, and what fills it. */
function makeFolder(fill: Fill): { readonly folder: string; readonly data: string; readonly user: User } {
  const folder = mkdtempSync(join(tmpdir(), 'bourse-postgres-'));
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const env = { ...process.env, PATH: `${programsFolder()}:${process.env.PATH}` };
  const run: Run = (program, ...args) =>
    void execFileSync(program, args, { ...user, env, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  fill(run, data);
  return { folder, data, user };
}

/** Tests are not about what is left when a machine loses its power. */
const fast = [
  ...['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'checkpoint_timeout=1h'],
  ...['max_connections=1000', 'listen_addresses=127.0.0.1'],
  // As on a server whose owner likes other forms of text than the product.
  ...['timezone=Asia/Kathmandu', 'datestyle=SQL, DMY', 'extra_float_digits=0', 'bytea_output=escape'],
];

/** Ends a server, and removes its folder, once the process that started it is gone, however it went. */
const watch = 'read -r line; kill -QUIT $0; kill -CONT $0; while kill -0 $0; do sleep 0.1; done; rm -rf "$1"';

/** One run of a server, from its start to its end. */
class ServerRun {
  readonly #postgres: ChildProcess;
  readonly #watcher: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(folder: string, user: User, args: readonly string[]) {
    this.#postgres = spawn(join(programsFolder(), 'postgres'), args, {
      ...user,
      cwd: folder,
      stdio: 'ignore',
    });
    this.#ended = once(this.#postgres, 'exit');
    this.#watcher = spawn('/bin/sh', ['-c', watch, String(this.pid), folder], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    for (const one of [this.#watcher, this.#watcher.stdin as unknown as ChildProcess]) one.unref();
  }

  get pid(): number {
    return this.#postgres.pid!;
  }

  get hasEnded(): boolean {
    return this.#postgres.exitCode !== null || this.#postgres.signalCode !== null;
  }

  /**
   * Waits until it answers, as it writes into its folder. False where it has ended: another process has its
   * port.
   */
  isReady(data: string): Promise<boolean> {
    return until('PostgreSQL did not start', () => {
      if (this.hasEnded) return { ready: false };
      const file = join(data, 'postmaster.pid');
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
      return lines[0] === String(this.pid) && lines[7]?.startsWith('ready') ? { ready: true } : null;
    }).then(({ ready }) => ready);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (!this.hasEnded) {
      this.#postgres.kill(signal);
      // One that a test has frozen would not notice.
      this.#postgres.kill('SIGCONT');
    }
    await this.#ended;
    this.#watcher.kill('SIGKILL');
  }
}

async function startFilled(fill: Fill, settings: readonly string[]): Promise<PostgresServer> {
  const { folder, data, user } = makeFolder(fill);
  const args = [...fast, `unix_socket_directories=${folder}`, ...settings].flatMap((one) => ['-c', one]);
  const start = (port: number): ServerRun =>
    new ServerRun(folder, user, ['-D', data, '-p', String(port), ...args]);
  let port = await nextPort();
  let run = start(port);
  for (let tries = 1; !(await run.isReady(data)); tries++) {
    await run.end('SIGQUIT');
    if (tries === PORTS_A_PROCESS - 1) throw new Error(`PostgreSQL does not start in ${folder}`);
    port = await nextPort();
    run = start(port);
  }
  return {
    url: `postgres://bourse@127.0.0.1:${port}/postgres`,
    port,
    folder,
    get pid() {
      return run.pid;
    },
    halt: (signal = 'SIGINT') => run.end(signal),
    async resume() {
      run = start(port);
      if (!(await run.isReady(data))) throw new Error(`PostgreSQL does not start in ${folder}`);
    },
    async standby() {
      const standby = await startFilled(
        (copy, to) =>
          copy(
            ...(['pg_basebackup', '-D', to, '-h', '127.0.0.1', '-p', String(port), '-U', 'bourse'] as const),
            ...['-R', '-c', 'fast', '--no-sync', '--no-manifest'],
          ),
        settings,
      );
      const isStreaming = "select from pg_stat_wal_receiver where status = 'streaming'";
      await until(
        'the standby follows nobody',
        async () => (await askServer(standby.url, isStreaming)) === 1,
      );
      return standby;
    },
    async stop() {
      await run.end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A database for one file of tests. */
export type PostgresDatabase = Pick<PostgresServer, 'url' | 'port' | 'stop'>;

let databases = 0;

/**
 * A database of its own, for tests that need no more: on the server that the run started, or on one that is
 * started for it. Roles are the server's: a test that makes some starts a server.
 */
export async function openDatabase(): Promise<PostgresDatabase> {
  const shared = process.env.TEST_POSTGRES;
  if (shared === undefined) return startPostgres();
  const name = `of_${process.pid}_${databases++}`;
  await askServer(shared, `create database ${name}`);
  const url = new URL(shared);
  const port = Number(url.port);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    port,
    stop: () => askServer(shared, `drop database ${name} with (force)`).then(() => undefined),
  };
}

/**
 * Gives the processes that `work` starts a server that they share, and a folder of which those of further
 * servers are copies.
 */
export async function withPostgres<T>(work: () => Promise<T>): Promise<T> {
  const server = await startFilled((run, data) => {
    initialize(run, data);
    run('cp', '-R', data, templateIn(dirname(data)));
  }, []);
  Object.assign(process.env, {
    TEST_POSTGRES: server.url,
    TEST_POSTGRES_TEMPLATE: templateIn(server.folder),
  });
  try {
    return await work();
  } finally {
    delete process.env.TEST_POSTGRES;
    delete process.env.TEST_POSTGRES_TEMPLATE;
    await server.stop();
  }
}
