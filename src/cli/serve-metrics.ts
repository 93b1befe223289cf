// Metrics of serving, in one process or several, and the port that they are to be had at. Only loaded where they are asked for.
import cluster from 'node:cluster';
import type { Observe } from '../base/observe.ts';
import type { BuiltInPage, BuiltInPages } from '../http/built-in-pages.ts';
import { exposition, type Measurable, Metrics, type Report } from '../http/metrics.ts';
import { METRICS_PATH, MetricsHandler, metricsPage } from '../http/metrics-handler.ts';
import { listen } from '../http/server.ts';
import { storeReport } from '../http/store-metrics.ts';
import type { Settings } from './config.ts';
import { portProblem, urlOf } from './listen-address.ts';
import { openLog } from './log.ts';
import { version } from './version.ts';
import { PrimaryLink, WorkerReports } from './worker-metrics.ts';

/** What a serving process does to be measured. */
export type Measuring = {
  readonly observe: Observe;
  /** Pages of the service's own port, by path. */
  readonly pages: BuiltInPages;
  stop(): Promise<void>;
};

/** Whether metrics have the port of the service, not one that is theirs alone. */
const sharesPort = ({ port, metricsPort }: Settings): boolean => port !== 0 && metricsPort === port;

/** Listens for who asks for metrics on their own port; the end of that. */
async function listenAlone(
  settings: Settings,
  page: BuiltInPage,
  observe: Observe,
): Promise<() => Promise<void>> {
  const place = { host: 'metricsHost', port: 'metricsPort' } as const;
  const { metricsHost: host, metricsPort: port } = settings;
  const handler = new MetricsHandler(page, observe);
  const where = { host, port: port!, reusePort: false, certificate: null };
  const listening = await listen(handler, where, () => undefined).catch((error: unknown) => {
    throw portProblem(error, settings, place);
  });
  observe({ kind: 'metrics', url: `${urlOf('http', host, listening.port)}${METRICS_PATH}` });
  return () => listening.stop('');
}

/** The text of reports and of what the store says now. */
const textWith =
  ({ store }: Settings) =>
  async (reports: readonly Report[]): Promise<string> =>
    exposition([...reports, await storeReport(store)]);

/** Measures this process, alone or as one of several. @throws ServiceProblem where the port cannot be listened on */
export async function measure(
  settings: Settings,
  queue: Measurable['queue'],
  observe: Observe,
): Promise<Measuring> {
  const metrics = new Metrics({ version: version(), queue });
  const link = cluster.isWorker ? new PrimaryLink(metrics) : null;
  const text = textWith(settings);
  const page = metricsPage(() => (link === null ? metrics.report().then((own) => text([own])) : link.text()));
  const isShared = sharesPort(settings);
  const end = isShared || link !== null ? null : await listenAlone(settings, page, observe);
  return {
    observe: (observation) => metrics.observe(observation),
    pages: new Map(isShared ? [[METRICS_PATH, page]] : []),
    async stop() {
      await end?.();
      // What was counted since the last report.
      await link?.report();
    },
  };
}

/** Gathers the metrics of workers in their primary, before the first of them starts; the end of that. @throws ServiceProblem */
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
