// Which version of a store is published, and how a writer publishes the next one: whole files at once, also
// where blocks commit apart.

import { StoreUnavailable } from '../store.ts';
import { lockOf } from './locks.ts';
import { type Published, type Range, rangesText, type Versions } from './published.ts';
import { SentArray } from './sent-array.ts';
import type { Session } from './session.ts';

const stateText = `select version, abandoned::text,
  coalesce((select value from counters where name = 'data_version'), 0), tableoid::bigint from store_state`;

/** The published version, that of the data, and whose they are. */
export async function readPublished(session: Session): Promise<Published> {
  const [[version, abandoned, dataVersion, table]] = (await session.ask(stateText)) as [
    [number, string, number, number],
  ];
  return { version, abandoned: rangesOf(abandoned), dataVersion, server: session.server, table };
}

const rangesOf = (text: string): Range[] =>
  [...text.matchAll(/\[(\d+),(\d+)\)/g)].map(([, from, to]) => ({ from: Number(from), to: Number(to) }));

/** Waits until nobody else writes. `onWait` is called where somebody does. */
export async function lockWrites(
  session: Session,
  onWait: (writerPid: number | null) => void,
): Promise<void> {
  const [[isLocked]] = (await session.ask(`select pg_try_advisory_lock(${lockOf('write')})::int`)) as [
    [number],
  ];
  if (isLocked === 1) return;
  onWait(null);
  await session.ask(`select pg_advisory_lock(${lockOf('write')})`);
}

export const unlockWrites = (session: Session): Promise<unknown> =>
  session.ask(`select pg_advisory_unlock(${lockOf('write')})`);

/**
 * Begins a version, which no block has yet. What a writer that was cut off left is removed; its numbers are
 * never used again: its blocks may still arrive.
 */
export async function beginVersion(session: Session): Promise<Versions> {
  const [[version, abandoned, cutOff, published]] = (await session.ask(
    `update store_state as s set
      pending = greatest(s.version, s.pending, upper(s.abandoned) - 1) + 1,
      abandoned = case when s.pending is null then s.abandoned
        else s.abandoned + int8multirange(int8range(s.version + 1, s.pending, '[]')) end
      from (select pending from store_state for update) as before
      returning s.pending, s.abandoned::text, before.pending, s.version`,
  )) as [[number, string, number | null, number]];
  if (cutOff !== null) await removeVersions(session, published + 1, cutOff);
  return { version, abandoned: rangesOf(abandoned) };
}

/**
 * Says that blocks of the version after another of the same write follow. @throws StoreUnavailable where
 * another write has begun
 */
export async function extendPending(session: Session, version: number): Promise<void> {
  const extended = await session.ask('update store_state set pending = $1 where pending = $2 returning 1', [
    version + 1,
    version,
  ]);
  if (extended.length === 0) throw new StoreUnavailable('another process writes to the store by now');
}

/** Gives a write up of which no block is left: its versions are published, with nothing in them. */
export const passOver = (session: Session, version: number): Promise<unknown> =>
  session.ask('update store_state set version = $1, pending = null where pending = $1', [version]);

/**
 * Gives a write up of which blocks may be left, or may still arrive: its versions are those after the
 * published one. Where its blocks cannot be removed now, as where a node is away, they stay those of a writer
 * that was cut off: the next one removes them.
 */
export async function abandonWrite(session: Session): Promise<void> {
  const [row] = await session.ask('select version + 1, pending from store_state where pending is not null');
  if (row === undefined) return;
  const [from, to] = row as [number, number];
  await removeVersions(session, from, to);
  await session.ask(
    `update store_state set pending = null, abandoned = abandoned + int8multirange(int8range($1, $2, '[]')) where pending = $2`,
    [from, to],
  );
}

async function removeVersions(session: Session, from: number, to: number): Promise<void> {
  await session.ask('delete from bar_blocks where version between $1 and $2', [from, to]);
}

const removeText = `delete from bar_blocks t using unnest($1::bigint[], $2::bigint[], $3::bigint[]) as u(a, b, c)
  where t.series_id = any($1::bigint[]) and t.series_id = u.a and t.bucket = u.b and t.version = u.c`;

/** Keys of blocks as columns: series, buckets and versions. */
export const keyColumns = (keys: readonly (readonly number[])[]): SentArray[] =>
  [0, 1, 2].map(
    (at) =>
      new SentArray(
        'int8',
        keys.map((key) => key[at]!),
      ),
  );

/** Removes blocks by their keys. */
export const removeBlocks = (session: Session, keys: readonly (readonly number[])[]): Promise<unknown> =>
  session.ask(removeText, keyColumns(keys));

/**
 * The beginning of a write: whether the data are those that the write before it left, and the clock of the
 * server, epoch milliseconds.
 */
export type Origin = { readonly goesOn: boolean; readonly nowMs: number };

// The row of the newest write has its transaction, negated, in the place of a version. One that a dump or a
// copy restored was written by another transaction; one that a base backup restored, before the server was
// started.
const originText = `select exists (select 1 from published_versions where version < 0
    and -version % 4294967296 = xmin::text::bigint and published_at > pg_postmaster_start_time())::int,
  (extract(epoch from clock_timestamp()) * 1000)::bigint`;

/**
 * Asks where a write begins. From data that somebody restored no version goes on: others have had the next
 * ones.
 */
export async function originOf(session: Session): Promise<Origin> {
  const [[goesOn, nowMs]] = (await session.ask(originText)) as [[number, number]];
  return { goesOn: goesOn === 1, nowMs };
}

/** Notes the transaction of a write, in it. */
export async function noteOrigin(session: Session): Promise<void> {
  await Promise.all([
    session.ask('delete from published_versions where version < 0'),
    session.ask('insert into published_versions (version) values (-(pg_current_xact_id()::text::bigint))'),
  ]);
}

/**
 * A version that is published when its transaction is committed, and the moment, which no other version of
 * this number has.
 */
export type Publication = { readonly version: number; readonly at: string };

/** Publishes a version, in the transaction of its rows. */
export async function publish(session: Session, { version, abandoned }: Versions): Promise<Publication> {
  await session.ask('update store_state set version = $1, pending = null, abandoned = $2::int8multirange', [
    version,
    rangesText(abandoned),
  ]);
  const inserted = session.ask(
    'insert into published_versions (version) values ($1) returning published_at::text',
    [version],
  );
  const [[row]] = await Promise.all([inserted, noteOrigin(session)]);
  return { version, at: row![0] as string };
}

/** True if a commit was done. */
export async function wasPublished(session: Session, { version, at }: Publication): Promise<boolean> {
  const found = await session.ask(
    'select 1 from published_versions where version = $1 and published_at = $2::timestamptz',
    [version, at],
  );
  return found.length > 0;
}

/** Short readers have ended after so long. Long ones hold a lock. */
const KEPT_SECONDS = 60;

/** Blocks that are removed at once. */
const REMOVED_AT_ONCE = 10_000;

/** Removes the versions of blocks that were replaced a minute ago, unless a long reader may need them. */
export async function removeReplaced(session: Session): Promise<void> {
  const [[old]] = (await session.ask(
    `select max(version) from published_versions
      where published_at < clock_timestamp() - make_interval(secs => $1) and exists (select 1 from replaced_blocks)`,
    [KEPT_SECONDS],
  )) as [[number | null]];
  if (old === null) return;
  const [[isLocked]] = (await session.ask(`select pg_try_advisory_lock(${lockOf('replaced')})::int`)) as [
    [number],
  ];
  if (isLocked !== 1) return;
  try {
    while ((await removeSome(session, old)) === REMOVED_AT_ONCE);
    await session.ask('delete from published_versions where version >= 0 and version < $1', [old]);
  } finally {
    // Inside a transaction that failed no lock is given back.
    await session.ask('rollback');
    await session.ask(`select pg_advisory_unlock(${lockOf('replaced')})`);
  }
}

const takeReplaced = `delete from replaced_blocks where (replaced_by, series_id, bucket, version) in
  (select replaced_by, series_id, bucket, version from replaced_blocks where replaced_by <= $1 limit $2)
  returning series_id, bucket, version`;

/** Removes some of the versions that were replaced up to a version, and gives their number. */
async function removeSome(session: Session, old: number): Promise<number> {
  await session.ask('begin');
  const taken = await session.ask(takeReplaced, [old, REMOVED_AT_ONCE]);
  await removeBlocks(session, taken as number[][]);
  await session.ask('commit');
  return taken.length;
}

/** Keeps replaced versions while a long read goes on: until the end of its transaction. */
export const keepReplaced = (session: Session): Promise<unknown> =>
  session.ask(`select pg_advisory_xact_lock_shared(${lockOf('replaced')})`);
