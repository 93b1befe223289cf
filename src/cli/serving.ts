// What `serve` and `demo` share: store, keys, query thread and door put together, and the stop on a signal.
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import type { Observe } from '../base/observe.ts';
import { Door } from '../http/door.ts';
import { QueryPool } from '../http/query-pool.ts';
import { type Listening, listen, type Place } from '../http/server.ts';
import { type Certificate, CertificateProblem, CertificateWatch, readCertificate } from '../http/tls.ts';
import { KeyRing } from '../keys/keys.ts';
import { Quotas } from '../keys/quotas.ts';
import { servedEndpoints } from '../queries/index.ts';
import { pageKeySecret } from '../store/control.ts';
import { openControl, openStore } from '../store/engines.ts';
import { type Settings, UsageProblem } from './config.ts';
import { openLog } from './log.ts';
import { ServiceProblem } from './problem.ts';

/** A service that runs. */
export type Service = { readonly url: string; stop(reason: string): Promise<void> };

const urlOf = (scheme: string, host: string, port: number): string =>
  `${scheme}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

/** What to do where an address cannot be listened on. */
const cures: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken: choose another with --port N or BOURSE_PORT',
  EACCES: 'is not for this user: choose one from 1024 with --port N or BOURSE_PORT',
  EADDRNOTAVAIL: 'is no address of this machine: choose one with --host ADDRESS or BOURSE_HOST',
  ENOTFOUND: 'is not known: choose an address of this machine with --host ADDRESS or BOURSE_HOST',
};

/** An address that could not be listened on, in words; any other error as it is. */
export function portProblem(error: unknown, { host, port }: Pick<Settings, 'host' | 'port'>): unknown {
  const cure = cures[(error as NodeJS.ErrnoException).code ?? ''];
  if (cure === undefined) return error;
  return new ServiceProblem(`port ${port} of ${host} ${cure}`, { cause: error });
}

/** The certificate that the settings name, null without one. @throws UsageProblem for files that cannot be used, or one alone */
export function certificateOf({ tlsCert, tlsKey }: Settings): Certificate | null {
  if (tlsCert === null && tlsKey === null) return null;
  if (tlsCert === null || tlsKey === null) {
    const missing = tlsCert === null ? '--tls-cert' : '--tls-key';
    throw new UsageProblem(`--tls-cert and --tls-key go together: ${missing} FILE is missing`);
  }
  try {
    return readCertificate({ cert: tlsCert, key: tlsKey });
  } catch (error) {
    if (error instanceof CertificateProblem) throw new UsageProblem(error.message, { cause: error });
    throw error;
  }
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether only this machine reaches what listens on a host, in whatever spelling. */
async function isLoopback(host: string): Promise<boolean> {
  const found = await lookup(host, { all: true }).catch(() => []);
  return (
    found.length > 0 &&
    found.every(({ address, family }) => loopback.check(address, family === 6 ? 'ipv6' : 'ipv4'))
  );
}

/** What is to be said of settings with which others can read along; null where they cannot. */
export async function exposureOf(settings: Settings): Promise<string | null> {
  const { host, tlsCert, trustProxy } = settings;
  if (tlsCert !== null || trustProxy || (await isLoopback(host))) return null;
  return 'keys travel in URLs, and without TLS whoever is on the way can read them: give --tls-cert and --tls-key, or put a proxy with TLS before it and say --trust-proxy';
}

/** Warns, once, of settings with which others can read along. */
export async function warnOfExposure(settings: Settings): Promise<void> {
  const words = await exposureOf(settings);
  if (words === null) return;
  const log = openLog(settings.logLevel);
  log.observe({ kind: 'exposed', host: settings.host, words });
  log.flush();
}

/** Keeps the certificate of a listening service up to date, also on SIGHUP; the end of that. */
function watchCertificate(
  certificate: Certificate | null,
  listening: Listening,
  observe: Observe,
): () => void {
  if (certificate === null) return () => undefined;
  const watch = new CertificateWatch(certificate, (next) => listening.renew(next), observe);
  const check = (): void => watch.check();
  process.on('SIGHUP', check);
  return () => {
    process.off('SIGHUP', check);
    watch.stop();
  };
}

/**
 * Where to listen. Workers each have a socket of their own on one port where the system can: what one of them has taken is then
 * lost neither to a worker that stops nor to the primary.
 */
function placeOf({ host, port, workers }: Settings, certificate: Certificate | null): Place {
  return { host, port, reusePort: workers > 1 && process.platform === 'linux', certificate };
}

/** Starts a service over a store, which is made where there is none. */
export async function startService(settings: Settings): Promise<Service> {
  const { host, publicUrl, allowedHosts, trustProxy } = settings;
  const certificate = certificateOf(settings);
  const scheme = certificate === null ? 'http' : 'https';
  // Opened once for writing: an older layout is brought up to date before anything reads it.
  await (await openStore(settings.store, 'write')).close();
  const control = await openControl(settings.store, 'write');
  const log = openLog(settings.logLevel);
  const quotas = new Quotas({ control, observe: log.observe, nowMs: Date.now });
  const pool = new QueryPool({ storeUrl: settings.store, pageKeySecret: await pageKeySecret(control) });
  try {
    await pool.ready();
    const door = new Door({
      endpoints: servedEndpoints,
      keys: new KeyRing(control),
      quotas,
      submit: (request, isGone) => pool.submit(request, isGone),
      address: { publicUrl, allowedHosts, trustProxy, scheme },
      observe: log.observe,
      nowMs: Date.now,
    });
    const listening = await listen(door, placeOf(settings, certificate), log.observe).catch(
      (error: unknown) => {
        throw portProblem(error, settings);
      },
    );
    const url = urlOf(scheme, host, listening.port);
    log.observe({ kind: 'listening', url, store: settings.store, pid: process.pid });
    const unwatch = watchCertificate(certificate, listening, log.observe);
    return {
      url,
      async stop(reason) {
        unwatch();
        await listening.stop(reason);
        await pool.close();
        await quotas.close();
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
