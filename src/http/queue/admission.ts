// Admission control: decides which requests join the queue, and how much the query thread gets at once. README.md has the rules.
import { limits } from '../../contract/limits.ts';
import { LoadShedding } from './load-shedding.ts';
import { ServiceTime } from './service-time.ts';

const defaultBounds = {
  queueLengthMax: limits.queueLengthMax,
  inFlightMax: limits.queueInFlightMax,
  waitMaxMs: limits.queueWaitMaxMs,
  burstWaitMs: limits.queueBurstWaitMs,
  overloadWaitMs: limits.queueOverloadWaitMs,
};

/** Bounds in place of those in `limits`. */
export type QueueBounds = { readonly [name in keyof typeof defaultBounds]?: number };

/** How many requests wait, and how many the thread holds. */
export type QueueLength = { readonly waiting: number; readonly inFlight: number };

/** The thread always holds this many: while it answers one, the next is there. */
const IN_FLIGHT_MIN = 2;

/** The state of admission control in front of one query thread. */
export class AdmissionControl {
  readonly #bounds: Required<QueueBounds>;
  readonly #serviceTime = new ServiceTime();
  readonly #shedding = new LoadShedding();
  /** When the queue was last empty. */
  #emptyMs = performance.now();

  constructor(bounds: QueueBounds) {
    this.#bounds = { ...defaultBounds, ...bounds };
  }

  /** Whether one more request joins the queue. */
  admits(queue: QueueLength, nowMs: number): boolean {
    return !this.#isFull(queue, nowMs) && this.#shedding.admits(nowMs, this.#serviceTime.meanMs);
  }

  /** A queue that was empty a moment ago is a burst, any other is overload, in which less wait is allowed. */
  #isFull({ waiting, inFlight }: QueueLength, nowMs: number): boolean {
    if (waiting >= this.#bounds.queueLengthMax) return true;
    if (waiting === 0) return false;
    const isBurst = nowMs - this.#emptyMs <= limits.queueBurstMs;
    const waitMs = (waiting + inFlight) * this.#serviceTime.meanMs;
    return waitMs > (isBurst ? this.#bounds.burstWaitMs : this.#bounds.overloadWaitMs);
  }

  /** Whether an admitted request has waited so long that it is refused after all. */
  isTooLate(sinceMs: number, nowMs: number): boolean {
    return nowMs - sinceMs > this.#bounds.waitMaxMs;
  }

  /** Whether the thread has enough work to stay busy during a long tick of this thread. */
  isBusy(inFlight: number): boolean {
    if (inFlight < IN_FLIGHT_MIN) return false;
    return (
      inFlight >= this.#bounds.inFlightMax || inFlight * this.#serviceTime.meanMs > limits.queueInFlightMs
    );
  }

  /** The queue is empty. */
  onEmpty(nowMs: number): void {
    this.#emptyMs = nowMs;
  }

  /** The thread has answered a request, which took it `tookMs`. */
  onAnswer(tookMs: number): void {
    this.#serviceTime.add(tookMs);
  }
}
