// What `serve` and `demo` share: store, keys, query thread and door put together, and the stop on a signal.
import { isIP } from 'node:net';
import { Door } from '../http/door.ts';
import { QueryPool } from '../http/query-pool.ts';
import { listen } from '../http/server.ts';
import { KeyRing } from '../keys/keys.ts';
import { servedEndpoints } from '../queries/index.ts';
import { pageKeySecret } from '../store/control.ts';
import { openControl, openStore } from '../store/engines.ts';
import type { Settings } from './config.ts';
import { openLog } from './log.ts';

/** A service that runs. */
export type Service = { readonly url: string; stop(reason: string): Promise<void> };

const urlOf = (host: string, port: number): string =>
  `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

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
    const listening = await listen(door, settings.host, settings.port, log.observe);
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

/** Waits for a signal to stop, then stops; a second signal ends at once. */
export async function untilStopped(service: Service): Promise<void> {
  const signal = await new Promise<string>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve(name));
  });
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1));
  await service.stop(signal);
}
