// Turns: keys take turns wherever work waits, so that a key with much of it waits for its own, and no other
// key for that.

/** Requests that wait, by key: those of one key in the order in which they came. */
export class WaitingRequests<T> {
  /** The key whose turn it is comes first. */
  readonly #byKey = new Map<string | null, T[]>();
  #length = 0;

  /** The number of requests that wait. */
  get length(): number {
    return this.#length;
  }

  /** The one whose turn it is; undefined without any. */
  get first(): T | undefined {
    const [requests] = this.#byKey.values();
    return requests?.[0];
  }

  /** Adds a request of a key, by its id; null for the service itself, and for callers without a key. */
  add(keyId: string | null, request: T): void {
    this.#length++;
    const own = this.#byKey.get(keyId);
    if (own === undefined) this.#byKey.set(keyId, [request]);
    else own.push(request);
  }

  /**
   * Removes and gives the one whose turn it is, of the keys that may have theirs. The next of its key follows
   * after one of every other key.
   */
  takeFirst(mayHave: (keyId: string | null) => boolean = () => true) {
    for (const [keyId, requests] of this.#byKey) {
      if (!mayHave(keyId)) continue;
      this.#length--;
      const request = requests.shift()!;
      this.#byKey.delete(keyId);
      if (requests.length > 0) this.#byKey.set(keyId, requests);
      return { keyId, request };
    }
    return undefined;
  }

  /** The most requests that have their turn before one more of a key. */
  before(keyId: string | null): number {
    const own = this.#byKey.get(keyId)?.length ?? 0;
    let before = own;
    for (const [key, { length }] of this.#byKey) if (key !== keyId) before += Math.min(length, own + 1);
    return before;
  }

  /** Removes all. */
  removeAll(): T[] {
    const all = [...this.#byKey.values()].flat();
    this.#byKey.clear();
    this.#length = 0;
    return all;
  }
}

/**
 * Places for work that takes long, outside the query threads: so much at a time, and at most one piece of
 * each key.
 */
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

/** The requests of one query thread, in their order: so many run at the same time as the store takes. */
export class QueryTurns {
  /** Requests that run at the same time. */
  concurrency = 1;
  readonly #waiting: (() => Promise<void>)[] = [];
  #running = 0;

  /** Runs `work`, which never rejects, when it is its turn. */
  add(work: () => Promise<void>): void {
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
