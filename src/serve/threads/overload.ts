// Overload, by one rule: a request that waits longer than its callers should is refused, before it costs
// more. README.md has the rule and its reasons.
import { limits } from '../../contract/limits.ts';

/**
 * An admitted request is refused after all once it has waited this many times the bound: those before it were
 * slower than expected.
 */
const LATE = 4 / 3;

/** Requests may all be late for this part of the bound: a pause of the machine is no overload. */
const PAUSE = 1 / 3;

/** Bounds in place of those in `limits`. */
export type QueueBounds = {
  readonly waitMs?: number;
  readonly inFlightMs?: number;
  readonly warmUpMs?: number;
};

/** The numbers of requests that wait and that the thread holds. */
export type QueueLength = { readonly waiting: number; readonly inFlight: number };

/**
 * Admission control in front of one query thread: decides which requests join its queue, and how much the
 * thread gets at once, by the mean time of its latest requests.
 */
export class AdmissionControl {
  readonly #bounds: Required<QueueBounds>;
  /** Requests that the thread runs at the same time. */
  concurrency = 1;
  /** The latest requests, and their parts of the time and processor time: older ones count less. */
  #answered = 0;
  #tookMs = 0;
  #processorMs = 0;
  /** The work of the thread since it began. */
  #workedMs = 0;

  constructor(bounds: QueueBounds) {
    const { queueWaitMs: waitMs, queueInFlightMs: inFlightMs, queueWarmUpMs: warmUpMs } = limits;
    this.#bounds = { waitMs, inFlightMs, warmUpMs, ...bounds };
  }

  /** True once the thread has compiled its code: times before say nothing about the wait. */
  get #isWarm(): boolean {
    return this.#answered > 0 && this.#workedMs >= this.#bounds.warmUpMs;
  }

  /** The mean time between two answers of the busy thread, in milliseconds; 0 before the first. */
  get meanMs(): number {
    return this.#answered === 0 ? 0 : Math.max(this.#tookMs, this.#processorMs) / this.#answered;
  }

  /** True if one more request, which has waited before and is behind so many now, is answered soon enough. */
  admits({ waiting, inFlight }: QueueLength, waitedMs = 0): boolean {
    if (waiting === 0 || !this.#isWarm) return true;
    return waitedMs + (waiting + inFlight) * this.meanMs <= this.#bounds.waitMs;
  }

  /**
   * True if an admitted request has waited so long that it is refused after all: behind a new thread twice as
   * long as that may be slow.
   */
  isTooLate(waitedMs: number): boolean {
    const { waitMs, warmUpMs } = this.#bounds;
    return waitedMs > Math.max(LATE * waitMs, this.#isWarm ? 0 : 2 * warmUpMs);
  }

  /**
   * True if the thread has enough work to stay busy during a long tick of this thread. While it answers some,
   * the next is always there.
   */
  isBusy(inFlight: number): boolean {
    if (inFlight <= this.concurrency) return false;
    // Before the first answer a request may take any time.
    return this.meanMs === 0 || inFlight * this.meanMs > this.#bounds.inFlightMs;
  }

  /**
   * The thread has answered a request, which took it `tookMs`, and since the answer before so much processor
   * time. Of requests that run at the same time each counts with its part of the time, and with its processor
   * time where that is more: in that nothing else runs.
   */
  onAnswer(tookMs: number, processorMs: number): void {
    const partMs = tookMs / this.concurrency;
    const workMs = Math.max(partMs, processorMs);
    // A few slow requests must not look like a slow thread.
    const kept = 0.5 ** (workMs / (limits.queueWarmUpMs / 2));
    this.#answered = this.#answered * kept + 1;
    this.#tookMs = this.#tookMs * kept + partMs;
    this.#processorMs = this.#processorMs * kept + processorMs;
    this.#workedMs += workMs;
  }
}

/**
 * Load shedding: where requests wait too long to be read, the HTTP thread does not keep up. Those that did
 * are refused, so that it has time for the others; one in ten is answered, first those of keys that had fewer
 * answers than the mean.
 */
export class LoadShedding {
  readonly #isNew: () => boolean;
  /** When requests began to be late one after the other, and when the last was. */
  #sinceMs = 0;
  #lateMs = Number.NEGATIVE_INFINITY;
  /** Each late request adds one; one that is answered takes as many as are refused beside it. */
  #credit = 0;
  /** The answers of this second by key, those of all keys, and the refusals. */
  #secondMs = 0;
  readonly #answered = new Map<string | null, number>();
  #answeredOfAll = 0;
  #refused = 0;

  /** @param isNew whether the thread still compiles its code, so that waits say nothing */
  constructor(isNew: () => boolean) {
    this.#isNew = isNew;
  }

  /** True if one more request of a key, by its id, that has waited so long to be read is answered. */
  admits(keyId: string | null, waitedMs: number, nowMs: number): boolean {
    if (nowMs - this.#secondMs > 1_000) {
      this.#secondMs = nowMs;
      this.#answered.clear();
      this.#answeredOfAll = 0;
      this.#refused = 0;
    }
    const own = this.#answered.get(keyId) ?? 0;
    const isBehind = own * this.#answered.size < this.#answeredOfAll;
    if (this.#isLate(waitedMs, nowMs) && !this.#hasCredit(isBehind)) {
      this.#refused++;
      return false;
    }
    this.#answered.set(keyId, own + 1);
    this.#answeredOfAll++;
    return true;
  }

  /** True if a request has waited too long, and others have for a while. */
  #isLate(waitedMs: number, nowMs: number): boolean {
    if (waitedMs <= limits.queueWaitMs || this.#isNew()) return false;
    const pauseMs = PAUSE * limits.queueWaitMs;
    if (nowMs - this.#lateMs > pauseMs) this.#sinceMs = nowMs;
    this.#lateMs = nowMs;
    return nowMs - this.#sinceMs >= pauseMs;
  }

  /** True if a late request is answered all the same: a key with many leaves some for the others. */
  #hasCredit(isBehind: boolean): boolean {
    const { lateAnsweredEvery: each } = limits;
    this.#credit = Math.min(this.#credit + 1, each * each);
    if (this.#credit < (isBehind ? each : each * each)) return false;
    this.#credit -= each;
    return true;
  }

  /** The part of the requests that is refused at a moment: 0 without overload. */
  refusedShare(nowMs: number): number {
    if (nowMs - this.#lateMs > 1_000) return 0;
    return this.#refused / (this.#refused + this.#answeredOfAll || 1);
  }
}
