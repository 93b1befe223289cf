// What `serve` and `demo` share: the composition of store, keys, queue and request handler, and the stop on a signal.
import { lookup } from 'node:dns/promises';
import { BlockList } from 'node:net';
import type { Observe } from '../base/observe.ts';
import { builtInPages } from '../http/built-in-pages.ts';
import { ResponseCache } from '../http/cache/response-cache.ts';
import { RequestHandler } from '../http/handler.ts';
import { QueryQueue } from '../http/queue/query-queue.ts';
import { canAnswer } from '../http/readiness.ts';
import { type ListenAddress, type Listening, listen } from '../http/server.ts';
import { type Certificate, CertificateProblem, CertificateWatch, readCertificate } from '../http/tls.ts';
import { KeyRing } from '../keys/api-keys.ts';
import { ControlClient } from '../keys/control-client.ts';
import { Quotas } from '../keys/quotas.ts';
import { pageKeySecret } from '../store/control.ts';
import { openControl, openStore } from '../store/engines.ts';
import type { Tell } from '../store/store.ts';
import { type Settings, UsageProblem } from './config.ts';
import { portProblem, urlOf } from './listen-address.ts';
import { openLog } from './log.ts';
import type { Measuring } from './serve-metrics.ts';
import { version } from './version.ts';

/** A service that runs. */
export type Service = { readonly url: string; stop(reason: string): Promise<void> };

/** A service without metrics. */
const unmeasured: Measuring = {
  observe: () => undefined,
  pages: new Map(),
  stop: async () => undefined,
};

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
function listenAddressOf({ host, port, workers }: Settings, certificate: Certificate | null): ListenAddress {
  return { host, port, reusePort: workers > 1 && process.platform === 'linux', certificate };
}

/** Where to tell what happens: the log and the metrics. */
const observeBoth = (log: Observe, metrics: Observe): Observe => {
  return (observation) => {
    log(observation);
    metrics(observation);
  };
};

/** The secret of page keys, which is made with the control file. */
async function pageKeySecretOf(store: string, tell: Tell): Promise<Uint8Array> {
  const control = await openControl(store, 'write', tell);
  try {
    return await pageKeySecret(control);
  } finally {
    await control.close();
  }
}

/** Starts a service over a store, which is made where there is none. */
export async function startService(settings: Settings): Promise<Service> {
  const { host, publicUrl, allowedHosts, trustProxy } = settings;
  const certificate = certificateOf(settings);
  const scheme = certificate === null ? 'http' : 'https';
  // Opened once for writing: an older layout is brought up to date before anything reads it.
  const log = openLog(settings.logLevel);
  const tell = (words: string): void => log.observe({ kind: 'updating', words });
  await (await openStore(settings.store, 'write', tell)).close();
  const store = await openStore(settings.store, 'read');
  let observe: Observe = log.observe;
  const queue = new QueryQueue({
    storeUrl: settings.store,
    pageKeySecret: await pageKeySecretOf(settings.store, tell),
  });
  const control = new ControlClient(settings.store);
  const quotas = new Quotas({
    addUses: (uses) => control.addQuotaUses(uses),
    observe: (observation) => observe(observation),
    nowMs: Date.now,
  });
  let isStopping = false;
  let measuring = unmeasured;
  try {
    await Promise.all([queue.ready(), control.keys()]);
    if (settings.metricsPort !== null)
      measuring = await (await import('./serve-metrics.ts')).measure(settings, queue, log.observe);
    const isReady = async () => !isStopping && (await canAnswer(queue, Date.now()));
    observe = observeBoth(log.observe, measuring.observe);
    const handler = new RequestHandler({
      keys: new KeyRing(() => control.keys()),
      quotas,
      cache: new ResponseCache(store),
      submit: (request, isGone) => queue.submit(request, isGone),
      address: { publicUrl, allowedHosts, trustProxy, scheme },
      observe,
      nowMs: Date.now,
      pages: new Map([...builtInPages(version(), isReady), ...measuring.pages]),
    });
    const listening = await listen(handler, listenAddressOf(settings, certificate), observe).catch(
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
        isStopping = true;
        unwatch();
        await listening.stop(reason);
        await measuring.stop();
        await queue.close();
        await quotas.close();
        await store.close();
        await control.close();
        log.observe({ kind: 'stopped' });
        log.flush();
      },
    };
  } catch (error) {
    await measuring.stop();
    await queue.close();
    await quotas.close();
    await store.close();
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
