// How long the query thread takes for a request at present: it tells how long whoever joins the queue would wait.

/** Time of work after which what was measured before it counts half: a few slow requests must not look like a slow service. */
const HALF_LIFE_MS = 500;

/** The mean time of the latest requests that one thread has answered one after the other. */
export class ServiceTime {
  #workedMs = 0;
  #answered = 0;

  /** Milliseconds a request; 0 as long as nothing is known. */
  get meanMs(): number {
    return this.#answered === 0 ? 0 : this.#workedMs / this.#answered;
  }

  /** A request has taken so long. */
  add(tookMs: number): void {
    const kept = 0.5 ** (tookMs / HALF_LIFE_MS);
    this.#workedMs = this.#workedMs * kept + tookMs;
    this.#answered = this.#answered * kept + 1;
  }
}
