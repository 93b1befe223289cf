// Which version of a store is published, and how a writer publishes the next one: whole files at once, also where blocks commit apart.
import { lockOf } from './locks.ts';
import type { Published, Range } from './published.ts';
import { SentArray } from './sent-array.ts';
import type { Session } from './session.ts';

const stateText = `select version, abandoned::text,
  coalesce((select value from counters where name = 'data_version'), 0) from store_state`;

/** The published version, and that of the data. */
export async function readPublished(session: Session): Promise<Published> {
  const [[version, abandoned, dataVersion]] = (await session.ask(stateText)) as [[number, string, number]];
  return { version, abandoned: rangesOf(abandoned), dataVersion };
}

/** Ranges as PostgreSQL writes them: `{[3,5),[9,10)}`. */
const rangesOf = (text: string): Range[] =>
  [...text.matchAll(/\[(\d+),(\d+)\)/g)].map(([, from, to]) => ({ from: Number(from), to: Number(to) }));

/** Names the data: the server, its history, and the table; a restore makes others. */
export async function readStoreId(session: Session): Promise<string> {
  const [[id]] = (await session.ask(
    `select concat_ws(' ', system_identifier, (select timeline_id from pg_control_checkpoint()), 'store_state'::regclass::oid)
      from pg_control_system()`,
  )) as [[string]];
  return id;
}

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
 * Begins a version, which no block has yet. What a writer that was cut off left is removed; its numbers are never used again: its blocks
 * may still arrive.
 */
export async function beginVersion(session: Session): Promise<Published> {
  const [[version, abandoned, cutOff, published]] = (await session.ask(
    `update store_state as s set
      pending = greatest(s.version, s.pending, upper(s.abandoned) - 1) + 1,
      abandoned = case when s.pending is null then s.abandoned
        else s.abandoned + int8multirange(int8range(s.version + 1, s.pending, '[]')) end
      from (select pending from store_state for update) as before
      returning s.pending, s.abandoned::text, before.pending, s.version`,
  )) as [[number, string, number | null, number]];
  if (cutOff !== null) await removeVersions(session, published + 1, cutOff);
  return { version, abandoned: rangesOf(abandoned), dataVersion: 0 };
}

/** Says that blocks of a further version of the same write follow. */
export const extendPending = (session: Session, version: number): Promise<unknown> =>
  session.ask('update store_state set pending = $1', [version]);

/** Gives a write up that failed: its versions are those after the published one. */
export async function abandonWrite(session: Session): Promise<void> {
  const [row] = await session.ask(
    `update store_state as s set pending = null,
      abandoned = s.abandoned + int8multirange(int8range(s.version + 1, s.pending, '[]'))
      from (select pending from store_state for update) as before
      where s.pending is not null returning s.version + 1, before.pending`,
  );
  if (row !== undefined) await removeVersions(session, row[0] as number, row[1] as number);
}

async function removeVersions(session: Session, from: number, to: number): Promise<void> {
  await session.ask('delete from bar_blocks where version between $1 and $2', [from, to]);
}

/** Publishes a version, in the transaction of its rows. */
export async function publish(session: Session, { version, abandoned }: Published): Promise<void> {
  const ranges = `{${abandoned.map(({ from, to }) => `[${from},${to})`).join()}}`;
  await session.ask('update store_state set version = $1, pending = null, abandoned = $2::int8multirange', [
    version,
    ranges,
  ]);
  await session.ask('insert into published_versions (version) values ($1)', [version]);
}

/** Whether a version was published lately. */
export const wasPublished = async (session: Session, version: number): Promise<boolean> =>
  (await session.ask('select 1 from published_versions where version = $1', [version])).length > 0;

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
    await session.ask('delete from published_versions where version < $1', [old]);
  } finally {
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
  await session.ask(
    `delete from bar_blocks t using unnest($1::bigint[], $2::bigint[], $3::bigint[]) as u(a, b, c)
      where t.series_id = u.a and t.bucket = u.b and t.version = u.c`,
    [0, 1, 2].map(
      (at) =>
        new SentArray(
          'int8',
          taken.map((row) => row[at] as number),
        ),
    ),
  );
  await session.ask('commit');
  return taken.length;
}

/** Keeps replaced versions while a long read goes on: until the end of its transaction. */
export const keepReplaced = (session: Session): Promise<unknown> =>
  session.ask(`select pg_advisory_xact_lock_shared(${lockOf('replaced')})`);
