// Memory of one server under mixed load: minutes plain and in gzip, one URL again and again, and derived
// bars.
import { setTimeout as sleep } from 'node:timers/promises';
import { group } from '../group.ts';
import type { Line } from '../line.ts';
import { load, type Requests, targetOf, writeScript, writeTargets } from '../load.ts';
import { family, residentBytes } from '../proc.ts';
import type { Running } from '../process.ts';
import type { Setting } from '../setting.ts';
import { tell } from '../workshop.ts';

const MEGABYTE = 2 ** 20;
const INTERVAL_MS = 100;
/** Connections of each of the loads that run side by side. */
const CONNECTIONS = 8;

/** Most memory that was seen, in bytes. */
type Measured = { readonly peakBytes: number };

const lines: readonly Line<Measured>[] = [
  {
    name: 'one server under mixed load, resident',
    unit: 'MB',
    target: { atMost: 350 },
    measure: ({ peakBytes }) => ({ measured: peakBytes / MEGABYTE }),
  },
];

/** Targets of derived bars of every series. */
const derivedTargets = ({ symbols, starts, secret }: Requests): string[] =>
  symbols.flatMap((symbol) =>
    ['5M', '60M', 'DAY', 'WEEK'].map(
      (interval) =>
        `/api/v2/stock/bars/US:${symbol}/${interval}/from/${starts[0]}/to/2040-01-01?limit=1000&secret_key=${secret}`,
    ),
  );

/** Looks at the memory of a server until a load is over. */
async function peakDuring(server: Running, work: Promise<unknown>): Promise<number> {
  const pids = family(server.pid);
  const state = { isOver: false };
  const over = work.finally(() => {
    state.isOver = true;
  });
  let peak = 0;
  while (!state.isOver) {
    peak = Math.max(peak, residentBytes(pids));
    await Promise.race([over, sleep(INTERVAL_MS)]);
  }
  return peak;
}

async function measure(setting: Setting): Promise<Measured> {
  const { scale, workshop } = setting;
  const { folder } = workshop;
  const usual = await setting.usual();
  const { requests } = usual;
  const server = await usual.serve();
  const same = [targetOf(requests, requests.symbols[0]!, requests.starts[0]!)];
  const scripts = [
    writeScript(folder, requests, 'memory'),
    writeScript(folder, requests, 'memory-gzip', 'gzip'),
    writeTargets(folder, 'memory-same', same),
    writeTargets(folder, 'memory-derived', derivedTargets(requests)),
  ];
  await load(folder, scripts[0]!, server, {
    seconds: scale.warmUpSeconds,
    seed: 1,
    connections: 4,
    countErrors: true,
  });
  let peakBytes = 0;
  for (let round = 0; round < scale.rounds; round++) {
    const loads = scripts.map((script) =>
      load(folder, script, server, {
        seconds: scale.seconds,
        seed: round + 2,
        connections: CONNECTIONS,
        countErrors: true,
      }),
    );
    peakBytes = Math.max(peakBytes, await peakDuring(server, Promise.all(loads)));
    tell(`memory ${round + 1}/${scale.rounds}: ${(peakBytes / MEGABYTE).toFixed(0)} MB`);
  }
  await server.stop();
  return { peakBytes };
}

/** The lines of `memory`. */
export const memory = group('memory', '2 s of load', lines, measure);
