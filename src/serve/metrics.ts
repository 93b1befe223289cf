// Observations -> Prometheus metrics, by route pattern and never by address (contract 7.4, 9.3); reports of
// processes -> text.
import { endReasons, type Observation } from '../base/observe.ts';
import { errors } from '../contract/errors.ts';
import { rowWith } from '../store/all-rows.ts';
import { openStore } from '../store/engines.ts';
import { counters, failedFiles, importRuns } from '../store/schema/internal.ts';
import { type Reader, StoreUnusable } from '../store/store.ts';
import type { ResponseCache } from './cache/response-cache.ts';
import { Counter, Histogram, type Metric, measured, type Report } from './metric-families.ts';
import type { OpenConnections } from './open-connections.ts';
import type { UnsentBytes } from './outgoing/unsent-bytes.ts';
import { processMetrics } from './process-metrics.ts';
import type { QueueLength } from './threads/overload.ts';
import type { QueryLanes } from './threads/query-lanes.ts';

/** Facts that are measured when metrics are requested. */
export type Measurable = {
  readonly version: string;
  readonly queue: QueueLength & { readonly threads: number; readonly refusedShare: number } & Pick<
      QueryLanes,
      'memory'
    >;
  readonly cache: Pick<ResponseCache, 'bytes'>;
  /** What of the store is damaged, and when all of it was last read; null before. */
  readonly scrubbing: { readonly damaged: readonly string[]; readonly readMs: number | null };
  readonly connections: Pick<OpenConnections, 'count' | 'unread'>;
  readonly unsent: Pick<UnsentBytes, 'total'>;
  /** The number of its lines that were dropped. */
  readonly log: { readonly dropped: number };
};

/** In seconds: from a request that needs no work to one that its caller gives up. */
const DURATION_BUCKETS = [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The metrics of one serving process. */
export class Metrics {
  readonly #requests = new Counter(
    'bourse_requests_total',
    'Requests, by route, method and status of the answer; "gone" where the caller had gone before it.',
  );
  readonly #durations = new Histogram(
    'bourse_request_duration_seconds',
    'Time from the head of a request to its answer, ready to be sent.',
    DURATION_BUCKETS,
  );
  readonly #bytes = new Counter('bourse_response_bytes_total', 'Bytes of the bodies of answers.');
  readonly #errors = new Counter(
    'bourse_errors_total',
    'Answers with an error, by its word; "unavailable" was refused because of overload, or met a store that is away.',
  );
  readonly #keys = new Counter(
    'bourse_key_checks_total',
    'Requests by what became of their key: valid, invalid or missing.',
  );
  readonly #faults = new Counter(
    'bourse_faults_total',
    'Failures of the service itself; the log has their causes.',
  );
  readonly #unavailable = new Counter(
    'bourse_store_unavailable_total',
    'Requests that met a store that could not be reached.',
  );
  readonly #ended = new Counter(
    'bourse_connections_ended_total',
    'Connections that the service ended, by the reason.',
  );
  readonly #metrics: readonly Metric[];

  constructor({ version, queue, cache, scrubbing, connections, unsent, log }: Measurable) {
    this.#metrics = [
      ...[this.#requests, this.#durations, this.#bytes, this.#errors, this.#keys, this.#faults],
      ...[this.#unavailable, this.#ended],
      gauge('bourse_queue_waiting_requests', 'Requests that wait for a query thread.', () => queue.waiting),
      gauge('bourse_queue_in_flight_requests', 'Requests in a query thread.', () => queue.inFlight),
      gauge(
        'bourse_query_threads',
        'Query threads: two once a request read many bars or long texts, or asked for coverage or findings.',
        () => queue.threads,
      ),
      gauge(
        'bourse_overload_refused_ratio',
        'Part of the requests that is refused because a serving process does not keep up.',
        () => queue.refusedShare,
        'max',
      ),
      gauge(
        'bourse_damaged_parts',
        'Damaged parts of the store that reading it or a request has found.',
        () => scrubbing.damaged.length,
        'max',
      ),
      gauge(
        'bourse_newest_scrub_timestamp_seconds',
        'When the whole store was last read; 0 before.',
        () => (scrubbing.readMs ?? 0) / 1_000,
        'max',
      ),
      gauge('bourse_connections', 'Open connections.', () => connections.count),
      gauge(
        'bourse_unread_requests',
        'Requests that wait on their connections to be read.',
        () => connections.unread,
      ),
      gauge('bourse_unsent_bytes', 'Bytes of answers that are not sent yet.', () => unsent.total),
      gauge('bourse_cached_answers_bytes', 'Bytes of cached answers.', () => cache.bytes),
      memoryOf(queue),
      measured(
        'counter',
        'bourse_log_lines_dropped_total',
        'Lines of the log that were dropped because nobody read those before them.',
        () => log.dropped,
      ),
      gauge('bourse_workers', 'Serving processes.', () => 1),
      measured(
        'gauge',
        'bourse_build_info',
        'Versions of Bourse and of Node.js; its value is 1.',
        () => [[{ version, node: process.versions.node }, 1]],
        'first',
      ),
      ...processMetrics(),
    ];
    // A counter that appears with its first event would hide that event from rate().
    for (const error of Object.keys(errors)) this.#errors.add({ error }, 0);
    for (const outcome of ['valid', 'invalid', 'missing']) this.#keys.add({ outcome }, 0);
    for (const where of ['request', 'data']) this.#faults.add({ where }, 0);
    this.#unavailable.add({}, 0);
    for (const reason of endReasons) this.#ended.add({ reason }, 0);
  }

  /** Counts an observation. */
  observe(observation: Observation): void {
    if (observation.kind === 'request') this.#count(observation);
    else if (observation.kind === 'fault') this.#faults.add({ where: observation.where });
    else if (observation.kind === 'unavailable') this.#unavailable.add({});
    else if (observation.kind === 'connection') this.#ended.add({ reason: observation.reason });
  }

  #count(request: Observation & { kind: 'request' }): void {
    const { status, word, bytes } = request;
    const route = request.route ?? 'none';
    const method = METHODS.has(request.method) ? request.method : 'other';
    this.#requests.add({ route, method, status: status ?? 'gone' });
    if (status !== null) {
      const status_class = `${Math.floor(status / 100)}xx`;
      this.#durations.observe({ route, status_class }, request.durationMs / 1_000);
    }
    if (bytes > 0) this.#bytes.add({ route }, bytes);
    if (word !== null) this.#errors.add({ error: word });
    if (request.keyId !== null) this.#keys.add({ outcome: 'valid' });
    else if (word === 'invalid_key') this.#keys.add({ outcome: 'invalid' });
    else if (word === 'missing_key') this.#keys.add({ outcome: 'missing' });
  }

  /** All metrics up to now. */
  report(): Promise<Report> {
    return Promise.all(this.#metrics.map((metric) => metric.read()));
  }
}

const gauge = (name: string, help: string, read: () => number, over: 'sum' | 'max' = 'sum'): Metric =>
  measured('gauge', name, help, read, over);

/** Memory by thread and kind. Where a thread does not tell, its last value stays. */
function memoryOf(queue: Measurable['queue']): Metric {
  const last = new Map<string, [labels: { thread: string; kind: string }, bytes: number]>();
  return measured(
    'gauge',
    'bourse_thread_memory_bytes',
    'Memory of the threads that answer, by kind: the heap, what of it is in use, what its objects hold outside.',
    async () => {
      const { heapTotal, heapUsed, external } = process.memoryUsage();
      const own = { heap: heapTotal, heap_used: heapUsed, external };
      for (const [thread, memory] of [['http', own] as const, ...(await queue.memory())])
        for (const [kind, bytes] of Object.entries(memory))
          last.set(`${thread} ${kind}`, [{ thread, kind }, bytes]);
      return [...last.values()];
    },
  );
}

type State = {
  readonly dataVersion: number;
  readonly importedMs: number | null;
  readonly failedCount: number;
};

async function stateOf(reader: Reader): Promise<State> {
  const version = await rowWith(reader, counters, { name: 'data_version' });
  const newest = { where: { kind: 'import' }, order: [['run_id', 'desc']], limit: 1 } as const;
  const [run] = await reader.rows(importRuns, newest);
  const failedCount = await reader.count(failedFiles);
  return { dataVersion: version?.value ?? 0, importedMs: run?.finished_ms ?? null, failedCount };
}

/**
 * The data version, the end of the newest import and the failed files of watched folders; empty while the
 * store cannot be read.
 */
export async function storeReport(storeUrl: string): Promise<Report> {
  const found: Metric[] = [];
  const tell = (name: string, help: string, value: number): void => {
    found.push(gauge(name, help, () => value));
  };
  try {
    const store = await openStore(storeUrl, 'serve');
    try {
      const { dataVersion, importedMs, failedCount } = await store.snapshot(stateOf);
      tell('bourse_data_version', 'The version of the store: every write raises it.', dataVersion);
      tell(
        'bourse_watch_failed_files',
        'Files in watched folders that could not be imported, or not wholly.',
        failedCount,
      );
      if (importedMs !== null)
        tell('bourse_newest_import_timestamp_seconds', 'When the newest import ended.', importedMs / 1_000);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreUnusable)) throw error;
  }
  return Promise.all(found.map((metric) => metric.read()));
}
