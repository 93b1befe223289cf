// Load shedding: while requests wait too long to be read, the HTTP thread cannot keep up. Those that did are
// refused, so that it has time for the others.
import { limits } from '../../contract/limits.ts';

/** Watches how long requests wait to be read (`../request-gate.ts`). */
export class LoadShedding {
  /** Since when every request has waited too long; null where the last one has not. */
  #lateSinceMs: number | null = null;
  /** When a request was last refused. */
  #refusedMs = Number.NEGATIVE_INFINITY;
  #seen = 0;
  /**
   * The requests of each key that were answered, of all keys, and those that were refused, of this time; and
   * since when it goes.
   */
  readonly #answered = new Map<string | null, number>();
  #answeredOfAll = 0;
  #refused = 0;
  #ahead = 0;
  /** Late requests, of all time. */
  #late = 0;
  #countedMs = Number.NEGATIVE_INFINITY;

  /** Whether to answer one more request of a key, by its id, that has waited so long to be read. */
  admits(nowMs: number, waitedMs: number, keyId: string | null): boolean {
    if (nowMs - this.#countedMs > limits.sheddingTurnsMs) this.#countAnew(nowMs);
    const isAnswered =
      !this.#isLate(nowMs, waitedMs) ||
      this.#takesTurn(keyId) ||
      ++this.#late % limits.sheddingLateEvery === 0;
    if (isAnswered) this.#countAnswer(keyId);
    else {
      this.#refused++;
      this.#refusedMs = nowMs;
    }
    return isAnswered;
  }

  /** The part of the requests that is refused at a moment: 0 without overload. */
  refusedShare(nowMs: number): number {
    if (nowMs - this.#refusedMs > limits.sheddingTurnsMs) return 0;
    return this.#refused / (this.#refused + this.#answeredOfAll || 1);
  }

  #countAnew(nowMs: number): void {
    this.#answered.clear();
    this.#answeredOfAll = 0;
    this.#refused = 0;
    this.#ahead = 0;
    this.#lateSinceMs = null;
    this.#countedMs = nowMs;
  }

  #countAnswer(keyId: string | null): void {
    this.#answered.set(keyId, (this.#answered.get(keyId) ?? 0) + 1);
    this.#answeredOfAll++;
  }

  /** Whether a request has waited too long, and those before it too, for a while or as a moment ago. */
  #isLate(nowMs: number, waitedMs: number): boolean {
    if (++this.#seen <= limits.sheddingColdRequests || waitedMs <= limits.queueExpectedWaitMs) {
      this.#lateSinceMs = null;
      return false;
    }
    this.#lateSinceMs ??= nowMs;
    if (nowMs - this.#refusedMs <= limits.sheddingTurnsMs) return true;
    return nowMs - this.#lateSinceMs >= limits.sheddingAfterMs;
  }

  /**
   * Whether a late request is answered all the same: its key has had fewer answers than the mean of all, and
   * few others went ahead.
   */
  #takesTurn(keyId: string | null): boolean {
    const own = this.#answered.get(keyId) ?? 0;
    const isBehind = own * this.#answered.size < this.#answeredOfAll;
    if (!isBehind || this.#ahead >= limits.sheddingAhead + this.#answeredOfAll / 4) return false;
    this.#ahead++;
    return true;
  }
}
