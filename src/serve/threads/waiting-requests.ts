// The requests that wait in a queue. Keys take turns, so that a key with many waits for its own requests, and
// no other key for these.

/** Requests by key, each key's in the order in which they came. */
export class WaitingRequests<T> {
  /** The key whose turn it is comes first. */
  readonly #byKey = new Map<string | null, T[]>();
  #length = 0;

  /** How many wait. */
  get length(): number {
    return this.#length;
  }

  /** The one whose turn it is; undefined without any. */
  get first(): T | undefined {
    const [requests] = this.#byKey.values();
    return requests?.[0];
  }

  /** Adds a request of a key, by its id; null for the service itself. */
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

  /** How many at the most have their turn before one more of a key. */
  before(keyId: string | null): number {
    const turns = this.#ownOf(keyId) + 1;
    let before = turns - 1;
    for (const [key, { length }] of this.#byKey) if (key !== keyId) before += Math.min(length, turns);
    return before;
  }

  /**
   * Makes room for one more of a key: removes the newest of the key that has the most. Undefined where no key
   * has more than this one would.
   */
  removeForOther(keyId: string | null): T | undefined {
    let most: T[] = [];
    for (const requests of this.#byKey.values()) if (requests.length > most.length) most = requests;
    if (most.length <= this.#ownOf(keyId) + 1) return undefined;
    this.#length--;
    return most.pop();
  }

  /** Removes all. */
  removeAll(): T[] {
    const all = [...this.#byKey.values()].flat();
    this.#byKey.clear();
    this.#length = 0;
    return all;
  }

  #ownOf(keyId: string | null): number {
    return this.#byKey.get(keyId)?.length ?? 0;
  }
}
