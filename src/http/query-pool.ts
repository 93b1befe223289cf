// The bounded queue in front of the query thread: a full queue refuses before any work, a caller that has gone is dropped.
import { Worker } from 'node:worker_threads';
import { limits } from '../contract/limits.ts';
import type { Answer, QueryRequest } from '../queries/query.ts';
import type { ThreadReply, ThreadSetup } from './query-thread.ts';

/** Why a request got no answer: the queue is full or closing, its caller has gone, or the thread failed. */
export type QueueProblem = 'full' | 'gone' | 'fault';

export class QueueError extends Error {
  readonly problem: QueueProblem;
  constructor(problem: QueueProblem, message: string) {
    super(message);
    this.name = 'QueueError';
    this.problem = problem;
  }
}

type Waiting = {
  readonly request: QueryRequest;
  readonly isGone: () => boolean;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
};

export type PoolSettings = { readonly queueLengthMax?: number; readonly inFlightMax?: number };

/** One query thread and the requests that wait for it, first come first served. */
export class QueryPool {
  readonly #setup: ThreadSetup;
  readonly #queueLengthMax: number;
  readonly #inFlightMax: number;
  #worker: Worker;
  #ready: Promise<void>;
  #queue: Waiting[] = [];
  #head = 0;
  readonly #inFlight = new Map<number, Waiting>();
  #nextId = 0;
  #closing = false;

  constructor(setup: ThreadSetup, settings: PoolSettings = {}) {
    this.#setup = setup;
    this.#queueLengthMax = settings.queueLengthMax ?? limits.queueLengthMax;
    this.#inFlightMax = settings.inFlightMax ?? limits.queueInFlightMax;
    [this.#worker, this.#ready] = this.#start();
  }

  /** Resolves once the thread has opened the store. @throws what kept it from it. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /** Requests that wait, those in the thread not counted. */
  get waiting(): number {
    return this.#queue.length - this.#head;
  }

  /** Answers a request in its turn. @throws QueueError */
  submit(request: QueryRequest, isGone: () => boolean): Promise<Answer> {
    if (this.#closing || this.waiting >= this.#queueLengthMax) {
      return Promise.reject(new QueueError('full', 'the query queue is full'));
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, isGone, resolve, reject });
      this.#feed();
    });
  }

  /** Lets what was accepted finish, then ends the thread. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#ready.catch(() => undefined);
    await this.#worker.terminate();
  }

  #feed(): void {
    while (this.#inFlight.size < this.#inFlightMax && this.#head < this.#queue.length) {
      const next = this.#queue[this.#head++]!;
      if (next.isGone()) {
        next.reject(new QueueError('gone', 'the caller has gone'));
        continue;
      }
      const id = this.#nextId++;
      this.#inFlight.set(id, next);
      this.#worker.postMessage([id, next.request]);
    }
    // The served part is dropped in large pieces, so that a long queue is not copied for every request.
    if (this.#head > 256 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
  }

  #start(): [Worker, Promise<void>] {
    const worker = new Worker(new URL(import.meta.resolve('./query-thread.ts')), { workerData: this.#setup });
    const ready = new Promise<void>((resolve, reject) => {
      worker.once('message', (message: ThreadReply) => {
        if (message.kind === 'ready') resolve();
        else reject(new Error(message.kind === 'fault' ? message.cause : 'the query thread did not start'));
      });
      worker.once('error', reject);
    });
    ready.catch(() => undefined);
    worker.on('message', (message: ThreadReply) => this.#receive(message));
    worker.on('error', (error) => this.#lost(worker, error));
    return [worker, ready];
  }

  #receive(message: ThreadReply): void {
    if (message.kind === 'ready' || message.id === null) return;
    const waiting = this.#inFlight.get(message.id);
    this.#inFlight.delete(message.id);
    if (message.kind === 'fault') waiting?.reject(new QueueError('fault', message.cause));
    else waiting?.resolve(message.answer);
    this.#feed();
  }

  /** The thread died: what it held fails, the rest goes to a new one. */
  #lost(worker: Worker, error: unknown): void {
    if (worker !== this.#worker || this.#closing) return;
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    for (const waiting of this.#inFlight.values()) waiting.reject(new QueueError('fault', cause));
    this.#inFlight.clear();
    [this.#worker, this.#ready] = this.#start();
    this.#ready.then(
      () => this.#feed(),
      () => undefined,
    );
  }
}
