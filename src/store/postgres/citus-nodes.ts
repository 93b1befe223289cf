// The nodes of Citus, for `bourse status` and `bourse doctor`: their shards of the blocks, sizes, and which
// of them answer.
import { isReached, type ShardNode } from './citus.ts';
import { SentArray } from './sent-array.ts';
import type { Session } from './session.ts';

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
