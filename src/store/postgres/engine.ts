// What PostgreSQL can do with the store at one address.
import { type Mode, type StoreFacts, StoreUnusable, type Tell } from '../store.ts';
import type { PostgresAddress } from './address.ts';
import { isDistributed, nodeWords, readNodes } from './citus.ts';
import { onSession } from './connection.ts';
import { openPostgresControl } from './control.ts';
import { openPostgresCopyTarget } from './copy.ts';
import { diagnosePostgres, readServer } from './diagnosis.ts';
import { layoutsOf } from './layout.ts';
import { scrubPostgres } from './scrub.ts';
import type { Session } from './session.ts';
import { openPostgresStore } from './store.ts';

async function ownTools(): Promise<never> {
  throw new StoreUnusable(
    'PostgreSQL backs up and restores its stores: pg_dump and pg_restore, or pg_basebackup. bourse copy makes a file of one, and one of a file',
  );
}

const isMade = (address: PostgresAddress): Promise<boolean> =>
  onSession(address, async (session) => (await layoutsOf(session)) !== null);

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
const postgresFacts = (address: PostgresAddress): Promise<StoreFacts> =>
  onSession(address, async (session) => {
    const layouts = await layoutsOf(session);
    const rows = { what: 'rows', path: null, bytes: await sizeOf(session, false) };
    return {
      layout: layouts?.store ?? 0,
      server: await readServer(session),
      parts: [rows, ...(await blockParts(session))],
    };
  });

/** The operations on the store at an address. */
export const postgresEngine = (address: PostgresAddress) => ({
  isMade: () => isMade(address),
  openStore: (mode: Mode, tell: Tell) => openPostgresStore(address, mode, tell),
  openControl: (mode: Mode, tell: Tell) => openPostgresControl(address, mode, tell),
  facts: () => postgresFacts(address),
  copy: ownTools,
  openCopyTarget: (tell: Tell) => openPostgresCopyTarget(address, tell),
  diagnose: () => diagnosePostgres(address),
  scrub: () => scrubPostgres(address),
});
