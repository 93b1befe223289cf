// Replies at hand: given again to the same request while nothing has been committed, and until the moment that each is good for.
import type { EndpointName } from '../contract/index.ts';
import { limits } from '../contract/limits.ts';
import type { Store } from '../store/store.ts';
import type { DoorReply } from './reply.ts';

/** A reply, and until when it is right. */
export type KeptReply = {
  /** Without an id of a request. */
  readonly reply: DoorReply;
  readonly goodUntilMs: number;
};

/** Replies of one process by the request as it was sent, bounded in bytes: the one that was not asked for longest goes first. */
export class ReplyCache {
  readonly #store: Pick<Store, 'changeToken'>;
  readonly #bytesMax: number;
  readonly #kept = new Map<string, KeptReply>();
  /** Endpoints that gave an answer which may be kept: of the others nothing is looked up. */
  readonly #lasting = new Set<EndpointName>();
  #bytes = 0;
  #token = Number.NaN;
  /** The state as it was asked for last, and in which turn. */
  #asked: { readonly turn: number; readonly state: Promise<number> } | null = null;

  constructor(store: Pick<Store, 'changeToken'>, bytesMax: number = limits.cachedBytesMax) {
    this.#store = store;
    this.#bytesMax = bytesMax;
  }

  /** Whether answers of an endpoint may be at hand. */
  lasts(endpoint: EndpointName): boolean {
    return this.#lasting.has(endpoint);
  }

  /**
   * The state of the store in a turn, for which it is asked once; without a turn, as it is now. Everything is forgotten where it is
   * another one than before.
   */
  state(turn?: number): Promise<number> {
    if (turn !== undefined && this.#asked !== null && this.#asked.turn >= turn) return this.#asked.state;
    const state = this.#ask();
    this.#asked = turn === undefined ? null : { turn, state };
    return state;
  }

  async #ask(): Promise<number> {
    const token = await this.#store.changeToken();
    if (token !== this.#token) {
      this.#token = token;
      this.#kept.clear();
      this.#bytes = 0;
    }
    return token;
  }

  /** The reply at hand to a request, in the state of before. */
  find(name: string, nowMs: number): KeptReply | undefined {
    const kept = this.#kept.get(name);
    if (kept === undefined || nowMs >= kept.goodUntilMs) return undefined;
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    return kept;
  }

  /**
   * Keeps a reply of an endpoint, whose body is its own. It was asked for in a state: where that has passed, what was committed
   * since may not be in it.
   */
  keep(endpoint: EndpointName, name: string, kept: KeptReply, state: number): void {
    this.#lasting.add(endpoint);
    const bytes = bytesOf(name, kept);
    if (state !== this.#token || bytes > limits.cachedReplyBytesMax) return;
    this.#drop(name);
    this.#kept.set(name, kept);
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    const kept = this.#kept.get(name);
    if (kept === undefined) return;
    this.#kept.delete(name);
    this.#bytes -= bytesOf(name, kept);
  }
}

const bytesOf = (name: string, { reply }: KeptReply): number =>
  reply.body.reduce((sum, piece) => sum + piece.length, 2 * name.length + limits.cachedOverheadBytes);
