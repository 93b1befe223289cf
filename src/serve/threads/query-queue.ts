// The bounded queue in front of the query thread. It asks admission control about each request, and drops
// those whose callers have gone.
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { causeOf } from '../../base/observe.ts';
import { moduleBeside } from '../../base/runtime.ts';
import { limits } from '../../contract/limits.ts';
import type { Answer, QueryRequest } from '../../queries/query.ts';
import { AdmissionControl, type QueueBounds } from './overload.ts';
import type { ThreadData, ThreadRequest, ThreadResult, ThreadSetup } from './query-thread.ts';
import { bufferBytes, SharedBuffers } from './shared-buffers.ts';
import { WaitingRequests } from './turns.ts';

/**
 * Memory of one thread, in bytes: what its heap takes, what of that is in use, and what its objects hold
 * outside.
 */
export type ThreadMemory = { readonly heap: number; readonly heap_used: number; readonly external: number };

/**
 * Why a request got no answer: the queue is full or closing, its caller has gone, it is too dear for the
 * thread, the store cannot be reached now, or the thread failed.
 */
type QueueProblem = 'full' | 'gone' | 'declined' | 'unavailable' | 'fault';

/** A request got no answer from the queue. */
export class QueueError extends Error {
  override readonly name = 'QueueError';
  readonly problem: QueueProblem;
  /** The damaged data that the answer needs, in words; null for any other problem. */
  readonly damage: string | null;

  constructor(problem: QueueProblem, message: string, damage: string | null = null) {
    super(message);
    this.problem = problem;
    this.damage = damage;
  }
}

/** Too many requests wait. Overload makes thousands of these a second, and nobody reads their stack. */
export const full = new QueueError('full', 'the query queue is full or closing');

const declined = new QueueError('declined', 'the request is for the lane of dear requests');

type Waiting = PromiseWithResolvers<Answer> & {
  readonly keyId: string | null;
  readonly request: QueryRequest;
  readonly sinceMs: number;
  readonly isGone: () => boolean;
};

type InFlight = Waiting & { readonly buffer: number | null };

/**
 * One query thread and the requests that wait for it: keys take turns, and those of one key are served as
 * they came.
 */
export class QueryQueue {
  readonly #setup: ThreadSetup;
  readonly #admission: AdmissionControl;
  #worker: Worker | null = null;
  readonly #queue = new WaitingRequests<Waiting>();
  readonly #inFlight = new Map<number, InFlight>();
  readonly #buffers = new SharedBuffers();
  /** To the thread and back. */
  #port: MessagePort | null = null;
  /** Whether a thread has opened the store once. */
  #wasOpened: boolean;
  /** Whether the thread has opened the store, and why it ended. */
  #life = { opened: Promise.withResolvers<void>(), isReady: false, cause: '' };
  #nextId = 0;
  #closed: Promise<void> | null = null;
  #onDrained: (() => void) | null = null;

  constructor(setup: ThreadSetup, bounds: QueueBounds = {}) {
    this.#setup = setup;
    this.#wasOpened = setup.wasOpened ?? false;
    this.#admission = new AdmissionControl(bounds);
    this.#start();
  }

  /** Resolves once the thread has opened the store. @throws where it cannot */
  ready(): Promise<void> {
    return this.#life.opened.promise;
  }

  /** Requests that wait, without those in the thread. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Requests in the thread. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** The memory of the thread; null where there is none, or it does not tell within a moment. */
  async memory(): Promise<ThreadMemory | null> {
    const asked = this.#worker?.getHeapStatistics().catch(() => null);
    const told = await Promise.race([asked, sleep(limits.threadMemoryWaitMs, null, { ref: false })]);
    if (told === null || told === undefined) return null;
    return { heap: told.total_heap_size, heap_used: told.used_heap_size, external: told.external_memory };
  }

  /**
   * Answers a request of a key, by its id, when it is its turn; null for one of the service itself.
   * `waitedMs`: how long it has waited before. @throws QueueError
   */
  submit(
    request: QueryRequest,
    isGone: () => boolean,
    keyId: string | null = null,
    waitedMs = 0,
  ): Promise<Answer> {
    const length = { waiting: this.#queue.before(keyId), inFlight: this.inFlight };
    if (this.#closed !== null || !this.#admission.admits(length, waitedMs)) return Promise.reject(full);
    const sinceMs = performance.now() - waitedMs;
    const waiting = { keyId, request, sinceMs, isGone, ...Promise.withResolvers<Answer>() };
    this.#queue.add(keyId, waiting);
    this.#feed();
    return waiting.promise;
  }

  /** Answers the admitted requests, then ends the thread. */
  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  async #finish(): Promise<void> {
    await this.ready().catch(() => undefined);
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
      this.#feed();
    });
    await this.#worker?.terminate();
  }

  #feed(): void {
    if (this.#worker === null && this.waiting > 0) this.#start();
    const nowMs = performance.now();
    for (let next = this.#queue.first; next !== undefined; next = this.#queue.first) {
      if (next.isGone()) next.reject(new QueueError('gone', 'the caller has gone'));
      else if (this.#admission.isTooLate(nowMs - next.sinceMs)) next.reject(full);
      else if (this.#admission.isBusy(this.inFlight)) break;
      else this.#send(next);
      this.#queue.takeFirst();
    }
    if (this.#inFlight.size === 0 && this.waiting === 0) this.#onDrained?.();
  }

  #send(next: Waiting): void {
    const id = this.#nextId++;
    const buffer = this.#buffers.take();
    try {
      this.#port?.postMessage([id, next.request, buffer, next.keyId] satisfies ThreadRequest);
      this.#inFlight.set(id, { ...next, buffer });
    } catch (error) {
      this.#buffers.release(buffer);
      next.reject(new QueueError('fault', causeOf(error)));
    }
  }

  /** Starts a thread. */
  #start(): void {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const worker = new Worker(moduleBeside('./query-thread.ts', import.meta.url), {
      workerData: {
        ...this.#setup,
        wasOpened: this.#wasOpened,
        port: port2,
        memory: this.#buffers.memory,
      } satisfies ThreadData,
      transferList: [port2],
    });
    this.#worker = worker;
    port1.on('message', (message: ThreadResult) => this.#receive(message));
    let isClosed = false;
    port1.once('close', () => {
      isClosed = true;
    });
    this.#life = { opened: Promise.withResolvers(), isReady: false, cause: 'the query thread ended' };
    this.#life.opened.promise.catch(() => undefined);
    worker.once('error', (error) => {
      this.#life.cause = causeOf(error);
    });
    worker.once('exit', () => {
      this.#port = null;
      // The last messages of the thread. Node.js crashes where a closed port is asked.
      while (!isClosed) {
        const left = receiveMessageOnPort(port1);
        if (left === undefined) break;
        this.#receive(left.message as ThreadResult);
      }
      port1.close();
      this.#life.opened.reject(new Error(this.#life.cause));
      this.#lost();
    });
  }

  #receive(message: ThreadResult): void {
    if (message.kind === 'ready') {
      this.#admission.concurrency = message.concurrency;
      this.#wasOpened = true;
      this.#life.isReady = true;
      this.#life.opened.resolve();
    } else if (message.kind === 'failed') this.#life.cause = message.cause;
    else this.#settle(message);
  }

  #settle(message: Extract<ThreadResult, { id: number }>): void {
    const waiting = this.#inFlight.get(message.id);
    this.#inFlight.delete(message.id);
    if (waiting === undefined) return;
    if (message.kind !== 'fault') this.#admission.onAnswer(message.tookMs, message.processorMs);
    if (message.kind === 'answer') {
      waiting.resolve(this.#complete(message, waiting.buffer));
    } else {
      this.#buffers.release(waiting.buffer);
      if (message.kind === 'declined') waiting.reject(declined);
      else if (message.kind === 'unavailable') waiting.reject(new QueueError('unavailable', message.cause));
      else waiting.reject(new QueueError('fault', message.cause, message.damage));
    }
    this.#feed();
  }

  /**
   * An answer with its body. The buffer is released once the body is sent, or now where it does not hold the
   * body.
   */
  #complete({ answer, bufferLength }: ThreadResult & { kind: 'answer' }, buffer: number | null): Answer {
    if (answer.kind === 'refusal' || buffer === null || bufferLength === null) {
      this.#buffers.release(buffer);
      return answer;
    }
    let isReleased = false;
    const release = (): void => {
      if (!isReleased) this.#buffers.release(buffer);
      isReleased = true;
    };
    return { ...answer, body: bufferBytes(this.#buffers.memory, buffer, bufferLength), release };
  }

  /**
   * The thread ended: its requests fail. Others go to a new thread, or fail too where this one could not open
   * the store.
   */
  #lost(): void {
    const { cause, isReady } = this.#life;
    this.#worker = null;
    for (const { buffer } of this.#inFlight.values()) this.#buffers.release(buffer);
    const failed: Waiting[] = [...this.#inFlight.values()];
    this.#inFlight.clear();
    if (!isReady) failed.push(...this.#queue.removeAll());
    for (const waiting of failed) waiting.reject(new QueueError('fault', cause));
    this.#feed();
  }
}
