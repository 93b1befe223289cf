// Layout and size of a store in PostgreSQL, by its tables; on Citus over all nodes.
import type { StoreFacts } from '../store.ts';
import type { PostgresAddress } from './address.ts';
import { isDistributed, nodeWords } from './citus.ts';
import { readNodes } from './citus-nodes.ts';
import { connect } from './connecting.ts';
import { readProblem } from './problems.ts';
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
  } catch (error) {
    throw readProblem(error);
  } finally {
    session.close();
  }
}

const sizeText = (isBlocks: boolean): string =>
  `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and (c.relname = 'bar_blocks') = ${isBlocks}`;

const sizeOf = async (session: Session, isBlocks: boolean): Promise<number> =>
  (await session.ask(sizeText(isBlocks)))[0]![0] as number;

/** The tables of the blocks: one, or the shards of each node. */
async function blockParts(session: Session): Promise<StoreFacts['parts']> {
  if (!(await isDistributed(session)))
    return [{ what: 'blocks of bars', path: null, bytes: await sizeOf(session, true) }];
  return (await readNodes(session)).map((node) => ({
    what: `blocks on ${nodeWords(node)} (${node.shards} shards)`,
    path: null,
    bytes: node.bytes,
  }));
}

/** Layout and tables of the store at an address. */
export const postgresFacts = (address: PostgresAddress): Promise<StoreFacts> =>
  onSession(address, async (session) => {
    const layouts = await layoutsOf(session);
    const rows = { what: 'rows', path: null, bytes: await sizeOf(session, false) };
    return {
      layout: layouts?.store ?? 0,
      server: await readServer(session),
      parts: [rows, ...(await blockParts(session))],
    };
  });
