// Stores in PostgreSQL: 150 bars beside a row server on the same PostgreSQL and beside SQLite, imports beside
// SQLite, bytes on disk.
import { group } from '../group.ts';
import type { Line, Missing } from '../line.ts';
import { inWords, type Load, load, type Requests, writeScript } from '../load.ts';
import { fillRows, type Postgres, startPostgres, startRowServer } from '../peers/postgres.ts';
import { findPostgres } from '../peers/programs.ts';
import { hashOf } from '../peers/reply.ts';
import { SchemaStore } from '../postgres-store.ts';
import { cpuUs, family, residentBytes } from '../proc.ts';
import { type Finished, type Running, startBourse } from '../process.ts';
import { interleave, type Subjects } from '../rounds.ts';
import type { Setting } from '../setting.ts';
import { importStartUpMs, withoutStartUp } from '../start-up.ts';
import { median, medianRatio } from '../statistics.ts';
import { BARS } from '../usual-store.ts';
import { tell } from '../workshop.ts';
import { bytesAppended } from './disk.ts';
import { warmUp } from './serve.ts';

const MEGABYTE = 2 ** 20;
/**
 * Many more are refused where other work has the processors: a request passes through two processes and the
 * queue of each.
 */
const CONNECTIONS = 8;
const SYMBOLS = 100;
/** Of the rows that the other imports have. */
const ROWS_SHARE = 0.5;
/** A symbol has one minute. */
const NEW_SYMBOLS_A_SYMBOL_OF_A_DAY = 10;

type Subject = 'no block kept' | 'blocks kept' | 'SQLite' | 'json_agg';
type Engine = 'PostgreSQL' | 'SQLite';
/** `allUs`: processor time of one request, with that of PostgreSQL. */
type OneLoad = Load & { readonly allUs: number };
type Served = { readonly server: Running; readonly script: string };

type Figures = {
  readonly loads: Readonly<Record<Subject, readonly OneLoad[]>>;
  readonly residentBytes: number;
  /** Times of imports, without start-up. */
  readonly importsMs: Readonly<Record<Engine, readonly number[]>>;
  readonly rows: number;
  readonly newSymbolsMs: number;
  readonly bytesPerBar: { readonly bulk: number; readonly daily: number };
};
type Measured = Figures | Missing;

const rates = (loads: readonly Load[]): number[] => loads.map((one) => one.requestsPerSecond);

/** A line that has a figure where PostgreSQL is installed. */
const line = (
  declared: Omit<Line<Measured>, 'measure'>,
  measure: (figures: Figures) => ReturnType<Line<Figures>['measure']>,
): Line<Measured> => ({
  ...declared,
  measure: (measured) => ('missing' in measured ? measured : measure(measured)),
});

const against =
  (subject: Subject, other: Subject) =>
  ({ loads }: Figures) => ({
    measured: median(rates(loads[subject])),
    ratio: medianRatio(rates(loads[subject]), rates(loads[other])),
  });

/** Processor time of one request: where processors are what is short, it decides how many there can be. */
const processorTime = (subject: Subject, other: Subject, comparedWith: string): Line<Measured> =>
  line(
    {
      name: `processor time of ${BARS} bars, ${subject}, with that of PostgreSQL`,
      unit: 'us/request',
      comparedWith,
      target: null,
    },
    ({ loads }) => {
      const [ours, theirs] = [subject, other].map((name) => loads[name].map(({ allUs }) => allUs));
      return { measured: median(ours!), ratio: medianRatio(ours!, theirs!) };
    },
  );

const lines: readonly Line<Measured>[] = [
  line(
    {
      name: `${BARS} bars, no block kept`,
      unit: 'requests/s',
      comparedWith: 'Fastify and json_agg on the same PostgreSQL',
      target: { atLeast: 2.5 },
    },
    against('no block kept', 'json_agg'),
  ),
  line(
    {
      name: `${BARS} bars, blocks kept`,
      unit: 'requests/s',
      comparedWith: 'the same from SQLite',
      target: { atLeast: 0.8 },
    },
    against('blocks kept', 'SQLite'),
  ),
  processorTime('no block kept', 'json_agg', 'Fastify and json_agg on the same PostgreSQL'),
  processorTime('blocks kept', 'SQLite', 'the same from SQLite'),
  line({ name: 'one server with kept blocks, resident', unit: 'MB', target: { atMost: 350 } }, (figures) => ({
    measured: figures.residentBytes / MEGABYTE,
  })),
  line(
    {
      name: 'import of 5 million minutes (short: 150,000)',
      unit: 'bars/s',
      comparedWith: 'the same into SQLite',
      target: { atLeast: 0.6 },
    },
    ({ importsMs, rows }) => ({
      measured: (rows / median(importsMs.PostgreSQL)) * 1_000,
      ratio: medianRatio(importsMs.SQLite, importsMs.PostgreSQL),
    }),
  ),
  line(
    { name: 'import of 10,000 new symbols (short: 3,000)', unit: 's', target: { atMost: 10 } },
    ({ newSymbolsMs }) => ({ measured: newSymbolsMs / 1_000 }),
  ),
  line(
    { name: 'minute bars, imported at once', unit: 'bytes/bar', target: { atMost: 14 } },
    ({ bytesPerBar }) => ({ measured: bytesPerBar.bulk }),
  ),
  line(
    { name: 'minute bars, appended a day at a time', unit: 'bytes/bar', target: { atMost: 14 } },
    ({ bytesPerBar }) => ({ measured: bytesPerBar.daily }),
  ),
];

/** Loads of each server, and the memory of the one that keeps blocks. */
async function serveLoads(
  setting: Setting,
  postgres: Postgres,
): Promise<Pick<Figures, 'loads' | 'residentBytes'>> {
  const { scale, workshop } = setting;
  const { folder } = workshop;
  const usual = await setting.usual();
  const store = new SchemaStore(folder, postgres, 'usual');
  await store.importMinutes(usual.csv);
  await fillRows(postgres, usual.csv);
  const ours = { ...usual.requests, secret: await store.createKey() };
  const noKeptBlocks = { NODE_OPTIONS: `--import=${import.meta.resolve('../no-kept-blocks.ts')}` };
  const serving = async (
    name: Subject,
    requests: Requests,
    starting: Promise<Running>,
  ): Promise<readonly [Subject, Served]> => {
    const server = await starting;
    await warmUp(server, requests, 'identity');
    const script = writeScript(folder, requests, `requests-${name}`);
    await load(folder, script, server, {
      seconds: scale.warmUpSeconds,
      seed: 1,
      connections: CONNECTIONS,
      countErrors: true,
    });
    return [name, { server, script }];
  };
  const rowServer = startRowServer(folder, postgres, 'json_agg', hashOf(usual.requests.secret));
  const servers = [
    await serving('no block kept', ours, startBourse(folder, store.url, [], { environment: noKeptBlocks })),
    await serving('blocks kept', ours, startBourse(folder, store.url)),
    await serving('SQLite', usual.requests, usual.serve()),
    await serving('json_agg', usual.requests, rowServer),
  ] as const;
  const subjects = Object.fromEntries(
    servers.map(([name, { server, script }]) => [
      name,
      async (round: number): Promise<OneLoad> => {
        const before = cpuUs(family(postgres.pid));
        const options = { seconds: scale.seconds, seed: round + 2, connections: CONNECTIONS };
        const measured = await load(folder, script, server, options);
        const postgresUs = (cpuUs(family(postgres.pid)) - before) / measured.requests;
        return { ...measured, allUs: measured.cpuUs + postgresUs };
      },
    ]),
  ) as Subjects<Subject, OneLoad>;
  const loads = await interleave(
    'postgres',
    scale.rounds,
    subjects,
    (one) => `${inWords(one)}, with PostgreSQL ${one.allUs.toFixed(0)} us`,
  );
  const bytes = residentBytes(family(servers[1][1].server.pid));
  for (const [, { server }] of servers) await server.stop();
  await store.remove();
  return { loads, residentBytes: bytes };
}

/** Imports into both engines, and the size of what PostgreSQL has then. */
async function imports(
  setting: Setting,
  postgres: Postgres,
): Promise<Pick<Figures, 'importsMs' | 'rows' | 'newSymbolsMs'> & { readonly bulk: number }> {
  const { scale, workshop } = setting;
  const stores = {
    PostgreSQL: new SchemaStore(workshop.folder, postgres, 'imported'),
    SQLite: workshop.freshStore('imported'),
  };
  const startUpMs = {
    PostgreSQL: await importStartUpMs(setting, stores.PostgreSQL),
    SQLite: await importStartUpMs(setting),
  };
  tell(
    `postgres: ${startUpMs.PostgreSQL.toFixed(0)} ms of start-up are taken off, ${startUpMs.SQLite.toFixed(0)} with SQLite`,
  );
  const rows = scale.rows * ROWS_SHARE;
  const csv = workshop.minutes({ rows, order: 'symbol', symbols: SYMBOLS });
  const into = (engine: Engine, path: string) => async (): Promise<number> => {
    const { wallMs }: Finished = await stores[engine].importMinutes(path);
    return withoutStartUp(wallMs, startUpMs[engine]);
  };
  const sizes: number[] = [];
  const removing = (engine: Engine) => async (): Promise<number> => {
    await stores[engine].remove();
    const ms = await into(engine, csv)();
    if (engine === 'PostgreSQL') sizes.push((await stores.PostgreSQL.bytes) / rows);
    return ms;
  };
  const subjects = { PostgreSQL: removing('PostgreSQL'), SQLite: removing('SQLite') };
  const importsMs = await interleave(
    'postgres, import',
    scale.importRounds,
    subjects,
    (ms) => `${(ms / 1_000).toFixed(2)} s`,
  );
  workshop.discard(csv);
  await stores.PostgreSQL.remove();
  stores.SQLite.remove();
  const symbols = scale.symbolsADay * NEW_SYMBOLS_A_SYMBOL_OF_A_DAY;
  const newSymbols = workshop.minutes({ rows: symbols, order: 'time', symbols });
  const newSymbolsMs = await into('PostgreSQL', newSymbols)();
  await stores.PostgreSQL.remove();
  return { importsMs, rows, newSymbolsMs, bulk: median(sizes) };
}

async function measure(setting: Setting): Promise<Measured> {
  const programs = findPostgres();
  if (programs === null) return { missing: 'PostgreSQL is not installed' };
  const { workshop } = setting;
  const postgres = await startPostgres(workshop, programs);
  const served = await serveLoads(setting, postgres);
  const { bulk, ...imported } = await imports(setting, postgres);
  const daily = await bytesAppended(setting, new SchemaStore(workshop.folder, postgres, 'daily'));
  await postgres.stop();
  return { ...served, ...imported, bytesPerBar: { bulk, daily } };
}

/** The lines of `postgres`. */
export const postgres = group('postgres', '200 requests, 2 s of load', lines, measure);
