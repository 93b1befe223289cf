// A PostgreSQL server of the tests' own: as an unprivileged user, in a folder of its own, stopped with the process that started it.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
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

/** Fills the folder of a new server. */
type Fill = (run: (program: string, ...args: readonly string[]) => void, data: string) => void;

const initialize: Fill = (run, data) =>
  run(
    ...(['initdb', '-D', data, '-U', 'bourse', '-A', 'trust', '-E', 'UTF8', '--locale=C'] as const),
    ...['--data-checksums', '--no-sync', '--no-instructions'],
  );

/** Starts a server. `settings` are given to it as `-c name=value`. */
export const startPostgres = (settings: readonly string[] = []): Promise<PostgresServer> =>
  startFilled(initialize, settings);

async function startFilled(fill: Fill, settings: readonly string[]): Promise<PostgresServer> {
  const programs = postgresPrograms();
  if (programs === null) throw new Error('PostgreSQL is not installed: apt-get install postgresql-15');
  const folder = mkdtempSync(join(tmpdir(), 'bourse-postgres-'));
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  fill(
    (program, ...args) =>
      void execFileSync(join(programs, program), args, {
        ...user,
        cwd: folder,
        stdio: ['ignore', 'ignore', 'inherit'],
      }),
    data,
  );
  const port = await freePort();
  const fast = ['fsync=off', 'full_page_writes=off', 'max_connections=1000', 'listen_addresses=127.0.0.1'];
  const args = [...fast, `unix_socket_directories=${folder}`, ...settings].flatMap((one) => ['-c', one]);
  const run = (): ChildProcess =>
    spawn(join(programs, 'postgres'), ['-D', data, '-p', String(port), ...args], {
      ...user,
      cwd: folder,
      stdio: 'ignore',
    });
  let child = run();
  const end = (signal: NodeJS.Signals): void => {
    child.kill(signal);
    // One that a test has frozen would not notice.
    child.kill('SIGCONT');
  };
  const kill = (): void => end('SIGINT');
  process.once('exit', kill);
  const halt = async (signal: NodeJS.Signals = 'SIGINT'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const stopped = once(child, 'exit');
    end(signal);
    await stopped;
  };
  await untilReady(programs, folder, port);
  return {
    url: `postgres://bourse@127.0.0.1:${port}/postgres`,
    port,
    folder,
    get pid() {
      return child.pid!;
    },
    halt,
    async resume() {
      child = run();
      await untilReady(programs, folder, port);
    },
    standby: () =>
      startFilled(
        (copy, to) =>
          copy(
            'pg_basebackup',
            '-D',
            to,
            '-h',
            '127.0.0.1',
            '-p',
            String(port),
            '-U',
            'bourse',
            '-R',
            '-c',
            'fast',
          ),
        settings,
      ),
    async stop() {
      process.off('exit', kill);
      await halt();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilReady(programs: string, folder: string, port: number): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    try {
      execFileSync(join(programs, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)], {
        cwd: folder,
      });
      return;
    } catch {
      await wait(100);
    }
  }
  throw new Error('PostgreSQL did not start within 30 s');
}
