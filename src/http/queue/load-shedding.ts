// Load shedding: when the HTTP thread itself cannot keep up, it answers a share of the requests only, so that it has time to refuse the rest
// soon.
import { limits } from '../../contract/limits.ts';

/** Watches the ticks of this thread's event loop. Under overload each long one lowers the share of requests that are answered. */
export class LoadShedding {
  /** The part of the requests that is answered, as of `#sinceMs`; between long ticks it rises from there. */
  #share = 1;
  #sinceMs = Number.NEGATIVE_INFINITY;
  /** What is due of the next answer: each request adds its part. */
  #credit = 0;
  /** The requests of each key that were answered while others were refused, of all keys, and since when they are counted. */
  readonly #answered = new Map<string | null, number>();
  #answeredOfAll = 0;
  #countedMs = Number.NEGATIVE_INFINITY;
  #tickBeganMs: number | null = null;
  /** Requests of this tick, and of all. */
  #requests = 0;
  #seen = 0;
  /** Steps by which this tick has lowered the share. */
  #steps = 0;
  /** When there was last a sign of overload: until then ticks are long because the machine does other work. */
  #overloadMs = Number.NEGATIVE_INFINITY;

  /** Whether to answer one more request of a key, by its id. */
  admits(nowMs: number, keyId: string | null): boolean {
    this.#tickBeganMs ??= this.#beginTick(nowMs);
    this.#requests++;
    this.#seen++;
    if (this.#countsAsLong(nowMs)) this.#lower(nowMs);
    if (this.#share === 1) return true;
    return this.#takesTurn(nowMs, keyId);
  }

  /** Whether the next answer is for this key: one that was answered less than the mean goes before what is due. */
  #takesTurn(nowMs: number, keyId: string | null): boolean {
    if (nowMs - this.#countedMs > limits.sheddingTurnsMs) {
      this.#answered.clear();
      this.#answeredOfAll = 0;
      this.#countedMs = nowMs;
    }
    const own = this.#answered.get(keyId) ?? 0;
    const isBehind = own * this.#answered.size < this.#answeredOfAll;
    this.#credit += this.#share;
    if (this.#credit < (isBehind ? 1 - limits.sheddingAhead : 1)) return false;
    this.#credit -= 1;
    this.#answered.set(keyId, own + 1);
    this.#answeredOfAll++;
    return true;
  }

  /** A request was refused because too many wait for the query thread. */
  onFullQueue(nowMs: number): void {
    this.#overloadMs = nowMs;
  }

  /** The part of the requests that is refused at a moment: 0 without overload. */
  refusedShare(nowMs: number): number {
    return 1 - (this.#tickBeganMs === null ? this.#shareAt(nowMs) : this.#share);
  }

  #shareAt(nowMs: number): number {
    return Math.min(1, this.#share + Math.max(0, nowMs - this.#sinceMs) / limits.sheddingRecoveryMs);
  }

  #beginTick(nowMs: number): number {
    this.#share = this.#shareAt(nowMs);
    this.#sinceMs = nowMs;
    setImmediate(() => {
      const endedMs = performance.now();
      if (this.#countsAsLong(endedMs)) {
        this.#lower(endedMs);
        this.#sinceMs = endedMs;
      }
      this.#tickBeganMs = null;
      this.#requests = 0;
      this.#steps = 0;
    });
    return nowMs;
  }

  /** A tick with few requests is long because of other work of the machine, one of the first because its code is being compiled. */
  #countsAsLong(nowMs: number): boolean {
    const tookMs = nowMs - this.#tickBeganMs!;
    if (tookMs < limits.sheddingTickMs) return false;
    return this.#requests >= limits.sheddingRequestsMin && this.#seen > limits.sheddingColdRequests;
  }

  #lower(nowMs: number): void {
    const tookMs = nowMs - this.#tickBeganMs!;
    if (tookMs > limits.sheddingOverloadTickMs) this.#overloadMs = nowMs;
    if (this.#share === 1 && nowMs - this.#overloadMs > limits.sheddingOverloadMs) return;
    const steps = Math.floor(tookMs / limits.sheddingTickMs);
    const lowered = this.#share * (1 - limits.sheddingStep) ** (steps - this.#steps);
    this.#share = Math.max(limits.sheddingShareMin, lowered);
    this.#steps = steps;
  }
}
