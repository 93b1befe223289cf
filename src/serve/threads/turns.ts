// Turns: keys take turns wherever work waits, so that a key with much of it waits for its own, and no other
// key for that.

/** Time after which a key that was heard counts no more. */
const RECENT_MS = 1_000;

/** Requests of a query thread after which its event loop has a turn. */
const REQUESTS_PER_LOOP = 16;

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

/** Tells whether several keys ask: then a key waits for what another has begun, so each begins little. */
export class RecentKeys {
  #last: string | null = null;
  #changedMs = Number.NEGATIVE_INFINITY;

  /** A request of a key was heard, by its id; null, of a caller without a key, says nothing. */
  heard(keyId: string | null): void {
    if (keyId === null || keyId === this.#last) return;
    if (this.#last !== null) this.#changedMs = performance.now();
    this.#last = keyId;
  }

  /** Whether more than one key was heard within the last second. */
  get areSeveral(): boolean {
    return performance.now() - this.#changedMs < RECENT_MS;
  }
}

/** Work of a key, by its id, that never rejects; null for work of the service itself. */
type Turn = { readonly keyId: string | null; readonly work: () => Promise<void> };

/** The requests of one query thread: keys take turns, and so many run at the same time as the store takes. */
export class QueryTurns {
  /** Requests that run at the same time. */
  concurrency = 1;
  readonly #waiting = new WaitingRequests<Turn>();
  readonly #arrived: () => Turn | undefined;
  #running = 0;
  #ended = 0;

  /** Requests that were answered. */
  get ended(): number {
    return this.#ended;
  }

  /** True if no request runs or waits; one that has arrived begins now. */
  get isIdle(): boolean {
    this.#next();
    return this.#running === 0;
  }

  /** @param arrived the next one that has come since, asked for before each turn */
  constructor(arrived: () => Turn | undefined = () => undefined) {
    this.#arrived = arrived;
  }

  /** Does work when it is its turn. */
  add(turn: Turn): void {
    this.#waiting.add(turn.keyId, turn);
    this.#next();
  }

  #next(): void {
    while (this.#running < this.concurrency) {
      for (let turn = this.#arrived(); turn !== undefined; turn = this.#arrived())
        this.#waiting.add(turn.keyId, turn);
      const next = this.#waiting.takeFirst();
      if (next === undefined) return;
      this.#running++;
      void next.request.work().then(() => {
        this.#running--;
        // Timers of a busy thread have their turn too: one looks for another store file (`Followed`).
        if (++this.#ended % REQUESTS_PER_LOOP === 0) setImmediate(() => this.#next());
        else this.#next();
      });
    }
  }
}
