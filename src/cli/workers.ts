// Several serving processes on one port: a primary that starts, replaces and stops them.
import cluster, { type Worker } from 'node:cluster';
import { type AddressInfo, createServer } from 'node:net';
import type { Settings } from './config.ts';
import { portProblem, startService, untilStopped } from './serving.ts';

/** A worker that ends sooner than this after its start did not get to serving: it is not replaced. */
const LEAST_LIFE_MS = 2_000;

/** Serves until a signal, in this process or in several. */
export async function serve(settings: Settings): Promise<void> {
  if (settings.workers > 1 && cluster.isPrimary) return supervise(settings);
  try {
    const service = await startService(settings);
    cluster.worker?.send('serving');
    await untilStopped(service);
  } finally {
    // The channel to the primary would keep the process.
    cluster.worker?.disconnect();
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
async function supervise(settings: Settings): Promise<void> {
  cluster.setupPrimary({ args: [...process.argv.slice(2), '--port', String(await tryPort(settings))] });
  let stopping = false;
  const born = new Map<Worker, number>();
  const start = (): void => void born.set(cluster.fork(), Date.now());
  const stop = (): void => {
    stopping = true;
    for (const worker of born.keys()) worker.process.kill('SIGTERM');
  };
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
  for (let index = 0; index < settings.workers; index++) {
    start();
    // The first one brings the store up to date before the others open it.
    if (index === 0) await Promise.race([serving(), ended]);
    if (stopping) break;
  }
  await ended;
}

const serving = (): Promise<void> => new Promise((resolve) => void cluster.once('message', () => resolve()));
