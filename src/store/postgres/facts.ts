// Layout and size of a store in PostgreSQL, by its tables; on Citus over all nodes.
import type { StoreFacts } from '../store.ts';
import type { PostgresAddress } from './address.ts';
import { connect } from './connecting.ts';
import { layoutsOf } from './schema.ts';
import { readServer } from './server-facts.ts';
import type { Session } from './session.ts';
import { settingsOf } from './settings.ts';

/** Runs `work` on a connection of its own. */
export async function onSession<T>(
  address: PostgresAddress,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await connect(address, settingsOf.inspect);
  try {
    return await work(session);
  } finally {
    session.close();
  }
}

/** Whether a database has the Citus extension. */
export async function hasCitus(session: Session): Promise<boolean> {
  return (await session.ask("select 1 from pg_extension where extname = 'citus'")).length > 0;
}

/** Whether the blocks are distributed over the nodes of Citus. */
export async function isDistributed(session: Session): Promise<boolean> {
  if (!(await hasCitus(session))) return false;
  return (
    (await session.ask("select 1 from pg_dist_partition where logicalrelid = 'bar_blocks'::regclass"))
      .length > 0
  );
}

const sizeText = (isBlocks: boolean): string =>
  `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and (c.relname = 'bar_blocks') = ${isBlocks}`;

/** The bytes of the tables: of blocks on every node. */
async function sizesOf(session: Session): Promise<{ readonly rows: number; readonly blocks: number }> {
  const blocksText = (await isDistributed(session))
    ? "select citus_total_relation_size('bar_blocks')::bigint"
    : sizeText(true);
  const [rows, blocks] = await Promise.all([session.ask(sizeText(false)), session.ask(blocksText)]);
  return { rows: rows[0]![0] as number, blocks: blocks[0]![0] as number };
}

/** Layout and tables of the store at an address. */
export const postgresFacts = (address: PostgresAddress): Promise<StoreFacts> =>
  onSession(address, async (session) => {
    const layouts = await layoutsOf(session);
    const { rows, blocks } = await sizesOf(session);
    return {
      layout: layouts?.store ?? 0,
      server: await readServer(session),
      parts: [
        { what: 'rows', path: null, bytes: rows },
        { what: 'blocks of bars', path: null, bytes: blocks },
      ],
    };
  });
