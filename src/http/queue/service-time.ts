// An estimate of the time that the query thread takes for a request. Admission control computes the wait in the queue with it.

/** After this much work an older measurement counts half: a few slow requests must not look like a slow service. */
const HALF_LIFE_MS = 500;

/** The mean time of the latest requests of one thread. */
export class ServiceTime {
  #workedMs = 0;
  #answered = 0;

  /** Milliseconds a request; 0 before the first measurement. */
  get meanMs(): number {
    return this.#answered === 0 ? 0 : this.#workedMs / this.#answered;
  }

  /** Adds a measurement. */
  add(tookMs: number): void {
    const kept = 0.5 ** (tookMs / HALF_LIFE_MS);
    this.#workedMs = this.#workedMs * kept + tookMs;
    this.#answered = this.#answered * kept + 1;
  }
}
