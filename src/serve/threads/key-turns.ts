// Work that takes long, so much of it at a time and at most one piece of each key: a key waits for its own
// work, and else for one piece of every other key.
import { WaitingRequests } from './waiting-requests.ts';

/** The places for such work. */
export class KeyTurns {
  readonly #placesMax: number;
  readonly #waiting = new WaitingRequests<() => void>();
  /** The keys whose work is done now. */
  readonly #atWork = new Set<string>();

  constructor(placesMax: number) {
    this.#placesMax = placesMax;
  }

  /** Does `work` of a key, by its id, when it is its turn. */
  async run<T>(keyId: string, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      this.#waiting.add(keyId, resolve);
      this.#next();
    });
    try {
      return await work();
    } finally {
      this.#atWork.delete(keyId);
      this.#next();
    }
  }

  #next(): void {
    while (this.#atWork.size < this.#placesMax) {
      const next = this.#waiting.takeFirst((keyId) => !this.#atWork.has(keyId!));
      if (next === undefined) return;
      this.#atWork.add(next.keyId!);
      next.request();
    }
  }
}
