// The connections of an open store: for transactions, each used by one at a time, and for blocks.
import { storeLimits } from '../limits.ts';
import { StoreUnavailable } from '../store.ts';
import {
  isDistributed,
  isReached,
  nodeWords,
  readShards,
  type Shard,
  type ShardNode,
  shardHash,
} from './citus.ts';
import type { Connection } from './connection.ts';
import type { Session } from './session.ts';

const { blockConnections, shardsKnownMs, transactionsMax, workerPauseMs } = storeLimits;

/** Connections that are made as they are needed, up to a bound; more transactions wait for one. */
export class Pool {
  readonly #make: () => Connection;
  readonly #all: Connection[] = [];
  readonly #free: Connection[] = [];
  readonly #waiting: ((connection: Connection) => void)[] = [];
  readonly #used = new Map<Session, Connection>();
  #isClosed = false;

  constructor(make: () => Connection) {
    this.#make = make;
  }

  /** A session that nobody else uses. @throws StoreUnavailable */
  async take(): Promise<Session> {
    const connection = await this.#connection();
    try {
      const session = await connection.session();
      this.#used.set(session, connection);
      return session;
    } catch (error) {
      this.#release(connection);
      throw error;
    }
  }

  async #connection(): Promise<Connection> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#isClosed) throw new StoreUnavailable('the store was closed');
    if (this.#all.length < transactionsMax) {
      const made = this.#make();
      this.#all.push(made);
      return made;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Ends the transaction of a session, and lets others use it. */
  async giveBack(session: Session): Promise<void> {
    const connection = this.#used.get(session);
    if (connection === undefined) return;
    this.#used.delete(session);
    if (session.isOpen) await session.ask('rollback').catch((error: Error) => session.destroy(error));
    this.#release(connection);
  }

  #release(connection: Connection): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(connection);
    else next(connection);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#all.map((one) => one.close()));
  }
}

/** A connection for the shards of one worker: used once the coordinator reaches that worker. */
class WorkerConnection {
  readonly #connection: Connection;
  readonly #worker: ShardNode;
  #checked: Session | null = null;
  #checking: Promise<Session> | null = null;
  #failedMs = Number.NEGATIVE_INFINITY;

  constructor(connection: Connection, worker: ShardNode) {
    this.#connection = connection;
    this.#worker = worker;
  }

  get waiting(): number {
    return this.#connection.waiting;
  }

  async session(): Promise<Session> {
    if (performance.now() - this.#failedMs < workerPauseMs) throw this.#outOfReach();
    const session = await this.#connection.session();
    if (session === this.#checked) return session;
    this.#checking ??= this.#check(session).finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  /**
   * A statement on a worker that hangs cannot be cancelled: it would keep the coordinator's process, one for
   * each new connection.
   */
  async #check(session: Session): Promise<Session> {
    if (!(await isReached(session, this.#worker))) {
      this.#failedMs = performance.now();
      const problem = this.#outOfReach();
      session.destroy(problem);
      throw problem;
    }
    this.#checked = session;
    return session;
  }

  #outOfReach(): StoreUnavailable {
    return new StoreUnavailable(`the coordinator does not reach the Citus worker ${nodeWords(this.#worker)}`);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

type Choice = { readonly waiting: number; session(): Promise<Session>; close(): Promise<void> };

const leastWaiting = ([first, ...others]: readonly Choice[]): Choice =>
  others.reduce((least, one) => (one.waiting < least.waiting ? one : least), first!);

/**
 * The connections on which blocks are read. On Citus each worker has connections of its own: one that hangs
 * holds up the reads of its shards alone.
 */
export class BlockConnections {
  readonly #make: () => Connection;
  /** Asks the coordinator alone. */
  readonly #ask: () => Promise<Session>;
  readonly #any: readonly Connection[];
  readonly #workers = new Map<string, readonly WorkerConnection[]>();
  #shards: readonly Shard[] = [];
  #readMs = Number.POSITIVE_INFINITY;

  constructor(make: () => Connection, ask: () => Promise<Session>) {
    this.#make = make;
    this.#ask = ask;
    this.#any = Array.from({ length: blockConnections }, make);
  }

  /** Finds out which worker has which series, where the blocks are distributed. */
  async learnShards(): Promise<void> {
    const session = await this.#ask();
    if (!(await isDistributed(session))) return;
    this.#readMs = performance.now();
    this.#shards = await readShards(session);
  }

  /** A connection for blocks of any series: for a writer. */
  anySession(): Promise<Session> {
    return leastWaiting(this.#any).session();
  }

  /** A connection for the blocks of a series. */
  sessionFor(seriesId: number): Promise<Session> {
    if (performance.now() - this.#readMs > shardsKnownMs) {
      this.#readMs = performance.now();
      // Without an answer the shards stay as they were known.
      this.learnShards().catch(() => undefined);
    }
    const hash = shardHash(seriesId);
    const shard = this.#shards.find(({ from, to }) => from <= hash && hash <= to);
    return leastWaiting(shard === undefined ? this.#any : this.#connectionsTo(shard.node)).session();
  }

  #connectionsTo(worker: ShardNode): readonly WorkerConnection[] {
    const name = nodeWords(worker);
    const known = this.#workers.get(name);
    if (known !== undefined) return known;
    const made = Array.from({ length: blockConnections }, () => new WorkerConnection(this.#make(), worker));
    this.#workers.set(name, made);
    return made;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#any, ...[...this.#workers.values()].flat()].map((one) => one.close()));
  }
}
