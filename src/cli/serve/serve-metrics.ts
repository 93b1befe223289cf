// Metrics of one or several serving processes, and the port that serves them. Loaded only where a port is
// set.
import cluster from 'node:cluster';
import type { Observe } from '../../base/observe.ts';
import type { BuiltInPage, BuiltInPages } from '../../serve/built-in-pages.ts';
import { httpLimits } from '../../serve/limits.ts';
import { exposition, type Measurable, Metrics, type Report, storeReport } from '../../serve/metrics.ts';
import { METRICS_PATH, MetricsHandler, metricsPage } from '../../serve/metrics-handler.ts';
import { OpenConnections } from '../../serve/open-connections.ts';
import { UnsentBytes } from '../../serve/outgoing/unsent-bytes.ts';
import { listen } from '../../serve/server.ts';
import type { Settings } from '../config.ts';
import { version } from '../shared/version.ts';
import { metricsAddress, portProblem, urlOf } from './listen-address.ts';
import { openLog } from './log.ts';
import { PrimaryLink, WorkerReports } from './worker-metrics.ts';

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
