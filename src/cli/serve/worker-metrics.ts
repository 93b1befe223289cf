// Metrics of several serving processes: the primary asks each worker for its report, and keeps the last
// report of ended ones.
import cluster, { type Worker } from 'node:cluster';
import { type Metrics, type Report, totalsOf } from '../../serve/metrics.ts';

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
export class PrimaryLink {
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
export class WorkerReports {
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
