// The metrics of a Node.js process, under the names that Prometheus' own clients give them.
import { readdirSync, readFileSync } from 'node:fs';
import { constants, eventLoopUtilization, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { Histogram, type Metric, measured } from './metric-families.ts';

const GC_BOUNDS = [0.001, 0.01, 0.1, 1, 2, 5];
const UTILIZATION_BOUNDS = [0.01, 0.05, 0.1, 0.25, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.99, 1];
const UTILIZATION_MS = 100;
const LAG_RESOLUTION_MS = 10;

/** The kinds of collections, as Node.js numbers them. */
const gcKinds = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

/** Collections of garbage from now on, by their kind. */
function gcDurations(): Metric {
  const durations = new Histogram(
    'nodejs_gc_duration_seconds',
    'Garbage collection duration by kind, one of major, minor, incremental or weakcb.',
    GC_BOUNDS,
  );
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // Node.js documents `detail`; its types lack it.
      const { kind } = (entry as unknown as { readonly detail: { readonly kind: number } }).detail;
      durations.observe({ kind: gcKinds.get(kind) ?? 'other' }, entry.duration / 1_000);
    }
  }).observe({ entryTypes: ['gc'] });
  return durations;
}

/** Takes a measurement each 100 ms; one that comes late counts for the time that it missed. */
function utilization(): Metric {
  const shares = new Histogram(
    'nodejs_eventloop_utilization_histogram',
    'Share of time in which the event loop was busy, ten times a second.',
    UTILIZATION_BOUNDS,
  );
  let last = eventLoopUtilization();
  let lastMs = performance.now();
  setInterval(() => {
    const now = eventLoopUtilization();
    const nowMs = performance.now();
    const times = Math.round((nowMs - lastMs) / UTILIZATION_MS);
    shares.observe({}, eventLoopUtilization(now, last).utilization, times);
    [last, lastMs] = [now, nowMs];
  }, UTILIZATION_MS).unref();
  return shares;
}

/** How late the event loop is: at a scrape, and between it and the scrape before. */
function lags(): Metric[] {
  const delays = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  delays.enable();
  const lag = (which: string, help: string, read: () => number, over: 'mean' | 'min' | 'max'): Metric =>
    measured('gauge', `nodejs_eventloop_lag_${which}seconds`, help, read, over);
  const percentile = (at: number): Metric =>
    lag(
      `p${at}_`,
      `The ${at}th percentile of the recorded event loop delays.`,
      () => delays.percentile(at) / 1e9,
      'mean',
    );
  const atScrape = async (): Promise<number> => {
    const startMs = performance.now();
    await new Promise(setImmediate);
    delays.reset();
    return (performance.now() - startMs) / 1_000;
  };
  return [
    lag('min_', 'The minimum recorded event loop delay.', () => delays.min / 1e9, 'min'),
    lag('max_', 'The maximum recorded event loop delay.', () => delays.max / 1e9, 'max'),
    lag('mean_', 'The mean of the recorded event loop delays.', () => delays.mean / 1e9, 'mean'),
    lag('stddev_', 'The standard deviation of the recorded delays.', () => delays.stddev / 1e9, 'mean'),
    ...[50, 90, 99].map(percentile),
    measured('gauge', 'nodejs_eventloop_lag_seconds', 'Lag of event loop in seconds.', atScrape, 'mean'),
  ];
}

/** The number in a file of /proc/self; NaN on other systems than Linux. */
function numberIn(file: 'status' | 'limits', form: RegExp): number {
  if (process.platform !== 'linux') return Number.NaN;
  return Number(form.exec(readFileSync(`/proc/self/${file}`, 'utf8'))?.[1]);
}

/** A gauge that is summed over processes. */
const gauge = (name: string, help: string, read: () => number): Metric => measured('gauge', name, help, read);

/** Processor time since the process started. */
const cpu = (which: string, help: string, read: (usage: NodeJS.CpuUsage) => number): Metric =>
  measured('counter', `process_cpu_${which}seconds_total`, help, () => read(process.cpuUsage()) / 1e6);

/** Bytes of each space of the heap, such as that of new objects. */
const heapSpaces = (which: 'total' | 'used' | 'available'): Metric => {
  const field = (
    { total: 'space_size', used: 'space_used_size', available: 'space_available_size' } as const
  )[which];
  return measured(
    'gauge',
    `nodejs_heap_space_size_${which}_bytes`,
    `Process heap space size ${which} from Node.js in bytes.`,
    () =>
      getHeapSpaceStatistics().map((one) => [{ space: one.space_name.replace(/_space$/, '') }, one[field]]),
  );
};

/** What keeps the event loop alive, by its type: sockets, timers, files. */
const resources = (): [{ type: string }, number][] =>
  Array.from(
    Map.groupBy(process.getActiveResourcesInfo(), (type) => type),
    ([type, all]) => [{ type }, all.length],
  );

/** The metrics of this process, which it measures from now on. */
export const processMetrics = (): Metric[] => [
  cpu('user_', 'Total user CPU time spent in seconds.', ({ user }) => user),
  cpu('system_', 'Total system CPU time spent in seconds.', ({ system }) => system),
  cpu('', 'Total user and system CPU time spent in seconds.', ({ user, system }) => user + system),
  measured(
    'gauge',
    'process_start_time_seconds',
    'Start time of the process since unix epoch in seconds.',
    () => Math.round(performance.timeOrigin / 1_000),
    'min',
  ),
  gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss()),
  gauge(
    'process_virtual_memory_bytes',
    'Virtual memory size in bytes.',
    () => numberIn('status', /^VmSize:\s*(\d+) kB$/m) * 1_024,
  ),
  gauge(
    'process_heap_bytes',
    'Process heap size in bytes.',
    () => numberIn('status', /^VmData:\s*(\d+) kB$/m) * 1_024,
  ),
  // Without the one that lists them.
  gauge('process_open_fds', 'Number of open file descriptors.', () =>
    process.platform === 'linux' ? readdirSync('/proc/self/fd').length - 1 : Number.NaN,
  ),
  gauge('process_max_fds', 'Maximum number of open file descriptors.', () =>
    numberIn('limits', /^Max open files +(\d+)/m),
  ),
  ...lags(),
  utilization(),
  gcDurations(),
  measured(
    'gauge',
    'nodejs_active_resources',
    'Resources that keep the event loop alive, by type.',
    resources,
  ),
  gauge(
    'nodejs_active_resources_total',
    'Resources that keep the event loop alive.',
    () => process.getActiveResourcesInfo().length,
  ),
  gauge(
    'nodejs_heap_size_total_bytes',
    'Process heap size from Node.js in bytes.',
    () => process.memoryUsage().heapTotal,
  ),
  gauge(
    'nodejs_heap_size_used_bytes',
    'Process heap size used from Node.js in bytes.',
    () => process.memoryUsage().heapUsed,
  ),
  gauge(
    'nodejs_external_memory_bytes',
    'Node.js external memory size in bytes.',
    () => process.memoryUsage().external,
  ),
  ...(['total', 'used', 'available'] as const).map(heapSpaces),
  measured('gauge', 'nodejs_version_info', 'Node.js version info.', versionInfo, 'first'),
];

/** A gauge of 1 whose labels are the version. */
function versionInfo(): [Record<string, string>, number][] {
  const { version } = process;
  const [major, minor, patch] = version.slice(1).split('.') as [string, string, string];
  return [[{ version, major, minor, patch }, 1]];
}
