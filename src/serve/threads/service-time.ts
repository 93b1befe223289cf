// An estimate of the time between two answers of a busy query thread. Admission control computes the wait in
// the queue with it.

/**
 * After this much work an older measurement counts half: a few slow requests must not look like a slow
 * service.
 */
const HALF_LIFE_MS = 500;

/**
 * On a machine that does other work, a thread gets its processor time later; but a slow store must not look
 * like a new thread.
 */
const WARM_UP_STRETCH = 4;

/**
 * The mean time of the latest requests of one thread. Where the thread runs several at the same time, each
 * counts with its part of the time, but never with less than its processor time, in which nothing else runs.
 */
export class ServiceTime {
  /**
   * Processor time that a thread needs before it is as fast as it will be, and the time after which it is
   * called so anyway.
   */
  #coldProcessorMs: number;
  #coldMs: number;
  #workedMs = 0;
  #processorMs = 0;
  #answered = 0;

  /** In its first `warmUpMs` of processor time a thread is slow. */
  constructor(warmUpMs: number) {
    this.#coldProcessorMs = warmUpMs;
    this.#coldMs = WARM_UP_STRETCH * warmUpMs;
  }

  /** Whether enough was measured to tell what later requests take. */
  get isWarm(): boolean {
    return this.#answered > 0 && (this.#coldProcessorMs <= 0 || this.#coldMs <= 0);
  }

  /** Milliseconds a request; 0 before the first measurement. */
  get meanMs(): number {
    return this.#answered === 0 ? 0 : Math.max(this.#workedMs, this.#processorMs) / this.#answered;
  }

  /**
   * Adds a measurement: the part of the time that a request took, and the processor time since the one
   * before.
   */
  add(tookMs: number, processorMs: number): void {
    const workMs = Math.max(tookMs, processorMs);
    this.#coldProcessorMs -= processorMs;
    this.#coldMs -= workMs;
    const kept = 0.5 ** (workMs / HALF_LIFE_MS);
    this.#workedMs = this.#workedMs * kept + tookMs;
    this.#processorMs = this.#processorMs * kept + processorMs;
    this.#answered = this.#answered * kept + 1;
  }
}
