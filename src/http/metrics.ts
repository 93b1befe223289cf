// Observations -> Prometheus metrics, by route pattern and never by address (contract 7.4, 9.3); reports of processes -> text.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { Observation } from '../base/observe.ts';
import { type ErrorWord, errors } from '../contract/errors.ts';

/** The metrics of one process at one moment: plain data, which can be sent to another process. */
export type Report = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Facts that are measured when metrics are requested. */
export type Measurable = {
  readonly version: string;
  /** Requests that wait for the query thread, and those in it. */
  readonly queue: { readonly waiting: number; readonly inFlight: number };
};

type RequestObservation = Observation & { readonly kind: 'request' };

/** In seconds: from a request that needs no work to one that its caller gives up. */
const DURATION_BUCKETS = [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The library's sum of it over processes would mean nothing. */
const SUMMARY = 'nodejs_eventloop_utilization_summary';

/** The library leaves it out of sums. The start of the service is the start of its oldest process. */
const START_TIME = 'process_start_time_seconds';

/** The outcome for a request's key; null where it was not looked at. */
function keyOutcomeOf({ keyId, word }: RequestObservation): string | null {
  if (keyId !== null) return 'valid';
  if (word === 'invalid_key') return 'invalid';
  return word === 'missing_key' ? 'missing' : null;
}

/** The metrics of one serving process. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #registers = [this.#registry];
  readonly #requests = new Counter({
    name: 'bourse_requests_total',
    help: 'Requests, by route, method and status of the answer; "gone" where the caller had gone before it.',
    labelNames: ['route', 'method', 'status'],
    registers: this.#registers,
  });
  readonly #durations = new Histogram({
    name: 'bourse_request_duration_seconds',
    help: 'Time from the head of a request to its answer, ready to be sent.',
    labelNames: ['route', 'status_class'],
    buckets: DURATION_BUCKETS,
    registers: this.#registers,
  });
  readonly #bytes = new Counter({
    name: 'bourse_response_bytes_total',
    help: 'Bytes of the bodies of answers.',
    labelNames: ['route'],
    registers: this.#registers,
  });
  readonly #errors = new Counter({
    name: 'bourse_errors_total',
    help: 'Answers with an error, by its word; "unavailable" was refused because of overload.',
    labelNames: ['error'],
    registers: this.#registers,
  });
  readonly #keys = new Counter({
    name: 'bourse_key_checks_total',
    help: 'Requests by what became of their key: valid, invalid or missing.',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #faults = new Counter({
    name: 'bourse_faults_total',
    help: 'Failures of the service itself; the log has their causes.',
    labelNames: ['where'],
    registers: this.#registers,
  });

  constructor({ version, queue }: Measurable) {
    this.#gauge(
      'bourse_queue_waiting_requests',
      'Requests that wait for a query thread.',
      () => queue.waiting,
    );
    this.#gauge('bourse_queue_in_flight_requests', 'Requests in a query thread.', () => queue.inFlight);
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
    for (const outcome of ['valid', 'invalid', 'missing']) this.#keys.inc({ outcome }, 0);
    this.#faults.inc({ where: 'request' }, 0);
    collectDefaultMetrics({ register: this.#registry });
    this.#registry.removeSingleMetric(SUMMARY);
  }

  #gauge(name: string, help: string, read: () => number): void {
    const collect = function (this: Gauge): void {
      this.set(read());
    };
    new Gauge({ name, help, collect, registers: this.#registers });
  }

  /** Counts an observation. */
  observe(observation: Observation): void {
    if (observation.kind === 'request') this.#count(observation);
    else if (observation.kind === 'fault') this.#faults.inc({ where: observation.where });
  }

  #count(request: RequestObservation): void {
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
    const outcome = keyOutcomeOf(request);
    if (outcome !== null) this.#keys.inc({ outcome });
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
  const sum = await Registry.aggregate([...reports]).getMetricsAsJSON();
  return sum.filter(({ type }) => type !== 'gauge');
}

/** The sum of reports, in the text format of Prometheus. */
export function exposition(reports: readonly Report[]): Promise<string> {
  return Registry.aggregate([...reports]).metrics();
}
