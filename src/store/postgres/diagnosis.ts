// What `bourse doctor` checks of a store in PostgreSQL. Nothing here writes.
import { broken, type Diagnosis, doubtful, fine } from '../diagnosis.ts';
import { StoreUnavailable, StoreUnusable } from '../store.ts';
import { addressWords, type PostgresAddress } from './address.ts';
import { hasCitus, isDistributed, onSession } from './facts.ts';
import { layoutsOf, requireSchema } from './schema.ts';
import type { Session } from './session.ts';

/** Older servers were not tried. */
const VERSION_MIN = 15;

/** A replaced version of a block is removed by the next write after a minute: more of them mean that something keeps them. */
const REPLACED_MANY = 1_000_000;

const numberOf = async (session: Session, sql: string): Promise<number> =>
  (await session.ask(sql))[0]![0] as number;

async function server(session: Session): Promise<Diagnosis> {
  const number = await numberOf(session, "select current_setting('server_version_num')::int");
  const major = Math.floor(number / 10_000);
  return major >= VERSION_MIN
    ? fine('server', `PostgreSQL ${major}`)
    : broken(
        'server',
        `PostgreSQL ${major} is older than ${VERSION_MIN}`,
        `upgrade it to ${VERSION_MIN} or newer`,
      );
}

async function checksums(session: Session): Promise<Diagnosis> {
  const isOn = await numberOf(session, "select (current_setting('data_checksums') = 'on')::int");
  return isOn === 1
    ? fine('checksums', 'the server checks its pages')
    : doubtful(
        'checksums',
        'the server does not check its pages',
        'pg_checksums --enable, with the server stopped',
      );
}

async function privileges(session: Session): Promise<Diagnosis> {
  const may = await numberOf(session, "select has_table_privilege('store_state', 'update')::int");
  const isReadOnly = await numberOf(session, "select (current_setting('transaction_read_only') = 'on')::int");
  if (isReadOnly === 1)
    return doubtful('writing', 'the server only reads: it is a standby', 'name the primary to import');
  return may === 1
    ? fine('writing', 'the user may write')
    : broken('writing', 'the user may not write its tables', 'make it the owner of the schema');
}

async function writer(session: Session): Promise<Diagnosis> {
  const [[pending, abandoned]] = (await session.ask(
    'select pending::text, (select count(*) from unnest(abandoned)) from store_state',
  )) as [[string | null, number]];
  if (pending !== null)
    return doubtful(
      'writer',
      `version ${pending} is being written, or its writer was cut off`,
      'the next import takes it back',
    );
  return fine('writer', `nobody writes; ${abandoned} writes were given up so far`);
}

async function replaced(session: Session): Promise<Diagnosis> {
  const count = await numberOf(session, 'select count(*) from replaced_blocks');
  const message = `${count} replaced versions of blocks`;
  return count < REPLACED_MANY
    ? fine('replaced blocks', message)
    : doubtful(
        'replaced blocks',
        message,
        'end the long reads (exports, hashes, copies) that keep them, and import once more',
      );
}

async function citus(session: Session): Promise<Diagnosis[]> {
  if (!(await hasCitus(session))) return [];
  if (!(await isDistributed(session)))
    return [
      doubtful(
        'citus',
        'the blocks of bars are on one node',
        "select create_distributed_table('bar_blocks', 'series_id')",
      ),
    ];
  const rows = await session.ask(
    `select nodename || ':' || nodeport, count(*), coalesce(sum(shard_size), 0)::bigint, bool_and(isactive)::int
      from citus_shards join pg_dist_node using (nodename, nodeport) where table_name = 'bar_blocks'::regclass group by 1 order by 1`,
  );
  return (rows as [string, number, number, number][]).map(([node, shards, bytes, isActive]) =>
    isActive === 1
      ? fine('citus', `${node}: ${shards} shards, ${bytes} bytes`)
      : broken(
          'citus',
          `${node} is not active: its ${shards} shards cannot be read`,
          'start it, then citus_activate_node',
        ),
  );
}

const checks = [server, checksums, privileges, writer, replaced, citus];

/** The results of all checks. */
export async function diagnosePostgres(address: PostgresAddress): Promise<Diagnosis[]> {
  const name = addressWords(address);
  try {
    return await onSession(address, async (session) => {
      if ((await layoutsOf(session)) === null)
        return [
          doubtful('store', `there is no store at ${name} yet`, 'bourse serve or bourse import makes it'),
        ];
      await requireSchema(session, address, 'inspect', () => undefined);
      const found: Diagnosis[] = [fine('store', `${name}, of the current layout`)];
      for (const check of checks) found.push(...[await check(session)].flat());
      return found;
    });
  } catch (error) {
    if (error instanceof StoreUnavailable)
      return [broken('store', error.message, 'start the server, or correct --store')];
    if (error instanceof StoreUnusable) return [broken('store', error.message, null)];
    throw error;
  }
}
