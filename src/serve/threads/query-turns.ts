// Runs requests in the order in which they came, so many at the same time as the store takes.

type Work = () => Promise<void>;

/** The requests of one query thread: those that run, and those that wait for them. */
export class QueryTurns {
  /** Requests that run at the same time. */
  concurrency = 1;
  readonly #waiting: Work[] = [];
  #running = 0;

  /** Runs `work`, which never rejects, when it is its turn. */
  add(work: Work): void {
    this.#waiting.push(work);
    this.#next();
  }

  #next(): void {
    while (this.#running < this.concurrency) {
      const work = this.#waiting.shift();
      if (work === undefined) return;
      this.#running++;
      void work().then(() => {
        this.#running--;
        this.#next();
      });
    }
  }
}
