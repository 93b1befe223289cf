// Whether the HTTP thread keeps up. Where it does not it is what is full, not the query thread: less is let in, so that the rest
// is refused soon.
import { limits } from '../contract/limits.ts';

/** The turns of this thread's event loop, and the work that may be let in while they are long. */
export class Pace {
  #beganMs: number | null = null;
  /** Requests of this turn. */
  #asked = 0;
  /** When a long turn ended last. */
  #longEndedMs = Number.NEGATIVE_INFINITY;
  /** Work that may be let in, in milliseconds of the query thread; what was let in beyond it is negative. */
  #creditMs = 0;
  #creditedMs = Number.NEGATIVE_INFINITY;

  /** Whether one more request, of which the query thread has so many milliseconds of work, may be let in. */
  admits(nowMs: number, workMs: number): boolean {
    this.#beganMs ??= this.#begin(nowMs);
    this.#asked++;
    const earnedMs = limits.paceShare * (nowMs - this.#creditedMs);
    this.#creditMs = Math.min(this.#creditMs + earnedMs, limits.paceBurstMs);
    this.#creditedMs = nowMs;
    if (!this.#isBehind(nowMs)) return true;
    if (this.#creditMs < 0) return false;
    this.#creditMs -= workMs;
    return true;
  }

  #begin(nowMs: number): number {
    setImmediate(() => {
      const endedMs = performance.now();
      if (this.#isLong(endedMs)) this.#longEndedMs = endedMs;
      this.#beganMs = null;
      this.#asked = 0;
    });
    return nowMs;
  }

  /** A turn that is long by its many requests, not because the processor was elsewhere. */
  #isLong(nowMs: number): boolean {
    return this.#asked >= limits.paceRequestsLeast && nowMs - this.#beganMs! > limits.paceTurnMs;
  }

  #isBehind(nowMs: number): boolean {
    return this.#isLong(nowMs) || nowMs - this.#longEndedMs < limits.paceTurnMs;
  }
}
