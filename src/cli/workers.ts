// Several serving processes on one port: a primary that starts, replaces and stops them.
import cluster, { type Worker } from 'node:cluster';
import { type AddressInfo, createServer } from 'node:net';
import type { Settings } from './config.ts';
import { portProblem } from './listen-address.ts';
import { certificateOf, startService, untilStopped, warnOfExposure } from './serving.ts';

/** Pause before a worker that could not start is tried again, at first and at the most. */
const RESTART_MS = 1_000;
const RESTART_MAX_MS = 30_000;

/** Serves until a signal, in this process or in several. */
export async function serve(settings: Settings): Promise<void> {
  if (cluster.isPrimary) {
    const certificate = certificateOf(settings);
    await warnOfExposure(settings);
    if (settings.workers > 1) return superviseMeasured(settings, certificate !== null);
  }
  try {
    const service = await startService(settings);
    cluster.worker?.send('serving');
    await untilStopped(service);
  } finally {
    // The channel to the primary would keep the process.
    cluster.worker?.disconnect();
  }
}

/** Supervises, and gives the metrics of all workers where they are asked for. */
async function superviseMeasured(settings: Settings, hasCertificate: boolean): Promise<void> {
  if (settings.metricsPort === null) return supervise(settings, hasCertificate);
  const { gatherMetrics } = await import('./serve-metrics.ts');
  const end = await gatherMetrics(settings);
  try {
    await supervise(settings, hasCertificate);
  } finally {
    await end();
  }
}

/** The port that the workers are to listen on, tried first: of sockets that share a port none is told that others were there. */
async function tryPort(settings: Settings): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error) => reject(portProblem(error, settings)));
    probe.listen(settings.port, settings.host, resolve);
  });
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** Starts the workers with this process' own arguments; ends when all of them have. */
async function supervise(settings: Settings, hasCertificate: boolean): Promise<void> {
  cluster.setupPrimary({ args: [...process.argv.slice(2), '--port', String(await tryPort(settings))] });
  let stopping = false;
  const workers = new Set<Worker>();
  const served = new WeakSet<Worker>();
  const start = (): void => void workers.add(cluster.fork());
  const stop = (): void => {
    stopping = true;
    for (const worker of workers) worker.process.kill('SIGTERM');
  };
  if (hasCertificate) renewOnHangup(workers, served);
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop);
  // Workers accept for themselves: a connection that the primary had given to one that is killed would hang for ever.
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
    process.stderr.write(
      `bourse: a worker could not start (status ${code}): trying again in ${pauseMs / 1000} s\n`,
    );
    setTimeout(() => (stopping ? undefined : start()), pauseMs);
    pauseMs = Math.min(2 * pauseMs, RESTART_MAX_MS);
  };
  const ended = new Promise<void>((resolve) => {
    cluster.on('exit', (worker, code) => {
      workers.delete(worker);
      if (!stopping && served.has(worker)) start();
      else if (!stopping && hasServed) startLater(code);
      else if (!stopping) {
        // None has served: as things are, none can.
        process.exitCode = code || 1;
        stop();
      }
      if (workers.size === 0 && (stopping || !hasServed)) resolve();
    });
  });
  for (let index = 0; index < settings.workers; index++) {
    start();
    // The first one brings the store up to date before the others open it.
    if (index === 0) await Promise.race([serving(), ended]);
    if (stopping) break;
  }
  await ended;
}

const serving = (): Promise<void> => new Promise((resolve) => void cluster.once('message', () => resolve()));
/** Passes a hang-up on to the workers that serve: one that is starting reads the certificate anyway, and would end. */
function renewOnHangup(workers: ReadonlySet<Worker>, served: WeakSet<Worker>): void {
  process.on('SIGHUP', () => {
    for (const worker of workers) if (served.has(worker)) worker.process.kill('SIGHUP');
  });
}
