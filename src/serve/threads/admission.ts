// Admission control: decides which requests join the queue, and how much the query thread gets at once.
// README.md has the rules.
import { limits } from '../../contract/limits.ts';
import { ServiceTime } from './service-time.ts';

const defaultBounds = {
  queueLengthMax: limits.queueLengthMax,
  inFlightMax: limits.queueInFlightMax,
  waitMaxMs: limits.queueWaitMaxMs,
  expectedWaitMs: limits.queueExpectedWaitMs,
  warmUpMs: limits.queueWarmUpMs,
  coldWaitMaxMs: limits.queueColdWaitMaxMs,
};

/** Bounds in place of those in `limits`. */
export type QueueBounds = { readonly [name in keyof typeof defaultBounds]?: number };

/** The numbers of requests that wait and that the thread holds. */
export type QueueLength = { readonly waiting: number; readonly inFlight: number };

/** The state of admission control in front of one query thread. */
export class AdmissionControl {
  readonly #bounds: Required<QueueBounds>;
  readonly #serviceTime: ServiceTime;
  /** Requests that the thread runs at the same time. */
  #concurrency = 1;
  /** When the thread was no longer slow. */
  #warmMs = Number.POSITIVE_INFINITY;

  constructor(bounds: QueueBounds) {
    this.#bounds = { ...defaultBounds, ...bounds };
    this.#serviceTime = new ServiceTime(this.#bounds.warmUpMs);
  }

  /** The thread runs so many requests at the same time. */
  set concurrency(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** Whether as many requests wait as may. */
  isFull(waiting: number): boolean {
    return waiting >= this.#bounds.queueLengthMax;
  }

  /** Whether one more request, which has waited before and is behind so many now, is answered soon enough. */
  admits({ waiting, inFlight }: QueueLength, waitedMs = 0): boolean {
    // What a thread takes while it is slow says nothing about the wait.
    if (waiting === 0 || !this.#serviceTime.isWarm) return true;
    return waitedMs + (waiting + inFlight) * this.#serviceTime.meanMs <= this.#bounds.expectedWaitMs;
  }

  /** Whether an admitted request has waited so long that it is refused after all. */
  isTooLate(sinceMs: number, nowMs: number): boolean {
    const { waitMaxMs, coldWaitMaxMs } = this.#bounds;
    return nowMs - sinceMs > (sinceMs <= this.#warmMs ? Math.max(waitMaxMs, coldWaitMaxMs) : waitMaxMs);
  }

  /**
   * Whether the thread has enough work to stay busy during a long tick of this thread. While it answers some,
   * the next is always there.
   */
  isBusy(inFlight: number): boolean {
    if (inFlight <= this.#concurrency) return false;
    const { meanMs } = this.#serviceTime;
    // Before the first answer a request may take any time.
    if (meanMs === 0 || inFlight >= this.#bounds.inFlightMax) return true;
    return inFlight * meanMs > limits.queueInFlightMs;
  }

  /**
   * The thread has answered a request, which took it `tookMs`, and since the answer before so much processor
   * time.
   */
  onAnswer(tookMs: number, processorMs: number, nowMs: number): void {
    this.#serviceTime.add(tookMs / this.#concurrency, processorMs);
    if (this.#serviceTime.isWarm) this.#warmMs = Math.min(this.#warmMs, nowMs);
  }
}
