// Several serving processes on one port: a primary that starts, replaces and stops them.
import cluster, { type Worker } from 'node:cluster';
import type { Settings } from './config.ts';
import { certificateOf, startService, untilStopped, warnOfExposure } from './serving.ts';

/** A worker that ends sooner than this after its start did not get to serving: it is not replaced. */
const LEAST_LIFE_MS = 2_000;

/** Serves until a signal, in this process or in several. */
export async function serve(settings: Settings): Promise<void> {
  if (cluster.isPrimary) {
    const certificate = certificateOf(settings);
    await warnOfExposure(settings);
    if (settings.workers > 1) return supervise(settings.workers, certificate !== null);
  }
  try {
    await untilStopped(await startService(settings));
  } finally {
    // The channel to the primary would keep the process.
    cluster.worker?.disconnect();
  }
}

/** Starts the workers with this process' own arguments; ends when all of them have. */
async function supervise(count: number, hasCertificate: boolean): Promise<void> {
  let stopping = false;
  const born = new Map<Worker, number>();
  const start = (): void => void born.set(cluster.fork(), Date.now());
  const stop = (): void => {
    stopping = true;
    for (const worker of born.keys()) worker.process.kill('SIGTERM');
  };
  if (hasCertificate) renewOnHangup(born);
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop);
  const ended = new Promise<void>((resolve) => {
    cluster.on('exit', (worker, code) => {
      const lifeMs = Date.now() - (born.get(worker) ?? 0);
      born.delete(worker);
      if (!stopping && code !== 0 && lifeMs < LEAST_LIFE_MS) {
        process.exitCode = code;
        stop();
      } else if (!stopping) start();
      if (born.size === 0) resolve();
    });
  });
  for (let index = 0; index < count; index++) {
    start();
    // The first one brings the store up to date before the others open it.
    if (index === 0) await Promise.race([listening(), ended]);
    if (stopping) break;
  }
  await ended;
}

/** Passes a hang-up on to the workers that serve: one that is starting reads the certificate anyway, and would end. */
function renewOnHangup(born: ReadonlyMap<Worker, number>): void {
  const serving = new WeakSet<Worker>();
  cluster.on('listening', (worker) => serving.add(worker));
  process.on('SIGHUP', () => {
    for (const worker of born.keys()) if (serving.has(worker)) worker.process.kill('SIGHUP');
  });
}

const listening = (): Promise<void> =>
  new Promise((resolve) => void cluster.once('listening', () => resolve()));
