// Observations -> Prometheus metrics, by route pattern and never by address (contract 7.4, 9.3); reports of
// processes -> text; the metrics page, and the request handler of a port that serves only metrics.
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  prometheusContentType,
  Registry,
} from 'prom-client';
import { causeOf, endReasons, type Observation, type Observe } from '../base/observe.ts';
import { type ErrorWord, errors, Refusal } from '../contract/errors.ts';
import { rowWith } from '../store/all-rows.ts';
import { openStore } from '../store/engines.ts';
import { counters, failedFiles, importRuns } from '../store/schema/internal.ts';
import { type Reader, StoreUnusable } from '../store/store.ts';
import { type AddressSettings, pageRequestOf } from './base-address.ts';
import type { BuiltInPage } from './built-in-pages.ts';
import type { ResponseCache } from './cache/response-cache.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import type { OpenConnections } from './open-connections.ts';
import type { UnsentBytes } from './outgoing/unsent-bytes.ts';
import { checkHead, readTarget, requestIdOf, WHOLE_SERVICE } from './request.ts';
import { errorResponse, methodNotAllowed, pageResponse, preflightResponse } from './response.ts';
import type { QueueLength } from './threads/overload.ts';
import type { QueryLanes } from './threads/query-lanes.ts';

/** The path of the metrics. */
export const METRICS_PATH = '/metrics';

/**
 * Metrics as a page. It needs no key, so web pages of other origins may not read it, nor any page by a name
 * that is not ours.
 */
export function metricsPage(text: () => Promise<string>): BuiltInPage {
  return async ({ checkHost }) => {
    checkHost();
    return {
      headers: { 'Content-Type': prometheusContentType, 'Cache-Control': 'no-store' },
      body: [Buffer.from(await text())],
      isSameOrigin: true,
    };
  };
}

/**
 * Handles the requests of a port that serves only metrics. Only faults are observed: no caller sends these
 * requests.
 */
export class MetricsHandler {
  readonly #page: BuiltInPage;
  readonly #address: AddressSettings;
  readonly #observe: Observe;

  constructor(page: BuiltInPage, address: AddressSettings, observe: Observe) {
    this.#page = page;
    this.#address = address;
    this.#observe = observe;
  }

  /** Handles one request; never throws. */
  async handle(request: HttpRequest): Promise<HttpResponse> {
    const requestId = requestIdOf(request);
    try {
      checkHead(request);
      const { method } = request;
      const { path, headers } = readTarget(request);
      if (method === 'OPTIONS' && path === WHOLE_SERVICE) return preflightResponse(requestId);
      if (path !== METRICS_PATH) {
        const hint = `They are at ${METRICS_PATH}.`;
        throw new Refusal('unknown_path', { message: 'This port serves metrics only.', hint });
      }
      if (method === 'OPTIONS') return preflightResponse(requestId);
      if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(method);
      return pageResponse(await this.#page(pageRequestOf(this.#address, headers)), requestId);
    } catch (error) {
      if (error instanceof Refusal) return errorResponse(error.word, error.facts, requestId);
      this.#observe({ kind: 'fault', requestId, where: 'metrics', cause: causeOf(error) });
      return errorResponse('internal', { message: 'The service failed to give its metrics.' }, requestId);
    }
  }
}

/** The metrics of one process at one moment, as plain data that can be sent to another process. */
export type Report = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

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

/** Is left out: its sum over processes would mean nothing. */
const SUMMARY = 'nodejs_eventloop_utilization_summary';

/** The library does not sum it. The service started with its oldest process. */
const START_TIME = 'process_start_time_seconds';

/** The metrics of one serving process. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #registers = [this.#registry];
  readonly #requests = this.#counter(
    'bourse_requests_total',
    'Requests, by route, method and status of the answer; "gone" if the caller had disconnected.',
    ['route', 'method', 'status'],
  );
  readonly #durations = new Histogram({
    name: 'bourse_request_duration_seconds',
    help: 'Time from the head of a request until its answer is ready to be sent.',
    labelNames: ['route', 'status_class'],
    buckets: DURATION_BUCKETS,
    registers: this.#registers,
  });
  readonly #bytes = this.#counter('bourse_response_bytes_total', 'Bytes of the bodies of answers.', [
    'route',
  ]);
  readonly #errors = this.#counter(
    'bourse_errors_total',
    'Answers with an error, by its word; "unavailable": refused because of overload, or the store could not be reached.',
    ['error'],
  );
  readonly #keys = this.#counter(
    'bourse_key_checks_total',
    'Requests by the result of the key check: valid, forbidden (of another scope), invalid or missing.',
    ['outcome'],
  );
  readonly #faults = this.#counter(
    'bourse_faults_total',
    'Failures of the service itself; the log has their causes.',
    ['where'],
  );

  readonly #unavailable = this.#counter(
    'bourse_store_unavailable_total',
    'Requests that failed because the store could not be reached.',
    [],
  );

  readonly #ended = this.#counter(
    'bourse_connections_ended_total',
    'Connections that the service ended, by the reason.',
    ['reason'],
  );

  constructor({ version, queue, cache, scrubbing, connections, unsent, log }: Measurable) {
    const waiting = (): number => queue.waiting;
    this.#gauge('bourse_queue_waiting_requests', 'Requests that wait for a query thread.', waiting);
    this.#gauge('bourse_queue_in_flight_requests', 'Requests in a query thread.', () => queue.inFlight);
    this.#gauge(
      'bourse_query_threads',
      'Query threads: one at first, one more after a costly request, one more after one for bulk.',
      () => queue.threads,
    );
    this.#gauge(
      'bourse_overload_refused_ratio',
      'Share of requests that are refused because a serving process does not keep up.',
      () => queue.refusedShare,
      'max',
    );
    this.#gauge(
      'bourse_damaged_parts',
      'Damaged parts of the store, found by a scrub or a request.',
      () => scrubbing.damaged.length,
      'max',
    );
    this.#gauge(
      'bourse_newest_scrub_timestamp_seconds',
      'Time of the last complete read of the store; 0 before the first.',
      () => (scrubbing.readMs ?? 0) / 1_000,
      'max',
    );
    this.#gauge('bourse_connections', 'Open connections.', () => connections.count);
    this.#gauge(
      'bourse_unread_requests',
      'Requests that wait on their connections to be read.',
      () => connections.unread,
    );
    this.#gauge('bourse_unsent_bytes', 'Bytes of answers that are not sent yet.', () => unsent.total);
    this.#gauge('bourse_cached_answers_bytes', 'Bytes of cached answers.', () => cache.bytes);
    this.#addMemory(queue);
    new Counter({
      name: 'bourse_log_lines_dropped_total',
      help: 'Log lines that were dropped because the log was not read fast enough.',
      collect() {
        this.reset();
        this.inc(log.dropped);
      },
      registers: this.#registers,
    });
    this.#gauge('bourse_workers', 'Serving processes.', () => 1);
    new Gauge({
      name: 'bourse_build_info',
      help: 'Versions of Bourse and of Node.js; its value is 1.',
      labelNames: ['version', 'node'],
      aggregator: 'first',
      registers: this.#registers,
    }).set({ version, node: process.versions.node }, 1);
    // A counter that appears with its first event would hide that event from rate().
    for (const word of Object.keys(errors) as ErrorWord[]) this.#errors.inc({ error: word }, 0);
    for (const outcome of ['valid', 'forbidden', 'invalid', 'missing']) this.#keys.inc({ outcome }, 0);
    for (const where of ['request', 'data']) this.#faults.inc({ where }, 0);
    for (const reason of endReasons) this.#ended.inc({ reason }, 0);
    collectDefaultMetrics({ register: this.#registry });
    this.#registry.removeSingleMetric(SUMMARY);
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: this.#registers });
  }

  #gauge(name: string, help: string, read: () => number, aggregator: 'sum' | 'max' = 'sum'): void {
    const collect = function (this: Gauge): void {
      this.set(read());
    };
    new Gauge({ name, help, collect, aggregator, registers: this.#registers });
  }

  /** Memory by thread and kind. Where a thread does not tell, its last value stays. */
  #addMemory(queue: Measurable['queue']): void {
    const collect = async function (this: Gauge<'thread' | 'kind'>): Promise<void> {
      const { heapTotal, heapUsed, external } = process.memoryUsage();
      const own = { heap: heapTotal, heap_used: heapUsed, external };
      for (const [thread, memory] of [['http', own] as const, ...(await queue.memory())])
        for (const [kind, bytes] of Object.entries(memory)) this.set({ thread, kind }, bytes);
    };
    new Gauge({
      name: 'bourse_thread_memory_bytes',
      help: 'Memory of the threads that answer, by kind: the heap, its used part, and the memory of its objects outside.',
      labelNames: ['thread', 'kind'] as const,
      collect,
      registers: this.#registers,
    });
  }

  /** Counts an observation. */
  observe(observation: Observation): void {
    if (observation.kind === 'request') this.#count(observation);
    else if (observation.kind === 'fault') this.#faults.inc({ where: observation.where });
    else if (observation.kind === 'unavailable') this.#unavailable.inc();
    else if (observation.kind === 'connection') this.#ended.inc({ reason: observation.reason });
  }

  #count(request: Observation & { kind: 'request' }): void {
    const { status, word, bytes } = request;
    const route = request.route ?? 'none';
    const method = METHODS.has(request.method) ? request.method : 'other';
    this.#requests.inc({ route, method, status: status ?? 'gone' });
    if (status !== null) {
      const status_class = `${Math.floor(status / 100)}xx`;
      this.#durations.observe({ route, status_class }, request.durationMs / 1_000);
    }
    if (bytes > 0) this.#bytes.inc({ route }, bytes);
    if (word !== null) this.#errors.inc({ error: word });
    if (word === 'forbidden') this.#keys.inc({ outcome: 'forbidden' });
    else if (request.keyId !== null) this.#keys.inc({ outcome: 'valid' });
    else if (word === 'invalid_key') this.#keys.inc({ outcome: 'invalid' });
    else if (word === 'missing_key') this.#keys.inc({ outcome: 'missing' });
  }

  /** All metrics up to now. */
  async report(): Promise<Report> {
    const metrics = await this.#registry.getMetricsAsJSON();
    return metrics.map((metric) => ({
      ...metric,
      aggregator: metric.name === START_TIME ? 'min' : metric.aggregator,
      // The lag of the event loop is NaN before its first measurement, and JSON has no NaN.
      values: metric.values.filter(({ value }) => Number.isFinite(value)),
    }));
  }
}

/** One report in place of those of several ended processes: their counters, without gauges. */
export async function totalsOf(reports: readonly Report[]): Promise<Report> {
  const sum = await AggregatorRegistry.aggregate([...reports]).getMetricsAsJSON();
  // The library's declaration has numbers for its words.
  return sum.filter(({ type }) => (type as unknown) !== 'gauge');
}

/** The sum of reports, in the text format of Prometheus. */
export function exposition(reports: readonly Report[]): Promise<string> {
  return AggregatorRegistry.aggregate([...reports]).metrics();
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
  const registry = new Registry();
  const gauge = (name: string, help: string, value: number): void =>
    new Gauge({ name, help, registers: [registry] }).set(value);
  try {
    const store = await openStore(storeUrl, 'serve');
    try {
      const { dataVersion, importedMs, failedCount } = await store.snapshot(stateOf);
      gauge('bourse_data_version', 'The version of the store: every write raises it.', dataVersion);
      gauge(
        'bourse_watch_failed_files',
        'Files in watched folders that could not be imported completely.',
        failedCount,
      );
      if (importedMs !== null)
        gauge('bourse_newest_import_timestamp_seconds', 'When the newest import ended.', importedMs / 1_000);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreUnusable)) throw error;
  }
  return registry.getMetricsAsJSON();
}
