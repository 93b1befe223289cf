// PostgreSQL in a folder of its own, as an unprivileged user: on a socket in that folder, and on 127.0.0.1
// with a password.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, type Running, run, script, startChild, startServer } from '../process.ts';
import { tell, type Workshop } from '../workshop.ts';

const TABLES = `
  create table instruments (id int generated always as identity primary key, asset_schema text, country text, symbol text,
    unique (asset_schema, country, symbol));
  create table bars (instrument_id int, interval text, open_at timestamptz, open float8, high float8, low float8, close float8,
    volume float8, vwap float8);
  create unlogged table read (symbol text, open_at timestamptz, open float8, high float8, low float8, close float8, volume float8,
    vwap float8);`;

const FILL = `
  insert into instruments (asset_schema, country, symbol) select distinct 'stock', 'US', symbol from read order by 3;
  insert into bars select id, '1M', open_at, open, high, low, close, volume, vwap
    from read join instruments using (symbol) order by id, open_at;
  alter table bars add primary key (instrument_id, interval, open_at);
  drop table read;`;

/** A running PostgreSQL. */
export type Postgres = {
  readonly pid: number;
  readonly socket: string;
  readonly port: number;
  /** The address of its database. */
  readonly url: string;
  /** Runs commands of psql, and gives what it prints. */
  readonly sql: (...commands: readonly string[]) => Promise<string>;
  readonly stop: () => Promise<void>;
};

/** The user that it runs as: it refuses to run as root. Undefined: as whoever runs the benchmark. */
function userId(): number | undefined {
  if (process.getuid!() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    try {
      return Number(
        execFileSync('id', ['-u', name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
      );
    } catch {
      // There is no such user.
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is neither a user postgres nor nobody');
}

/** Starts it. */
export async function startPostgres(workshop: Workshop, programs: string): Promise<Postgres> {
  const uid = userId();
  // Another user does not reach the workshop's own folder.
  const folder = workshop.folderOutside('postgres');
  const password = randomBytes(16).toString('hex');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (uid !== undefined) for (const path of [folder, passwordFile]) chownSync(path, uid, -1);
  const as = { uid };
  const data = join(folder, 'data');
  const access = ['--auth-local=trust', '--auth-host=scram-sha-256', `--pwfile=${passwordFile}`];
  const initdb = ['-D', data, '-U', 'bench', ...access, '-E', 'UTF8', '--locale=C', '--no-sync'];
  await run(folder, join(programs, 'initdb'), initdb, as);
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    port,
    shared_buffers: '512MB',
    timezone: 'UTC',
    fsync: 'off',
    max_wal_size: '4GB',
    log_min_messages: 'fatal',
  };
  const args = [
    '-D',
    data,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const server = startChild(folder, join(programs, 'postgres'), args, {
    ...as,
    stopSignal: 'SIGINT',
    // It ends its own processes with it.
    killSignal: 'SIGQUIT',
  });
  const sql = async (...commands: readonly string[]): Promise<string> => {
    const words = [
      '-h',
      folder,
      '-p',
      String(port),
      '-U',
      'bench',
      '-d',
      'postgres',
      '-qXAtv',
      'ON_ERROR_STOP=1',
    ];
    const args = [...words, ...commands.flatMap((text) => ['-c', text])];
    return (await run(folder, join(programs, 'psql'), args)).stdout;
  };
  const ready = join(programs, 'pg_isready');
  await server.until(() =>
    run(folder, ready, ['-q', '-U', 'bench', '-d', 'postgres', '-h', folder, '-p', String(port)]).then(
      () => true,
      () => false,
    ),
  );
  const url = `postgres://bench:${password}@127.0.0.1:${port}/postgres`;
  return { pid: server.pid, socket: folder, port, url, sql, stop: server.stop };
}

/** Fills the tables of the row servers with the minutes of a file. */
export async function fillRows({ sql }: Postgres, csv: string): Promise<void> {
  tell('PostgreSQL is filled with a row a bar');
  await sql(TABLES, `\\copy read from '${csv}' csv header`, FILL, 'vacuum analyze');
}

/** Starts a row server of it. */
export const startRowServer = (
  folder: string,
  { socket, port }: Postgres,
  form: 'json_agg' | 'rows',
  keyHash: string,
): Promise<Running> => {
  const server = script(import.meta.resolve('./postgres-server.ts'));
  const args = ['--form', form, '--socket', socket, '--pg-port', String(port), '--key-hash', keyHash];
  return startServer(folder, process.execPath, [...server, ...args]);
};
