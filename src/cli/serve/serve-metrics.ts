// Metrics of one or several serving processes, and the port that serves them; of several, the primary asks
// each worker for its report, and keeps the last report of ended ones. Loaded only where a port is set.
import cluster, { type Worker } from 'node:cluster';
import type { Observe } from '../../base/observe.ts';
import type { BuiltInPage, BuiltInPages } from '../../serve/built-in-pages.ts';
import { httpLimits } from '../../serve/limits.ts';
import {
  exposition,
  METRICS_PATH,
  type Measurable,
  Metrics,
  MetricsHandler,
  metricsPage,
  type Report,
  storeReport,
  totalsOf,
} from '../../serve/metrics.ts';
import { OpenConnections } from '../../serve/open-connections.ts';
import { UnsentBytes } from '../../serve/outgoing/unsent-bytes.ts';
import { listen } from '../../serve/server.ts';
import { type Settings, version } from '../config.ts';
import { metricsAddress, portProblem, urlOf } from './listen-address.ts';
import { openLog } from './log.ts';

/** Time that workers have to report; for a later one its previous report counts. */
const REPORT_WAIT_MS = 1_000;

type FromPrimary =
  | { readonly kind: 'report' }
  | { readonly kind: 'text'; readonly id: number; readonly text: string }
  | { readonly kind: 'fault'; readonly id: number; readonly cause: string };
type FromWorker =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'text'; readonly id: number };

/** A worker's side: reports when asked, and asks for the metrics of all. */
class PrimaryLink {
  readonly #metrics: Metrics;
  readonly #asked = new Map<number, PromiseWithResolvers<string>>();
  #nextId = 0;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    process.on('message', (message: FromPrimary) => {
      if (message.kind === 'report') return void this.report();
      const asked = this.#asked.get(message.id);
      this.#asked.delete(message.id);
      if (message.kind === 'text') asked?.resolve(message.text);
      else asked?.reject(new Error(`the primary could not gather the metrics: ${message.cause}`));
    });
  }

  /** Sends this process' report; resolves when it is on its way. */
  async report(): Promise<void> {
    await this.#send({ kind: 'report', report: await this.#metrics.report() });
  }

  /** The metrics of all workers as text. */
  text(): Promise<string> {
    const id = this.#nextId++;
    const asked = Promise.withResolvers<string>();
    this.#asked.set(id, asked);
    void this.#send({ kind: 'text', id });
    return asked.promise;
  }

  #send(message: FromWorker): Promise<void> {
    return new Promise((resolve) => {
      if (process.connected) process.send!(message, undefined, undefined, () => resolve());
      else resolve();
    });
  }
}

/** The primary's side: the reports of all workers, ended ones included, so that no count is lost. */
class WorkerReports {
  readonly #latest = new Map<Worker, Report>();
  /** Resolves when a worker that was asked has reported or ended. */
  readonly #awaited = new Map<Worker, () => void>();
  #ended: readonly Report[] = [];
  #gathering: Promise<Report[]> | null = null;
  readonly #text: (reports: readonly Report[]) => Promise<string>;

  /** `text` makes the text of reports. */
  constructor(text: (reports: readonly Report[]) => Promise<string>) {
    this.#text = text;
    cluster.on('message', (worker, message: FromWorker | 'serving') => {
      if (message === 'serving') this.#latest.set(worker, []);
      else if (message.kind === 'text') void this.#answer(worker, message.id);
      else {
        if (this.#latest.has(worker)) this.#latest.set(worker, message.report);
        this.#awaited.get(worker)?.();
      }
    });
    cluster.on('exit', (worker) => {
      const last = this.#latest.get(worker);
      if (last !== undefined) this.#ended = [...this.#ended, last];
      this.#latest.delete(worker);
      this.#awaited.get(worker)?.();
    });
  }

  async #answer(worker: Worker, id: number): Promise<void> {
    const answer: FromPrimary = await this.text().then(
      (text) => ({ kind: 'text', id, text }),
      (error: unknown) => ({ kind: 'fault', id, cause: String(error) }),
    );
    if (worker.isConnected()) send(worker, answer);
  }

  /** The metrics of all workers as text. Requests that come while they are gathered share the result. */
  async text(): Promise<string> {
    this.#gathering ??= this.#gather().finally(() => {
      this.#gathering = null;
    });
    return this.#text(await this.#gathering);
  }

  async #gather(): Promise<Report[]> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, REPORT_WAIT_MS);
    const workers = [...this.#latest.keys()].filter((worker) => worker.isConnected());
    await Promise.race([Promise.all(workers.map((worker) => this.#ask(worker))), late.promise]);
    clearTimeout(timer);
    const ended = this.#ended;
    const total = await totalsOf(ended);
    this.#ended = [total, ...this.#ended.slice(ended.length)];
    return [...this.#latest.values(), ...this.#ended];
  }

  #ask(worker: Worker): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited.set(worker, resolve);
      send(worker, { kind: 'report' });
    });
  }
}

/** Sends a worker a message; one that has ended does not need it. */
function send(worker: Worker, message: FromPrimary): void {
  worker.send(message, undefined, undefined, () => undefined);
}

/** The measurement of a serving process. */
export type Measuring = {
  readonly observe: Observe;
  /** Pages of the service's own port, by path. */
  readonly pages: BuiltInPages;
  stop(): Promise<void>;
};

/** Whether the port of the service serves the metrics too. */
const sharesPort = ({ port, metricsPort }: Settings): boolean => port !== 0 && metricsPort === port;

/** Serves metrics on their own port; the result stops it. */
async function listenAlone(
  settings: Settings,
  page: BuiltInPage,
  observe: Observe,
): Promise<() => Promise<void>> {
  const { metricsHost: host, metricsPort: port, publicUrl, allowedHosts, trustProxy } = settings;
  const handler = new MetricsHandler(page, { publicUrl, allowedHosts, trustProxy, scheme: 'http' }, observe);
  const where = { host, port: port!, reusePort: false, certificate: null };
  const ignore = (): void => undefined;
  const connections = new OpenConnections(httpLimits.metricsConnectionsMax, ignore);
  const parts = { handler, connections, unsent: new UnsentBytes(), observe: ignore };
  const listening = await listen(parts, where).catch((error: unknown) => {
    throw portProblem(error, settings, metricsAddress);
  });
  observe({ kind: 'metrics', url: `${urlOf('http', host, listening.port)}${METRICS_PATH}` });
  return () => listening.stop('');
}

/** The text of reports and of the store's present state. */
const textWith =
  ({ store }: Settings) =>
  async (reports: readonly Report[]): Promise<string> =>
    exposition([...reports, await storeReport(store)]);

/**
 * Measures this process, alone or as one of several. @throws ServiceProblem where the port cannot be listened
 * on
 */
export async function measure(
  settings: Settings,
  facts: Omit<Measurable, 'version'>,
  observe: Observe,
): Promise<Measuring> {
  const metrics = new Metrics({ version: version(), ...facts });
  const link = cluster.isWorker ? new PrimaryLink(metrics) : null;
  const ownText = async () => textWith(settings)([await metrics.report()]);
  const page = metricsPage(() => link?.text() ?? ownText());
  const isShared = sharesPort(settings);
  const end = isShared || link !== null ? null : await listenAlone(settings, page, observe);
  return {
    observe: (observation) => metrics.observe(observation),
    pages: new Map(isShared ? [[METRICS_PATH, page]] : []),
    async stop() {
      await end?.();
      // Counts since the last report.
      await link?.report();
    },
  };
}

/**
 * Gathers the metrics of workers in their primary, before the first worker starts; the result stops it.
 * @throws ServiceProblem
 */
export async function gatherMetrics(settings: Settings): Promise<() => Promise<void>> {
  const log = openLog(settings.logLevel);
  const reports = new WorkerReports(textWith(settings));
  const page = metricsPage(() => reports.text());
  const end = sharesPort(settings) ? null : await listenAlone(settings, page, log.observe);
  return async () => {
    await end?.();
    log.flush();
  };
}
