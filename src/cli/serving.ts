// What `serve` and `demo` share: store, keys, query thread and door put together, and the stop on a signal.
import { isIP } from 'node:net';
import { Door } from '../http/door.ts';
import { QueryPool } from '../http/query-pool.ts';
import { type ListenAddress, listen } from '../http/server.ts';
import { KeyRing } from '../keys/keys.ts';
import { servedEndpoints } from '../queries/index.ts';
import { pageKeySecret } from '../store/control.ts';
import { openControl, openStore } from '../store/engines.ts';
import type { Settings } from './config.ts';
import { openLog } from './log.ts';
import { ServiceProblem } from './problem.ts';

/** A service that runs. */
export type Service = { readonly url: string; stop(reason: string): Promise<void> };

const urlOf = (host: string, port: number): string =>
  `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

/** What to do where the address cannot be listened on; any other error as it is. */
export function portProblem(error: unknown, { host, port }: Settings): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return error;
  return new ServiceProblem(`port ${port} of ${host} is taken: choose another with --port N or BOURSE_PORT`, {
    cause: error,
  });
}

/**
 * Where to listen. Workers each have a socket of their own on one port where the system can: what one of them has taken is then
 * lost neither to a worker that stops nor to the primary.
 */
function addressOf({ host, port, workers }: Settings): ListenAddress {
  return { host, port, reusePort: workers > 1 && process.platform === 'linux' };
}

/** Starts a service over a store, which is made where there is none. */
export async function startService(settings: Settings): Promise<Service> {
  // Opened once for writing: an older layout is brought up to date before anything reads it.
  await (await openStore(settings.store, 'write')).close();
  const control = await openControl(settings.store, 'write');
  const log = openLog(settings.logLevel);
  const pool = new QueryPool({ storeUrl: settings.store, pageKeySecret: await pageKeySecret(control) });
  try {
    await pool.ready();
    const door = new Door({
      endpoints: servedEndpoints,
      keys: new KeyRing(control),
      submit: (request, isGone) => pool.submit(request, isGone),
      address: { publicUrl: settings.publicUrl, allowedHosts: settings.allowedHosts },
      observe: log.observe,
      nowMs: Date.now,
    });
    const listening = await listen(door, addressOf(settings), log.observe).catch((error: unknown) => {
      throw portProblem(error, settings);
    });
    const url = urlOf(settings.host, listening.port);
    log.observe({ kind: 'listening', url, store: settings.store, pid: process.pid });
    return {
      url,
      async stop(reason) {
        await listening.stop(reason);
        await pool.close();
        await control.close();
        log.observe({ kind: 'stopped' });
        log.flush();
      },
    };
  } catch (error) {
    await pool.close();
    await control.close();
    throw error;
  }
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Waits for a signal to stop, then stops; the same signal once more ends at once. */
export async function untilStopped(service: Service): Promise<void> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    // Ctrl-C reaches a whole group, and its primary then tells the workers again: another signal is no hurry.
    for (const name of STOP_SIGNALS) process.on(name, () => resolve(name));
  });
  process.once(signal, () => process.exit(1));
  await service.stop(signal);
}
