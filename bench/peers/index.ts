// Other servers of the same bars, in the order in which they are measured. Each is started where this machine
// has what it needs.
import { join } from 'node:path';
import type { Missing } from '../line.ts';
import { type Running, run, script, startServer } from '../process.ts';
import type { UsualStore } from '../usual-store.ts';
import { tell, type Workshop } from '../workshop.ts';
import { startConstant, THE_LIMIT } from './constant.ts';
import { startNginx } from './nginx.ts';
import { fillRows, type Postgres, startPostgres, startRowServer } from './postgres.ts';
import { findFastApi, findNginx, findPostgres } from './programs.ts';
import { hashOf } from './reply.ts';

/** Names of the peers, as the lines and pictures say them. */
export const peerNames = [
  THE_LIMIT,
  'nginx, the same bytes from a file',
  'Fastify and SQLite, a row a bar',
  'Fastify and PostgreSQL, json_agg',
  'Fastify and PostgreSQL, rows',
  'DuckDB over Parquet',
  'FastAPI and SQLite, a row a bar',
] as const;

export type PeerName = (typeof peerNames)[number];

/** A peer that answers with bars must give the same as Bourse. */
export const givesBars = (name: PeerName): boolean =>
  name !== THE_LIMIT && name !== 'nginx, the same bytes from a file';

/** What has been started, and why the others have not. */
export type Peers = {
  readonly running: Readonly<Partial<Record<PeerName, Running>>>;
  readonly missing: Readonly<Partial<Record<PeerName, Missing>>>;
  stop(): Promise<void>;
};

const notInstalled = (what: string): Missing => ({ missing: `${what} is not installed` });

/** Starts the peers: of the same bars as the store; an answer of Bourse is what the constant ones send. */
export async function startPeers(workshop: Workshop, usual: UsualStore, answer: Buffer): Promise<Peers> {
  const { folder } = workshop;
  const running: Partial<Record<PeerName, Running>> = {};
  const missing: Partial<Record<PeerName, Missing>> = {};
  const keyHash = hashOf(usual.requests.secret);
  const startScript = (url: string, ...args: readonly string[]): Promise<Running> =>
    startServer(folder, process.execPath, [...script(url), ...args, '--key-hash', keyHash]);

  running[THE_LIMIT] = await startConstant(folder, answer.length);
  const nginx = findNginx();
  if (nginx === null) missing['nginx, the same bytes from a file'] = notInstalled('nginx');
  else running['nginx, the same bytes from a file'] = await startNginx(nginx, folder, answer);

  tell('a server with a row a bar is filled from the same file');
  const rowStore = join(folder, 'rows.db');
  const naive = ['--csv', usual.csv, '--store', rowStore];
  running['Fastify and SQLite, a row a bar'] = await startScript(
    import.meta.resolve('./naive-server.ts'),
    ...naive,
  );

  const postgres = await startPostgresServers(workshop, usual.csv, keyHash, running, missing);

  const parquet = join(folder, 'peer.parquet');
  await run(folder, process.execPath, [
    ...script(import.meta.resolve('../to-parquet.ts')),
    usual.csv,
    parquet,
  ]);
  const duckdbScript = import.meta.resolve('./duckdb-server.ts');
  running['DuckDB over Parquet'] = await startScript(duckdbScript, '--parquet', parquet);

  const python = findFastApi();
  if (python === null) missing['FastAPI and SQLite, a row a bar'] = notInstalled('FastAPI with uvicorn');
  else running['FastAPI and SQLite, a row a bar'] = await startFastApi(python, folder, rowStore, keyHash);
  return {
    running,
    missing,
    async stop() {
      for (const server of Object.values(running)) await server.stop();
      await postgres?.stop();
    },
  };
}

async function startPostgresServers(
  workshop: Workshop,
  csv: string,
  keyHash: string,
  running: Partial<Record<PeerName, Running>>,
  missing: Partial<Record<PeerName, Missing>>,
): Promise<Postgres | null> {
  const programs = findPostgres();
  const forms = ['json_agg', 'rows'] as const;
  if (programs === null) {
    for (const form of forms) missing[`Fastify and PostgreSQL, ${form}`] = notInstalled('PostgreSQL');
    return null;
  }
  const postgres = await startPostgres(workshop, programs);
  await fillRows(postgres, csv);
  for (const form of forms)
    running[`Fastify and PostgreSQL, ${form}`] = await startRowServer(
      workshop.folder,
      postgres,
      form,
      keyHash,
    );
  return postgres;
}

function startFastApi(python: string, folder: string, store: string, keyHash: string): Promise<Running> {
  const server = join(import.meta.dirname, 'fastapi_server.py');
  return startServer(folder, python, ['-B', server, '--store', store, '--key-hash', keyHash]);
}
