// What `bourse doctor` checks of a store in PostgreSQL. Nothing here writes.
import { formatBytes } from '../../base/words.ts';
import { broken, type Diagnosis, doubtful, fine } from '../damage.ts';
import {
  type ServerFacts,
  type StoreFacts,
  type StoreSpace,
  StoreUnavailable,
  StoreUnusable,
} from '../store.ts';
import { addressWords, type PostgresAddress } from './address.ts';
import { distributeText, hasCitus, isDistributed, type NodeFacts, nodeWords, readNodes } from './citus.ts';
import { onSession } from './connection.ts';
import { isCopyBegun, layoutsOf, requireSchema } from './layout.ts';
import { indexCheckOf, UNCHECKED } from './scrub.ts';
import type { Session } from './session.ts';

/** Older servers were not tried. */
const VERSION_MIN = 15;

/** A standby that is further behind answers with old data for long. */
const BEHIND_SECONDS = 60;
const BEHIND_BYTES = 2 ** 30;

/**
 * A replaced version of a block is removed by the next write after a minute: more of them mean that something
 * keeps them.
 */
const REPLACED_MANY = 1_000_000;

const numberOf = async (session: Session, sql: string): Promise<number> =>
  (await session.ask(sql))[0]![0] as number;

const serverText = `select current_setting('server_version'),
  coalesce(host(inet_server_addr()), 'its socket') || ':' || current_setting('port'),
  pg_database_size(current_database()), pg_is_in_recovery()::int`;

/**
 * A standby that has replayed all that it received is up to date, as long as it receives. Others know when
 * the last commit was made.
 */
const standbyText = `select exists (select 1 from pg_stat_wal_receiver where pid is not null)::int,
  (pg_last_wal_receive_lsn() is not distinct from pg_last_wal_replay_lsn())::int,
  extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8`;

/** Who may not read what others do sees their names alone. */
const followersText = `select coalesce(nullif(application_name, ''), 'standby') || coalesce(' at ' || host(client_addr), ''),
  pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint from pg_stat_replication order by 1`;

/** Describes the server of a session: its version and place, and how far standbys are behind. */
async function readServer(session: Session): Promise<ServerFacts> {
  const [[version, place, databaseBytes, isStandby]] = (await session.ask(serverText)) as [
    [string, string, number, number],
  ];
  const about = { version: `PostgreSQL ${version}`, place, databaseBytes };
  if (isStandby === 0) return { ...about, standby: null, followers: await readFollowers(session) };
  const [[isReceiving, isReplayed, sinceSeconds]] = (await session.ask(standbyText)) as [
    [number, number, number | null],
  ];
  const behindSeconds = isReceiving === 1 && isReplayed === 1 ? 0 : sinceSeconds;
  return { ...about, standby: { isReceiving: isReceiving === 1, behindSeconds }, followers: [] };
}

async function readFollowers(session: Session): Promise<ServerFacts['followers']> {
  const rows = (await session.ask(followersText)) as [string, number | null][];
  return rows.map(([name, behindBytes]) => ({ name, behindBytes }));
}

/** Says in words how far a standby is behind. */
const behindWords = (bytes: number | null): string =>
  bytes === null ? 'this user may not see how far behind' : `${formatBytes(Math.max(0, bytes))} behind`;

async function server(session: Session): Promise<Diagnosis[]> {
  const number = await numberOf(session, "select current_setting('server_version_num')::int");
  const { version, place, databaseBytes, standby, followers } = await readServer(session);
  const size = fine('database', `${formatBytes(databaseBytes)}, other schemas included`);
  if (Math.floor(number / 10_000) < VERSION_MIN)
    return [
      broken('server', `${version} is older than ${VERSION_MIN}`, `upgrade it to ${VERSION_MIN} or newer`),
      size,
    ];
  return [
    fine('server', `${version} at ${place}, a ${standby === null ? 'primary' : 'standby'}`),
    size,
    ...(standby === null ? followers.map(followerDiagnosis) : [standbyDiagnosis(standby)]),
  ];
}

const followerDiagnosis = ({ name, behindBytes }: ServerFacts['followers'][number]): Diagnosis =>
  (behindBytes ?? 0) < BEHIND_BYTES
    ? fine('replication', `${name}: ${behindWords(behindBytes)}`)
    : doubtful('replication', `${name}: ${behindWords(behindBytes)}`, 'look at its load, disk and network');

function standbyDiagnosis({ isReceiving, behindSeconds }: NonNullable<ServerFacts['standby']>): Diagnosis {
  const seconds = behindSeconds === null ? null : Math.round(behindSeconds);
  if (!isReceiving)
    return doubtful(
      'replication',
      `it receives nothing from a primary${seconds === null ? '' : `; its last commit is ${seconds} s old`}`,
      'start the primary, or promote this server: pg_ctl promote',
    );
  if (seconds === null)
    return fine('replication', 'it receives, and nothing was committed since it was made');
  return seconds < BEHIND_SECONDS
    ? fine('replication', `${seconds} s behind`)
    : doubtful('replication', `${seconds} s behind`, 'look at its load, disk and network');
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

async function indexes(session: Session): Promise<Diagnosis> {
  const check = await indexCheckOf(session);
  return 'call' in check
    ? fine('indexes', 'the scrub compares them with their tables')
    : doubtful('indexes', UNCHECKED, `as a superuser of the database run: ${check.cure}`);
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
  if (await isDistributed(session)) return (await readNodes(session)).map(nodeDiagnosis);
  const [[schema]] = (await session.ask('select current_schema()::text')) as [[string]];
  return [
    doubtful(
      'citus',
      'the blocks of bars are on the coordinator alone',
      `${distributeText(`${schema}.bar_blocks`)}, with psql; then restart bourse serve`,
    ),
  ];
}

function nodeDiagnosis(node: NodeFacts): Diagnosis {
  const { host, port, isActive, shards, bytes } = node;
  const name = nodeWords(node);
  if (bytes === null)
    return broken(
      'citus',
      `${name} does not answer: no bars of its ${shards} shards can be read or imported`,
      'start it, or see "Losing a node" in docs/operating/scaling.md',
    );
  if (!isActive)
    return broken('citus', `${name} is not active`, `select citus_activate_node('${host}', ${port})`);
  if (shards === 0)
    return doubtful('citus', `${name} has no shards of the blocks`, 'select citus_rebalance_start()');
  return fine('citus', `${name}: ${shards} shards, ${formatBytes(bytes)}`);
}

const checks = [server, checksums, indexes, privileges, writer, replaced, citus];

/** The results of all checks. */
export async function diagnosePostgres(address: PostgresAddress): Promise<Diagnosis[]> {
  const name = addressWords(address);
  try {
    return await onSession(address, async (session) => {
      if ((await layoutsOf(session)) === null && !(await isCopyBegun(session)))
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

/** Size of the store at an address; null where a node does not answer. Its disk is on another machine. */
export async function postgresSpace(address: PostgresAddress): Promise<StoreSpace> {
  const { parts } = await postgresFacts(address);
  const sizes = parts.map(({ bytes }) => bytes);
  const isKnown = sizes.every((bytes) => bytes !== null);
  return { storeBytes: isKnown ? sizes.reduce((sum, bytes) => sum + bytes, 0) : null, freeBytes: null };
}
