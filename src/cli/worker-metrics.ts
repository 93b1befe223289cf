// Metrics of several serving processes: the primary asks each for its report, and keeps the last one of those that have ended.
import cluster, { type Worker } from 'node:cluster';
import { type Metrics, type Report, totalsOf } from '../http/metrics.ts';

/** Time that workers have to report; of one that is busier its last report counts. */
const REPORT_WAIT_MS = 1_000;

type FromPrimary =
  | { readonly kind: 'report' }
  | { readonly kind: 'text'; readonly id: number; readonly text: string }
  | { readonly kind: 'fault'; readonly id: number; readonly cause: string };
type FromWorker =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'text'; readonly id: number };

/** A worker's side: reports when it is asked to, and asks for the metrics of all. */
export class PrimaryLink {
  readonly #metrics: Metrics;
  readonly #asked = new Map<number, PromiseWithResolvers<string>>();
  #nextId = 0;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    process.on('message', (message: FromPrimary) => {
      if (message.kind === 'report') void this.report();
      else this.#settle(message);
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

  #settle(message: Exclude<FromPrimary, { kind: 'report' }>): void {
    const asked = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    if (message.kind === 'text') asked?.resolve(message.text);
    else asked?.reject(new Error(`the primary could not gather the metrics: ${message.cause}`));
  }

  #send(message: FromWorker): Promise<void> {
    return new Promise((resolve) => {
      if (process.connected) process.send!(message, undefined, undefined, () => resolve());
      else resolve();
    });
  }
}

/** The primary's side: the reports of all workers, of those that have ended too, so that nothing that was counted is lost. */
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
      else if (message.kind === 'report') this.#take(worker, message.report);
      else void this.#answer(worker, message.id);
    });
    cluster.on('exit', (worker) => this.#leave(worker));
  }

  #take(worker: Worker, report: Report): void {
    if (this.#latest.has(worker)) this.#latest.set(worker, report);
    this.#awaited.get(worker)?.();
  }

  #leave(worker: Worker): void {
    const last = this.#latest.get(worker);
    if (last !== undefined) this.#ended = [...this.#ended, last];
    this.#latest.delete(worker);
    this.#awaited.get(worker)?.();
  }

  async #answer(worker: Worker, id: number): Promise<void> {
    const answer: FromPrimary = await this.text().then(
      (text) => ({ kind: 'text', id, text }),
      (error: unknown) => ({ kind: 'fault', id, cause: String(error) }),
    );
    if (worker.isConnected()) tell(worker, answer);
  }

  /** The metrics of all workers as text. Who asks while they are gathered waits for the same. */
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
      tell(worker, { kind: 'report' });
    });
  }
}

/** Tells a worker; one that ends meanwhile has nothing to hear. */
function tell(worker: Worker, message: FromPrimary): void {
  worker.send(message, undefined, undefined, () => undefined);
}
