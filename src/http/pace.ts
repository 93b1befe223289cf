// Whether the HTTP thread keeps up. Where it does not it is what is full, not the query thread: less is let in, so that the rest
// is refused soon.
import { limits } from '../contract/limits.ts';

/** The turns of this thread's event loop, and the work that may be let in while they are long. */
export class Pace {
  #beganMs: number | null = null;
  #endedMs = Number.NEGATIVE_INFINITY;
  #lastMs = 0;
  /** Work that may be let in, in milliseconds of the query thread; what was let in beyond it is negative. */
  #creditMs = 0;
  #creditedMs = Number.NEGATIVE_INFINITY;

  /** Whether one more request, of which the query thread has so many milliseconds of work, may be let in. */
  admits(nowMs: number, workMs: number): boolean {
    this.#beganMs ??= this.#begin(nowMs);
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
      this.#endedMs = performance.now();
      this.#lastMs = this.#endedMs - nowMs;
      this.#beganMs = null;
    });
    return nowMs;
  }

  #isBehind(nowMs: number): boolean {
    const isLastLong = this.#lastMs > limits.paceTurnMs && nowMs - this.#endedMs < limits.paceTurnMs;
    return isLastLong || nowMs - this.#beganMs! > limits.paceTurnMs;
  }
}
