// The bounded queue in front of the query thread: where a request would wait too long it is refused before any work, a caller
// that has gone is dropped.
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { moduleBeside } from '../base/module.ts';
import { limits } from '../contract/limits.ts';
import type { Answer, QueryRequest } from '../queries/query.ts';
import { Pace } from './pace.ts';
import type { ThreadData, ThreadReply, ThreadRequest, ThreadSetup } from './query-thread.ts';
import { ServiceTime } from './service-time.ts';
import { Slots, slotBytes } from './slots.ts';

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

// Under overload there are thousands a second of these, and nobody reads where they come from.
const full = new QueueError('full', 'the query queue is full or closing');

type Waiting = {
  readonly request: QueryRequest;
  readonly sinceMs: number;
  readonly isGone: () => boolean;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
};

type InFlight = Waiting & { readonly slot: number | null };

/** Bounds in place of those in `limits`. */
export type PoolSettings = {
  readonly queueLengthMax?: number;
  readonly inFlightMax?: number;
  readonly waitMaxMs?: number;
  readonly burstWaitMs?: number;
  readonly overloadWaitMs?: number;
};

/** Requests that the thread holds at the least: while it answers one, the next is there. */
const IN_FLIGHT_LEAST = 2;

/** One query thread and the requests that wait for it, first come first served. */
export class QueryPool {
  readonly #setup: ThreadSetup;
  readonly #bounds: Required<PoolSettings>;
  #worker: Worker | null = null;
  #ready: Promise<void>;
  #queue: Waiting[] = [];
  #head = 0;
  readonly #inFlight = new Map<number, InFlight>();
  readonly #slots = new Slots();
  /** To the thread and back. */
  #port: MessagePort | null = null;
  /** What is known of the thread: whether it has opened the store, and what ended it. */
  #life = { cause: '', isReady: false };
  #onReady: () => void = () => undefined;
  /** When its answers were taken last. */
  #takenMs = performance.now();
  /** When nothing waited last. */
  #emptyMs = performance.now();
  readonly #serviceTime = new ServiceTime();
  readonly #pace = new Pace();
  #nextId = 0;
  #closed: Promise<void> | null = null;
  #onDrained: (() => void) | null = null;

  constructor(setup: ThreadSetup, settings: PoolSettings = {}) {
    this.#setup = setup;
    this.#bounds = {
      queueLengthMax: limits.queueLengthMax,
      inFlightMax: limits.queueInFlightMax,
      waitMaxMs: limits.queueWaitMaxMs,
      burstWaitMs: limits.queueBurstWaitMs,
      overloadWaitMs: limits.queueOverloadWaitMs,
      ...settings,
    };
    this.#ready = this.#start();
  }

  /** Resolves once the thread has opened the store. @throws what kept it from it. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /** Requests that wait, those in the thread not counted. */
  get waiting(): number {
    return this.#queue.length - this.#head;
  }

  /** Requests in the thread. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Answers a request in its turn. @throws QueueError */
  submit(request: QueryRequest, isGone: () => boolean): Promise<Answer> {
    const sinceMs = performance.now();
    if (sinceMs - this.#takenMs > limits.queueTakeMs) this.#takeAnswers(sinceMs);
    if (this.#closed !== null || this.#isFull(sinceMs)) return Promise.reject(full);
    if (!this.#pace.admits(sinceMs, this.#serviceTime.meanMs)) return Promise.reject(full);
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, sinceMs, isGone, resolve, reject });
      this.#feed();
    });
  }

  /**
   * Whether one more has to be refused at once, told from how long the latest requests took. A queue that stands is overload,
   * in which less wait is allowed than in a burst.
   */
  #isFull(nowMs: number): boolean {
    if (this.waiting >= this.#bounds.queueLengthMax) return true;
    if (this.waiting === 0) return false;
    const isBurst = nowMs - this.#emptyMs <= limits.queueBurstMs;
    const waitMs = (this.waiting + this.#inFlight.size) * this.#serviceTime.meanMs;
    return waitMs > (isBurst ? this.#bounds.burstWaitMs : this.#bounds.overloadWaitMs);
  }

  /**
   * Takes what the thread has answered. Under overload a turn of this thread's event loop is thousands of requests long, and the
   * query thread would idle until its end.
   */
  #takeAnswers(nowMs: number): void {
    this.#takenMs = nowMs;
    for (let next = this.#nextReply(); next !== undefined; next = this.#nextReply()) this.#receive(next);
  }

  #nextReply(): ThreadReply | undefined {
    return this.#port === null ? undefined : receiveMessageOnPort(this.#port)?.message;
  }

  /** Whether the thread has work enough not to idle, however long the next turn of this thread takes. */
  #isBusy(): boolean {
    const held = this.#inFlight.size;
    if (held < IN_FLIGHT_LEAST) return false;
    return held >= this.#bounds.inFlightMax || held * this.#serviceTime.meanMs > limits.queueInFlightMs;
  }

  /** Lets what was accepted finish, then ends the thread. */
  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  async #finish(): Promise<void> {
    await this.#ready.catch(() => undefined);
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
      this.#feed();
    });
    await this.#worker?.terminate();
  }

  #feed(): void {
    if (this.#worker === null && this.waiting > 0) this.#ready = this.#start();
    const nowMs = performance.now();
    for (; this.waiting > 0; this.#head++) {
      const next = this.#queue[this.#head]!;
      if (next.isGone()) next.reject(new QueueError('gone', 'the caller has gone'));
      else if (nowMs - next.sinceMs > this.#bounds.waitMaxMs) next.reject(full);
      else if (this.#isBusy()) break;
      else this.#hand(next);
    }
    if (this.waiting === 0) this.#emptyMs = nowMs;
    if (this.#inFlight.size === 0 && this.waiting === 0) this.#onDrained?.();
    // The served part is dropped in large pieces, so that a long queue is not copied for every request.
    if (this.#head > 256 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
  }

  #hand(next: Waiting): void {
    const id = this.#nextId++;
    const slot = this.#slots.take();
    try {
      this.#port?.postMessage([id, next.request, slot] satisfies ThreadRequest);
      this.#inFlight.set(id, { ...next, slot });
    } catch (error) {
      this.#free(slot);
      next.reject(new QueueError('fault', causeOf(error)));
    }
  }

  /** Starts a thread; resolves once it has opened the store. */
  #start(): Promise<void> {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const worker = new Worker(moduleBeside('./query-thread.ts', import.meta.url), {
      workerData: { ...this.#setup, port: port2, memory: this.#slots.memory } satisfies ThreadData,
      transferList: [port2],
    });
    this.#worker = worker;
    port1.on('message', (message: ThreadReply) => this.#receive(message));
    // Node dies of a look into a port that is closed.
    port1.once('close', () => {
      if (this.#port === port1) this.#port = null;
    });
    this.#life = { cause: 'the query thread ended', isReady: false };
    const ready = new Promise<void>((resolve, reject) => {
      this.#onReady = resolve;
      worker.once('error', (error) => {
        this.#life.cause = causeOf(error);
      });
      worker.once('exit', () => {
        this.#takeAnswers(performance.now());
        this.#port = null;
        port1.close();
        reject(new Error(this.#life.cause));
        this.#lost();
      });
    });
    ready.catch(() => undefined);
    return ready;
  }

  #receive(message: ThreadReply): void {
    if (message.kind === 'ready') {
      this.#life.isReady = true;
      this.#onReady();
    } else if (message.kind === 'failed') this.#life.cause = message.cause;
    else this.#settle(message);
  }

  #settle(message: Extract<ThreadReply, { id: number }>): void {
    const waiting = this.#inFlight.get(message.id);
    this.#inFlight.delete(message.id);
    if (waiting === undefined) return;
    if (message.kind === 'answer') {
      this.#serviceTime.add(message.tookMs);
      waiting.resolve(this.#complete(message, waiting.slot));
    } else {
      this.#free(waiting.slot);
      waiting.reject(new QueueError('fault', message.cause));
    }
    this.#feed();
  }

  /** An answer with its body; the slot is free again when that was sent, or at once where it is not used. */
  #complete({ answer, slotLength }: ThreadReply & { kind: 'answer' }, slot: number | null): Answer {
    if (answer.kind === 'refusal' || slot === null || slotLength === null) {
      this.#free(slot);
      return answer;
    }
    let isFree = false;
    const release = (): void => {
      if (!isFree) this.#free(slot);
      isFree = true;
    };
    return { ...answer, body: slotBytes(this.#slots.memory, slot, slotLength), release };
  }

  #free(slot: number | null): void {
    if (slot !== null) this.#slots.give(slot);
  }

  /** The thread ended: what it held fails, the rest goes to a new one, unless this one could not even start. */
  #lost(): void {
    const { cause, isReady } = this.#life;
    this.#worker = null;
    for (const { slot } of this.#inFlight.values()) this.#free(slot);
    const failed: Waiting[] = [...this.#inFlight.values()];
    this.#inFlight.clear();
    if (!isReady) {
      failed.push(...this.#queue.slice(this.#head));
      this.#queue = [];
      this.#head = 0;
    }
    for (const waiting of failed) waiting.reject(new QueueError('fault', cause));
    this.#feed();
  }
}

const causeOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
