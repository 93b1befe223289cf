// `serve` and `demo`: the composition of store, keys, queue and request handler, and the stop on a signal.
import cluster from 'node:cluster';
import { lookup } from 'node:dns/promises';
import { BlockList } from 'node:net';
import type { Observe } from '../../base/observe.ts';
import { errors } from '../../contract/errors.ts';
import { startParquet } from '../../queries/export/parquet-process.ts';
import { builtInPages } from '../../serve/built-in-pages.ts';
import { ResponseCache } from '../../serve/cache/response-cache.ts';
import { RequestHandler } from '../../serve/handler.ts';
import { KeyRing } from '../../serve/keys/api-keys.ts';
import { ControlClient } from '../../serve/keys/control-client.ts';
import { KeyUses, Quotas } from '../../serve/keys/quotas.ts';
import { McpThread } from '../../serve/mcp/http-client.ts';
import { connectionsMax, OpenConnections } from '../../serve/open-connections.ts';
import { UnsentBytes } from '../../serve/outgoing/unsent-bytes.ts';
import { problemOf, serviceState } from '../../serve/readiness.ts';
import { type Listening, listen } from '../../serve/server.ts';
import { ParquetSpool } from '../../serve/spool/parquet-spool.ts';
import { QueryLanes } from '../../serve/threads/query-lanes.ts';
import { type Certificate, CertificateProblem, CertificateWatch, readCertificate } from '../../serve/tls.ts';
import { pageKeySecret } from '../../store/control.ts';
import { engineAt, openControl, openStore } from '../../store/engines.ts';
import { noStoreAt, StoreUnavailable, withoutPassword } from '../../store/store.ts';
import { type Settings, strayVariables, UsageProblem, version } from '../config.ts';
import { closing, openToWrite } from '../shared/opened-store.ts';
import { portProblem, urlOf } from './listen-address.ts';
import { openLog } from './log.ts';
import { DATA, Scrubbing } from './scrubbing.ts';
import type { Measuring } from './serve-metrics.ts';

/** A service that runs. */
type Service = {
  readonly url: string;
  /** Logs that it listens. */
  announce(): void;
  stop(reason: string): Promise<void>;
};

/**
 * The certificate of the settings; null without one. @throws UsageProblem for unusable files, or only one of
 * the two
 */
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

/** True if a host, in any spelling, can only be reached from this machine. */
export async function isLoopback(host: string): Promise<boolean> {
  const found = await lookup(host, { all: true }).catch(() => []);
  return (
    found.length > 0 &&
    found.every(({ address, family }) => loopback.check(address, family === 6 ? 'ipv6' : 'ipv4'))
  );
}

/** The warning when keys would travel unencrypted; null where they would not. */
export async function exposureOf({ host, tlsCert, trustProxy }: Settings): Promise<string | null> {
  if (tlsCert !== null || trustProxy || (await isLoopback(host))) return null;
  return 'keys travel in URLs, and without TLS anyone on the network can read them: give --tls-cert and --tls-key, or put a proxy with TLS in front and give --trust-proxy';
}

/** Logs a warning when keys would travel unencrypted, and of each variable that is no setting. */
export async function warnOfSettings(settings: Settings): Promise<void> {
  const words = await exposureOf(settings);
  const log = openLog(settings.logLevel);
  if (words !== null) log.observe({ kind: 'exposed', host: settings.host, words });
  for (const { name, near } of strayVariables())
    log.observe({
      kind: 'environment',
      words: `${name} is not a setting${near === undefined ? '' : `; is it ${near}?`}`,
    });
  log.flush();
}

/** Keeps the certificate of a listening service up to date, also on SIGHUP; the result stops it. */
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
 * Starts a service over a store, which is made where there is none. `demoKey` is the key that a demo's
 * explorer fills in.
 */
export async function startService(
  settings: Settings,
  demoKey: () => string | null = () => null,
): Promise<Service> {
  const { host, port, publicUrl, allowedHosts, trustProxy } = settings;
  const certificate = certificateOf(settings);
  const scheme = certificate === null ? 'http' : 'https';
  const log = openLog(settings.logLevel, settings.logAddresses);
  const tell = (words: string): void => log.observe({ kind: 'updating', words });
  const isMade = await engineAt(settings.store).isMade();
  // Opening for writing brings an older layout up to date before anything reads it, and makes the store. A
  // worker that starts later finds it: while it is away, an empty one in its place would be served.
  if ((cluster.worker?.id ?? 1) === 1) await (await openToWrite(settings.store, tell)).close();
  else if (!isMade) throw new StoreUnavailable(noStoreAt(withoutPassword(settings.store)));
  const secret = await closing(openControl(settings.store, 'write', tell), pageKeySecret);
  if (!isMade) {
    const words = `there was no store at ${withoutPassword(settings.store)}: an empty one was made`;
    log.observe({ kind: 'store made', words });
  }
  const store = await openStore(settings.store, 'serve', (words) =>
    log.observe({ kind: 'store replaced', words }),
  );
  const unsent = new UnsentBytes();
  const cache = new ResponseCache(store);
  let measuring: Measuring | null = null;
  const observe: Observe = (observation) => {
    log.observe(observation);
    measuring?.observe(observation);
    if (observation.kind === 'fault' && observation.where === DATA) scrubbing.met(observation.cause);
  };
  const scrubbing = new Scrubbing(settings.store, settings.scrubHours, observe);
  // Before the threads: the system is asked for a bound of the process, and stops them meanwhile.
  const connections = new OpenConnections(connectionsMax(), observe);
  const queue = new QueryLanes({ storeUrl: settings.store, pageKeySecret: secret });
  const control = new ControlClient(settings.store);
  const keyUses = new KeyUses({ addUses: (uses) => control.addKeyUses(uses), observe });
  const assistants = new McpThread(version());
  const spool = new ParquetSpool();
  spool.clear();
  const quotas = new Quotas({ addUses: (uses) => control.addQuotaUses(uses), observe, nowMs: Date.now });
  const close = async (): Promise<void> => {
    spool.close();
    await assistants.close();
    await scrubbing.stop();
    await measuring?.stop();
    await queue.close();
    await quotas.close();
    await keyUses.close();
    await store.close();
    await control.close();
  };
  let isStopping = false;
  try {
    await Promise.all([queue.ready(), control.keys()]);
    if (settings.metricsPort !== null)
      measuring = await (await import('./serve-metrics.ts')).measure(
        settings,
        { queue, cache, scrubbing, connections, unsent, log },
        log.observe,
      );
    const problem = async () => (isStopping ? errors.unavailable.meaning : problemOf(queue, Date.now()));
    const handler = new RequestHandler({
      unsent,
      keys: new KeyRing(() => control.keys(), keyUses),
      quotas,
      cache,
      admits: (keyId, waitedMs) => queue.admits(keyId, waitedMs),
      submit: (request, isGone, keyId, waitedMs) => queue.submit(request, isGone, keyId, waitedMs),
      address: { publicUrl, allowedHosts, trustProxy, scheme },
      version: version(),
      state: serviceState({ problem, scrubbing, control, engine: engineAt(settings.store) }),
      spool,
      startParquet,
      assistants,
      observe,
      nowMs: Date.now,
      pages: new Map([
        ...builtInPages(version(), problem, () => scrubbing.damaged.length, demoKey),
        ...(measuring?.pages ?? []),
      ]),
    });
    // Each worker has its own socket on one port where the system can: no connection is lost with another
    // worker.
    const reusePort = settings.workers > 1 && process.platform === 'linux';
    const listening = await listen(
      { handler, connections, unsent, observe },
      { host, port, reusePort, certificate },
    ).catch((error: unknown) => {
      throw portProblem(error, settings);
    });
    // One of several workers notes it for all. Where that one is replaced, nobody notes its end, and the next
    // start has the store read.
    if ((cluster.worker?.id ?? 1) === 1) await scrubbing.begin();
    const url = urlOf(scheme, host, listening.port);
    const unwatch = watchCertificate(certificate, listening, log.observe);
    return {
      url,
      announce: () =>
        log.observe({ kind: 'listening', url, store: withoutPassword(settings.store), pid: process.pid }),
      async stop(reason) {
        isStopping = true;
        unwatch();
        await listening.stop(reason);
        await close();
        log.observe({ kind: 'stopped' });
        log.flush();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Says that a service is there and waits for a signal to stop, then stops; the same signal once more ends at
 * once.
 */
export async function untilStopped(
  service: Service,
  introduce: () => Promise<void> | void = () => undefined,
): Promise<void> {
  const signalled = new Promise<NodeJS.Signals>((resolve) => {
    // Ctrl-C reaches a whole group, and its primary then signals the workers again: a second kind of signal
    // ends nothing.
    for (const name of STOP_SIGNALS) process.on(name, () => resolve(name));
  });
  // After the handlers: whoever reads these may signal at once.
  await introduce();
  service.announce();
  const signal = await signalled;
  process.once(signal, () => process.exit(1));
  await service.stop(signal);
}
