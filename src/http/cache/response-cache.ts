// The response cache: answers the same request with the same response until anything is committed, or the response is out of date.
import type { EndpointName } from '../../contract/index.ts';
import { limits } from '../../contract/limits.ts';
import type { Store } from '../../store/store.ts';
import type { HttpResponse } from '../message.ts';

/** A response without a request id, and until when it is right. */
export type CachedResponse = { readonly response: HttpResponse; readonly goodUntilMs: number };

/** The responses of one process by the request as it was sent. Bounded in bytes: the least recently used one goes first. */
export class ResponseCache {
  readonly #store: Pick<Store, 'changeToken'>;
  readonly #bytesMax: number;
  readonly #cached = new Map<string, CachedResponse>();
  /** Endpoints that have given a response that may be cached. Others are not looked up. */
  readonly #cacheable = new Set<EndpointName>();
  #bytes = 0;
  #state = Number.NaN;
  /** The state as it was last read, and in which batch. */
  #read: { readonly batch: number; readonly state: Promise<number> } | null = null;

  constructor(store: Pick<Store, 'changeToken'>, bytesMax: number = limits.cachedBytesMax) {
    this.#store = store;
    this.#bytesMax = bytesMax;
  }

  /** Whether the responses of an endpoint may be in the cache. */
  isCacheable(endpoint: EndpointName): boolean {
    return this.#cacheable.has(endpoint);
  }

  /**
   * The state of the store, read once a batch; without a batch, as it is now. When the state differs from the one before, the cache
   * is cleared. Reading it never waits: a reader in WAL mode waits for no writer.
   */
  state(batch?: number): Promise<number> {
    if (batch !== undefined && this.#read !== null && this.#read.batch >= batch) return this.#read.state;
    const state = this.#store.changeToken().then((read) => {
      if (read !== this.#state) {
        this.#state = read;
        this.#cached.clear();
        this.#bytes = 0;
      }
      return read;
    });
    this.#read = batch === undefined ? null : { batch, state };
    return state;
  }

  /** The cached response to a request, in the state that was last read. */
  find(name: string, nowMs: number): CachedResponse | undefined {
    const cached = this.#cached.get(name);
    if (cached === undefined || nowMs >= cached.goodUntilMs) return undefined;
    this.#cached.delete(name);
    this.#cached.set(name, cached);
    return cached;
  }

  /**
   * Adds a response of an endpoint, with a body that shares no memory. It was queried in `state`; null where that is not known.
   * When the state has changed since, the response may miss what was committed, and is not added.
   */
  add(endpoint: EndpointName, name: string, added: CachedResponse, state: number | null): void {
    this.#cacheable.add(endpoint);
    const bytes = bytesOf(name, added);
    if (state !== this.#state || bytes > limits.cachedResponseBytesMax) return;
    this.#remove(name);
    this.#cached.set(name, added);
    this.#bytes += bytes;
    for (const oldest of this.#cached.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#remove(oldest);
    }
  }

  #remove(name: string): void {
    const cached = this.#cached.get(name);
    if (cached === undefined) return;
    this.#cached.delete(name);
    this.#bytes -= bytesOf(name, cached);
  }
}

const bytesOf = (name: string, { response }: CachedResponse): number =>
  response.body.reduce((sum, piece) => sum + piece.length, 2 * name.length + limits.cachedOverheadBytes);
