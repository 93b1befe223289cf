// SIGTERM in the middle of load: which requests got no answer.
import { setTimeout as sleep } from 'node:timers/promises';
import { random } from '../../bench/minutes.ts';
import { seed } from '../seed.ts';
import type { Workshop } from '../service.ts';
import { until } from '../until.ts';
import type { Outcome } from './arrivals.ts';
import { generate } from './load.ts';

/** How a stop is tried. */
export type Stop = {
  readonly targets: readonly string[];
  readonly workers: number;
  readonly keepAlive: boolean;
  readonly perSecond: number;
  /** How long the load lasts: it must go on after the stop. */
  readonly seconds: number;
};

/** What it came to. */
export type Stopped = {
  readonly status: number;
  readonly tookMs: number;
  readonly answered: number;
  /** Requests that found the listener closed: they were never taken. */
  readonly turnedAway: number;
  /** Connections that came in the moment in which the listener closed, and that the kernel reset. */
  readonly resetAtTheDoor: number;
  /** What else had no answer, or an odd one. */
  readonly failures: readonly string[];
};

/** The stop comes within so long after the first request. */
const STOP_MS_MAX = 1_000;
const next = random(seed);

/** Stops a server of its own under load. */
export async function stopUnderLoad(shop: Workshop, { workers, ...load }: Stop): Promise<Stopped> {
  const server = await shop.serve('--log-level', 'info', '--workers', String(workers));
  const running = generate({
    port: Number(new URL(server.url).port),
    targets: load.targets,
    keepAlive: load.keepAlive,
    connectionsFirst: 0,
    connectionsMax: 2_000,
    phases: [{ name: 'stop', seconds: load.seconds, load: { perSecond: load.perSecond } }],
  });
  await until('the first request', () => server.log.some((line) => line.includes('"msg":"request"')));
  await sleep(next() * STOP_MS_MAX);
  const startedMs = performance.now();
  const status = await server.stop();
  const tookMs = Math.round(performance.now() - startedMs);
  return { status, tookMs, ...countsOf((await running)[0]!) };
}

function countsOf({ served, refused, odd, broken }: Outcome): Omit<Stopped, 'status' | 'tookMs'> {
  const { 'new ECONNREFUSED': turnedAway = 0, 'new ECONNRESET': resetAtTheDoor = 0, ...others } = broken;
  const failures = [...odd, ...Object.entries(others).map(([cause, count]) => `${count} ${cause}`)];
  return { answered: served + refused, turnedAway, resetAtTheDoor, failures };
}
