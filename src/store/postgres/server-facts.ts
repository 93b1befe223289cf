// What a server of PostgreSQL is: its version and place, the size of the database, whether it is a standby,
// and how far standbys are behind.
import { formatBytes } from '../../base/size.ts';
import type { ServerFacts } from '../store.ts';
import type { Session } from './session.ts';

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

/** The server of a session. */
export async function readServer(session: Session): Promise<ServerFacts> {
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
export const behindWords = (bytes: number | null): string =>
  bytes === null ? 'this user may not see how far behind' : `${formatBytes(Math.max(0, bytes))} behind`;
