// Load shedding: when the HTTP thread itself cannot keep up, fewer requests are admitted, so that it has time to refuse the rest soon.
import { limits } from '../../contract/limits.ts';

/** Watches the ticks of this thread's event loop. While they are long, it admits a share of the query thread's time. */
export class LoadShedding {
  #tickBeganMs: number | null = null;
  /** Requests of this tick. */
  #requests = 0;
  /** When the last long tick ended. */
  #longEndedMs = Number.NEGATIVE_INFINITY;
  /** Work that may be admitted, in milliseconds of the query thread; negative after more was admitted. */
  #creditMs = 0;
  #creditedMs = Number.NEGATIVE_INFINITY;

  /** Whether to admit one more request, which takes the query thread about `workMs`. */
  admits(nowMs: number, workMs: number): boolean {
    this.#tickBeganMs ??= this.#beginTick(nowMs);
    this.#requests++;
    const earnedMs = limits.sheddingShare * (nowMs - this.#creditedMs);
    this.#creditMs = Math.min(this.#creditMs + earnedMs, limits.sheddingBurstMs);
    this.#creditedMs = nowMs;
    if (!this.#isBehind(nowMs)) return true;
    if (this.#creditMs < 0) return false;
    this.#creditMs -= workMs;
    return true;
  }

  #beginTick(nowMs: number): number {
    setImmediate(() => {
      const endedMs = performance.now();
      if (this.#isLong(endedMs)) this.#longEndedMs = endedMs;
      this.#tickBeganMs = null;
      this.#requests = 0;
    });
    return nowMs;
  }

  /** A tick with few requests is long because the processor did other work: that does not count. */
  #isLong(nowMs: number): boolean {
    return this.#requests >= limits.sheddingRequestsMin && nowMs - this.#tickBeganMs! > limits.sheddingTickMs;
  }

  #isBehind(nowMs: number): boolean {
    return this.#isLong(nowMs) || nowMs - this.#longEndedMs < limits.sheddingTickMs;
  }
}
