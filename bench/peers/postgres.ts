// PostgreSQL in a folder of its own, as an unprivileged user, on a socket in that folder: no other program reaches it.
import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, run, startChild } from '../process.ts';
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
export type Postgres = { readonly socket: string; readonly port: number; readonly stop: () => Promise<void> };

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

/** Starts it and fills it with the minutes of a file. */
export async function startPostgres(workshop: Workshop, programs: string, csv: string): Promise<Postgres> {
  const uid = userId();
  // Another user does not reach the workshop's own folder.
  const folder = workshop.folderOutside('postgres');
  if (uid !== undefined) chownSync(folder, uid, -1);
  const as = { uid };
  const data = join(folder, 'data');
  const initdb = ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  await run(folder, join(programs, 'initdb'), initdb, as);
  const port = await freePort();
  const settings = {
    listen_addresses: '',
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
  const sql = (...commands: string[]) => {
    const words = [
      '-h',
      folder,
      '-p',
      String(port),
      '-U',
      'bench',
      '-d',
      'postgres',
      '-qXv',
      'ON_ERROR_STOP=1',
    ];
    return run(folder, join(programs, 'psql'), [...words, ...commands.flatMap((text) => ['-c', text])]);
  };
  const ready = join(programs, 'pg_isready');
  await server.until(() =>
    run(folder, ready, ['-q', '-U', 'bench', '-d', 'postgres', '-h', folder, '-p', String(port)]).then(
      () => true,
      () => false,
    ),
  );
  tell('PostgreSQL is filled with a row a bar');
  await sql(TABLES, `\\copy read from '${csv}' csv header`, FILL, 'vacuum analyze');
  return {
    socket: folder,
    port,
    stop: server.stop,
  };
}
