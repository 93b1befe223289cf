// Several serving processes on one port: a primary that starts, replaces and stops them.
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Settings } from '../config.ts';
import { complain } from '../shared/output.ts';
import { tryPort } from './listen-address.ts';
import { certificateOf, startService, untilStopped, warnOfSettings } from './serving.ts';

/** Pause before a worker that could not start is tried again, at first and at the most. */
const RESTART_MS = 1_000;
const RESTART_MAX_MS = 30_000;

/** Serves until a signal, in this process or in several. */
export async function serve(settings: Settings): Promise<void> {
  if (cluster.isPrimary) {
    const certificate = certificateOf(settings);
    await warnOfSettings(settings);
    if (settings.workers > 1) return superviseMeasured(settings, certificate !== null);
  }
  try {
    const service = await startService(settings);
    await untilStopped(service, () => void cluster.worker?.send('serving'));
  } finally {
    // The channel to the primary would keep the process.
    cluster.worker?.disconnect();
  }
}

/** Supervises workers; also serves their common metrics, where a port is set. */
async function superviseMeasured(settings: Settings, hasCertificate: boolean): Promise<void> {
  const stopMetrics =
    settings.metricsPort === null
      ? undefined
      : await (await import('./serve-metrics.ts')).gatherMetrics(settings);
  try {
    await supervise(settings, hasCertificate);
  } finally {
    await stopMetrics?.();
  }
}

/** Starts the workers with this process' own arguments; ends when all of them have ended. */
async function supervise(settings: Settings, hasCertificate: boolean): Promise<void> {
  // Tried first: a socket that shares its port does not notice another program on it.
  cluster.setupPrimary({ args: [...process.argv.slice(2), '--port', String(await tryPort(settings))] });
  let stopping = false;
  const workers = new Set<Worker>();
  const served = new WeakSet<Worker>();
  const start = (): void => void workers.add(cluster.fork());
  const stop = (): void => {
    stopping = true;
    for (const worker of workers) worker.process.kill('SIGTERM');
  };
  // Workers that serve read the certificate again. One that is starting reads it anyway, and SIGHUP would end
  // it.
  const renew = (): void => {
    for (const worker of workers) if (served.has(worker)) worker.process.kill('SIGHUP');
  };
  if (hasCertificate) process.on('SIGHUP', renew);
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop);
  // Workers accept for themselves: a connection that the primary had given to one that is killed would hang
  // for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  let hasServed = false;
  let pauseMs = RESTART_MS;
  cluster.on('message', (worker, message) => {
    if (message !== 'serving') return;
    served.add(worker);
    hasServed = true;
    pauseMs = RESTART_MS;
  });
  const startLater = (code: number): void => {
    complain(`a worker could not start (status ${code}): trying again in ${pauseMs / 1000} s`);
    setTimeout(() => (stopping ? undefined : start()), pauseMs);
    pauseMs = Math.min(2 * pauseMs, RESTART_MAX_MS);
  };
  const ended = new Promise<void>((resolve) => {
    cluster.on('exit', (worker, code) => {
      workers.delete(worker);
      if (!stopping && served.has(worker)) start();
      else if (!stopping && hasServed) startLater(code);
      else if (!stopping) {
        // No worker has served yet, so none can.
        process.exitCode = code || 1;
        stop();
      }
      if (workers.size === 0 && (stopping || !hasServed)) resolve();
    });
  });
  for (let index = 0; index < settings.workers; index++) {
    start();
    // The first one brings the store up to date before the others open it.
    if (index === 0) await Promise.race([once(cluster, 'message'), ended]);
    if (stopping) break;
  }
  await ended;
}
