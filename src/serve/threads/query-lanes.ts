// Two lanes of queries: a request that reads many bars, many rows or long texts goes to the second, which has
// a thread of its own, so that no other waits for it.
import { performance } from 'node:perf_hooks';
import { limits } from '../../contract/limits.ts';
import type { Answer, LaneBounds, QueryRequest } from '../../queries/query.ts';
import { LoadShedding } from './overload.ts';
import { QueryQueue, QueueError, type ThreadMemory } from './query-queue.ts';
import type { ThreadSetup } from './query-thread.ts';

const firstLane: LaneBounds = {
  baseBarsMax: limits.laneBaseBarsMax,
  charactersMax: limits.laneCharactersMax,
};

/**
 * Endpoints whose queries read many rows before these tell how many bars there are: they begin in the second
 * lane, whose thread keeps what it has read.
 */
const readManyRows: ReadonlySet<QueryRequest['endpoint']> = new Set([
  'seriesCoverage',
  'sessionCoverage',
  'findings',
]);

/** The lanes, by the names of their threads in the metrics. */
type Lane = 'query' | 'dear_query' | 'bulk_query';

/**
 * The queue of ordinary requests; that of dear ones, and that of the steps of streamed answers, once there
 * was one.
 */
export class QueryLanes {
  readonly #setup: ThreadSetup;
  readonly #queues: Map<Lane, QueryQueue>;
  readonly #first: QueryQueue;
  readonly #shedding = new LoadShedding(
    () => performance.eventLoopUtilization().active < limits.queueWarmUpMs,
  );

  constructor(setup: Omit<ThreadSetup, 'lane'>, bounds: Partial<LaneBounds> = {}) {
    // The first lane has opened the store before another begins.
    this.#setup = { ...setup, wasOpened: true, givesWay: true };
    this.#first = new QueryQueue({ ...setup, lane: { ...firstLane, ...bounds } });
    this.#queues = new Map([['query', this.#first]]);
  }

  /** Resolves once ordinary requests can be answered. @throws where the store cannot be opened */
  ready(): Promise<void> {
    return this.#first.ready();
  }

  /** Requests that wait, without those in a thread. */
  get waiting(): number {
    return this.#queues.values().reduce((sum, { waiting }) => sum + waiting, 0);
  }

  /** Requests in the threads. */
  get inFlight(): number {
    return this.#queues.values().reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  /**
   * Query threads: one, another once there was a dear request, and another once there was a streamed answer.
   */
  get threads(): number {
    return this.#queues.size;
  }

  /** The memory of each thread that tells it. */
  async memory(): Promise<ReadonlyMap<Lane, ThreadMemory>> {
    const told = Array.from(this.#queues, async ([lane, queue]) => {
      const memory = await queue.memory();
      return memory === null ? [] : [[lane, memory] as const];
    });
    return new Map((await Promise.all(told)).flat());
  }

  /**
   * Whether this thread keeps up well enough to answer one more request of a key, which has waited to be
   * read, be the answer cached or not.
   */
  admits(keyId: string | null, waitedMs: number): boolean {
    return this.#shedding.admits(keyId, waitedMs, performance.now());
  }

  /**
   * The part of the requests that is refused now because this thread does not keep up: 0 without overload.
   */
  get refusedShare(): number {
    return this.#shedding.refusedShare(performance.now());
  }

  /**
   * Answers a request of a key when it is its turn; null for one of the service itself. `waitedMs`: how long
   * it has waited to be read.
   * @throws QueueError
   */
  async submit(
    request: QueryRequest,
    isGone: () => boolean,
    keyId: string | null = null,
    waitedMs = 0,
  ): Promise<Answer> {
    if (request.endpoint === 'bulkBars') {
      const streams = this.#queueOf('bulk_query', limits.streamedWaitMs);
      return streams.submit(request, isGone, keyId);
    }
    if (readManyRows.has(request.endpoint)) return this.#dear().submit(request, isGone, keyId, waitedMs);
    try {
      return await this.#first.submit(request, isGone, keyId, waitedMs);
    } catch (error) {
      if (!(error instanceof QueueError && error.problem === 'declined')) throw error;
    }
    return this.#dear().submit(request, isGone, keyId);
  }

  #dear(): QueryQueue {
    return this.#queueOf('dear_query', limits.dearWaitMs);
  }

  #queueOf(lane: Lane, waitMs: number): QueryQueue {
    const queue = this.#queues.get(lane) ?? new QueryQueue(this.#setup, { waitMs });
    this.#queues.set(lane, queue);
    return queue;
  }

  /** Answers the admitted requests, then ends the threads. */
  async close(): Promise<void> {
    for (const queue of this.#queues.values()) await queue.close();
  }
}
