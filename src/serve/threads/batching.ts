// Request batching: requests that arrive in one tick of the event loop are handled together at its end. Work
// that is the same for all of them is done once, and their responses are sent one right after the other, so
// that a client is woken once.
import { limits } from '../../contract/limits.ts';

type Work = (batch: number) => void;

/** The requests of the current tick. */
export class RequestBatches {
  /** Counts the batches of the whole process: its servers share what is read once a batch. */
  static #batch = 0;
  #works: Work[] = [];

  /**
   * Does `work` with the number of its batch, at the end of this tick or once the batch is full. Numbers
   * ascend.
   */
  add(work: Work): void {
    const count = this.#works.push(work);
    if (count === 1) setImmediate(() => this.#flush());
    if (count === limits.batchRequestsMax) this.#flush();
  }

  #flush(): void {
    const works = this.#works;
    this.#works = [];
    const batch = ++RequestBatches.#batch;
    for (const work of works) work(batch);
  }
}
