// Two lanes of queries: a request that reads many bars or long texts goes to the second, which has a thread of its own, so that no other
// waits for it.
import { limits } from '../../contract/limits.ts';
import type { Answer, LaneBounds, QueryRequest } from '../../queries/query.ts';
import { LoadShedding } from './load-shedding.ts';
import { full, QueryQueue, QueueError, type ThreadMemory } from './query-queue.ts';
import type { ThreadSetup } from './query-thread.ts';

const firstLane: LaneBounds = {
  baseBarsMax: limits.laneBaseBarsMax,
  charactersMax: limits.laneCharactersMax,
};

/** The queue of ordinary requests, and that of dear ones once there was one. */
export class QueryLanes {
  readonly #setup: ThreadSetup;
  readonly #first: QueryQueue;
  #second: QueryQueue | null = null;
  readonly #shedding = new LoadShedding();

  constructor(setup: Omit<ThreadSetup, 'lane'>, bounds: Partial<LaneBounds> = {}) {
    this.#setup = setup;
    this.#first = new QueryQueue({ ...setup, lane: { ...firstLane, ...bounds } });
  }

  /** Resolves once ordinary requests can be answered. @throws where the store cannot be opened */
  ready(): Promise<void> {
    return this.#first.ready();
  }

  /** Requests that wait, without those in a thread. */
  get waiting(): number {
    return this.#first.waiting + (this.#second?.waiting ?? 0);
  }

  /** Requests in the threads. */
  get inFlight(): number {
    return this.#first.inFlight + (this.#second?.inFlight ?? 0);
  }

  /** Query threads: one, or two once there was a dear request. */
  get threads(): number {
    return this.#second === null ? 1 : 2;
  }

  /** The memory of each thread that tells it. */
  async memory(): Promise<ReadonlyMap<'query' | 'dear_query', ThreadMemory>> {
    const [first, second] = await Promise.all([this.#first.memory(), this.#second?.memory()]);
    return new Map([
      ...(first ? [['query', first] as const] : []),
      ...(second ? [['dear_query', second] as const] : []),
    ]);
  }

  /** Whether this thread keeps up well enough to answer one more request, be the answer cached or not. */
  admits(): boolean {
    return this.#shedding.admits(performance.now());
  }

  /** The part of the requests that is refused now because this thread does not keep up: 0 without overload. */
  get refusedShare(): number {
    return this.#shedding.refusedShare(performance.now());
  }

  /** Answers a request when it is its turn. @throws QueueError */
  async submit(request: QueryRequest, isGone: () => boolean): Promise<Answer> {
    try {
      return await this.#first.submit(request, isGone);
    } catch (error) {
      if (error === full) this.#shedding.onFullQueue(performance.now());
      if (!(error instanceof QueueError && error.problem === 'declined')) throw error;
    }
    return this.#dear().submit(request, isGone);
  }

  #dear(): QueryQueue {
    // The first lane has opened the store: it declined the request.
    const setup = { ...this.#setup, wasOpened: true, givesWay: true };
    this.#second ??= new QueryQueue(setup, {
      waitMaxMs: limits.dearWaitMaxMs,
      expectedWaitMs: limits.dearExpectedWaitMs,
    });
    return this.#second;
  }

  /** Answers the admitted requests, then ends the threads. */
  async close(): Promise<void> {
    await this.#first.close();
    await this.#second?.close();
  }
}
