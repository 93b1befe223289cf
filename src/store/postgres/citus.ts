// The connections on which blocks of bars are read; and the nodes of Citus, where one shard has all blocks of
// a series (docs/decisions/0034-citus.md).
import { storeLimits } from '../limits.ts';
import { StoreUnavailable } from '../store.ts';
import type { Connection } from './connection.ts';
import { SentArray, type Session } from './session.ts';

const { blockConnections, shardsKnownMs, workerConnectMs, workerPauseMs } = storeLimits;

/** Distributes the blocks by series. Their shards follow no other table's. */
export const distributeText = (table: string): string =>
  `select create_distributed_table('${table}', 'series_id', colocate_with => 'none')`;

/** True if a database has the Citus extension. */
export async function hasCitus(session: Session): Promise<boolean> {
  return (await session.ask("select 1 from pg_extension where extname = 'citus'")).length > 0;
}

/** True if the blocks are distributed over the nodes of Citus. */
export async function isDistributed(session: Session): Promise<boolean> {
  if (!(await hasCitus(session))) return false;
  const text = "select 1 from pg_dist_partition where logicalrelid = 'bar_blocks'::regclass";
  return (await session.ask(text)).length > 0;
}

/**
 * Distributes the blocks of a new store where the database has the Citus extension. Everything else stays on
 * the coordinator.
 */
export async function distributeBlocks(session: Session): Promise<void> {
  if (await hasCitus(session)) await session.ask(distributeText('bar_blocks'));
}

/** A node with shards of the blocks. */
type ShardNode = { readonly host: string; readonly port: number };

/** A node for messages. */
export const nodeWords = ({ host, port }: ShardNode): string => `${host}:${port}`;

/** A shard of the blocks: of the series whose hashes are between bounds, both included. */
type Shard = { readonly from: number; readonly to: number; readonly node: ShardNode };

/**
 * The shards of the blocks, in the order of their hashes; from the coordinator's own tables, so no other node
 * is asked.
 */
async function readShards(session: Session): Promise<Shard[]> {
  const found = await session.ask(
    `select shardminvalue::int, shardmaxvalue::int, nodename, nodeport
      from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
      where logicalrelid = 'bar_blocks'::regclass and noderole = 'primary' order by 1`,
  );
  return (found as [number, number, string, number][]).map(([from, to, host, port]) => ({
    from,
    to,
    node: { host, port },
  }));
}

/**
 * True if the coordinator reaches a node. The session must not have asked the node before: it would use that
 * connection again, and wait.
 */
async function isReached(session: Session, { host, port }: ShardNode): Promise<boolean> {
  const [, rows] = await Promise.all([
    session.ask(`set citus.node_connection_timeout = ${workerConnectMs}`),
    session.ask('select citus_check_connection_to_node($1, $2::int)::int', [host, port]),
  ]);
  return rows[0]![0] === 1;
}

const rotated = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

/** The hash by which Citus chooses the shard of a series: `hashint8` of PostgreSQL (common/hashfn.c). */
export function shardHash(seriesId: number): number {
  const low = seriesId | 0;
  const high = Math.floor(seriesId / 2 ** 32) | 0;
  let a = (0x9e3779b9 + 4 + 3_923_095) | 0;
  let b = a;
  let c = a;
  a = (a + (low ^ (seriesId >= 0 ? high : ~high))) | 0;
  c = ((c ^ b) - rotated(b, 14)) | 0;
  a = ((a ^ c) - rotated(c, 11)) | 0;
  b = ((b ^ a) - rotated(a, 25)) | 0;
  c = ((c ^ b) - rotated(b, 16)) | 0;
  a = ((a ^ c) - rotated(c, 4)) | 0;
  b = ((b ^ a) - rotated(a, 14)) | 0;
  return ((c ^ b) - rotated(b, 24)) | 0;
}

/** A node for `bourse status` and `bourse doctor`. */
export type NodeFacts = ShardNode & {
  readonly isActive: boolean;
  readonly shards: number;
  /** Of its shards; null where it does not answer. */
  readonly bytes: number | null;
};

const nodesText = `select nodename, nodeport, bool_and(isactive)::int, string_agg(shardid::text, ',' order by shardid)
  from pg_dist_node left join (pg_dist_placement join pg_dist_shard using (shardid)) on pg_dist_placement.groupid = pg_dist_node.groupid
    and logicalrelid = 'bar_blocks'::regclass
  where noderole = 'primary' and (shouldhaveshards or shardid is not null) group by 1, 2 order by 1, 2`;

/** Bytes of some shards, for the node that has them: a shard is a table with its number behind the name. */
const bytesText = (schema: string, shards: readonly string[]): string =>
  `select coalesce(sum(pg_total_relation_size(format('%I.%I', '${schema}', 'bar_blocks_' || shard)::regclass)), 0)
    from unnest('{${shards.join()}}'::bigint[]) as shard`;

/** The nodes that have shards of the blocks, or may get some. `session`: a new one. */
export async function readNodes(session: Session): Promise<NodeFacts[]> {
  const [[schema]] = (await session.ask('select current_schema()::text')) as [[string]];
  const found = (await session.ask(nodesText)) as [string, number, number, string | null][];
  const nodes: NodeFacts[] = [];
  for (const [host, port, isActive, shardList] of found) {
    const shards = shardList?.split(',') ?? [];
    const bytes = (await isReached(session, { host, port }))
      ? await bytesOf(session, { host, port }, bytesText(schema, shards))
      : null;
    nodes.push({ host, port, isActive: isActive === 1, shards: shards.length, bytes });
  }
  return nodes;
}

async function bytesOf(session: Session, { host, port }: ShardNode, text: string): Promise<number | null> {
  const [[bytes]] = (await session.ask(
    'select case when success then result::bigint end from master_run_on_worker($1, $2::int[], $3, false)',
    [new SentArray('text', [host]), new SentArray('int4', [port]), new SentArray('text', [text])],
  )) as [[number | null]];
  return bytes;
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
