// Which version of a store is published, and how a writer publishes the next one: whole files at once, also
// where blocks commit apart, and where the connection is lost meanwhile.
import { setTimeout as sleep } from 'node:timers/promises';
import { storeLimits } from '../limits.ts';
import { isAway, type OnWait, StoreUnavailable } from '../store.ts';
import type { Connection } from './connection.ts';
import { SentArray, type Session } from './session.ts';

const { lostOutcomeMs, lostPauseMs, publishedUsedMs } = storeLimits;

/** Versions from one to another, the latter excluded. */
type Range = { readonly from: number; readonly to: number };

/** Versions up to one count, without those whose writer was cut off. */
export type Versions = { readonly version: number; readonly abandoned: readonly Range[] };

/** The published versions, as one server has them. */
type Published = Versions & {
  /** The version of the data (docs/decisions/0029), which answers and caches go by. */
  readonly dataVersion: number;
  /** As `Session.server`. */
  readonly server: number;
  /** The table that they were read from: a restore makes another. */
  readonly table: number;
};

/** Published versions, and what names the data that they are of. */
export type Identified = Published & { readonly id: string };

/** Ranges as PostgreSQL writes and reads them: `{[3,5),[9,10)}`. */
export const rangesText = (ranges: readonly Range[]): string =>
  `{${ranges.map(({ from, to }) => `[${from},${to})`).join()}}`;

const rangesOf = (text: string): Range[] =>
  [...text.matchAll(/\[(\d+),(\d+)\)/g)].map(([, from, to]) => ({ from: Number(from), to: Number(to) }));

const stateText = `select version, abandoned::text,
  coalesce((select value from counters where name = 'data_version'), 0), tableoid::bigint from store_state`;

/** The published version, that of the data, and whose they are. */
export async function readPublished(session: Session): Promise<Published> {
  const [[version, abandoned, dataVersion, table]] = (await session.ask(stateText)) as [
    [number, string, number, number],
  ];
  return { version, abandoned: rangesOf(abandoned), dataVersion, server: session.server, table };
}

/**
 * Names the data that published versions are of. Another run of a server may have other data, as may a table
 * that was made anew. In one table of one run versions only rise; where they went back, somebody has put
 * older rows into it.
 */
export class DataNames {
  #newest: Published | null = null;
  #timesBack = 0;

  /** The published version as a session sees it, with the name of its data. */
  async identify(session: Session): Promise<Identified> {
    // What others were told before the question was asked is in the answer.
    const before = this.#newest;
    const found = await readPublished(session);
    if (before === null || !isSameTable(before, found)) this.#newest = found;
    else if (found.version < before.version || found.dataVersion < before.dataVersion) {
      this.#newest = found;
      this.#timesBack++;
    } else if (found.version > this.#newest!.version) this.#newest = found;
    return { ...found, id: `${found.server} ${found.table} ${this.#timesBack}` };
  }
}

const isSameTable = (one: Published, other: Published): boolean =>
  one.server === other.server && one.table === other.table;

/**
 * The question of one process. Those who ask while it is under way share the next one: no answer is older
 * than its asking.
 */
export class StateQuestion {
  readonly #ask: () => Promise<Identified>;
  #underWay: Promise<Identified> | null = null;
  #next: Promise<Identified> | null = null;
  /** The last answer, and when it was asked for. */
  #told: { readonly published: Identified; readonly askedMs: number } | null = null;

  constructor(ask: () => Promise<Identified>) {
    this.#ask = ask;
  }

  /**
   * The answer of a moment ago; null without one. Whoever uses it asks as well, and compares. Every block of
   * that version is still there, because replaced ones are kept for longer.
   */
  get lately(): Identified | null {
    if (this.#told === null || performance.now() - this.#told.askedMs > publishedUsedMs) return null;
    return this.#told.published;
  }

  /** The published version at this moment or a later one. @throws StoreUnavailable */
  now(): Promise<Identified> {
    if (this.#underWay === null) return this.#send();
    if (this.#next === null) {
      // Where the server does not answer, nobody waits for it twice: these fail with those before them.
      this.#next = this.#underWay.then(() => this.#send());
      this.#next.catch(() => undefined);
    }
    return this.#next;
  }

  #send(): Promise<Identified> {
    this.#next = null;
    const askedMs = performance.now();
    const answer = this.#ask().then(
      (published) => {
        this.#underWay = null;
        this.#told = { published, askedMs };
        return published;
      },
      (error: unknown) => {
        this.#underWay = null;
        this.#next = null;
        throw error;
      },
    );
    answer.catch(() => undefined);
    this.#underWay = answer;
    return answer;
  }
}

const numbers = { layout: 1, write: 2, control: 3, replaced: 4, copied: 5 } as const;

/**
 * The two numbers of a lock, for the functions `pg_advisory_…`. Each is of the schema that the session
 * works in, so that stores of one database do not wait for each other.
 */
export const lockOf = (name: keyof typeof numbers): string =>
  `hashtext('bourse.' || current_schema()), ${numbers[name]}`;

/** Waits until nobody else writes. `onWait` is called where somebody does. */
export async function lockWrites(session: Session, onWait: OnWait): Promise<void> {
  const [[isLocked]] = (await session.ask(`select pg_try_advisory_lock(${lockOf('write')})::int`)) as [
    [number],
  ];
  if (isLocked === 1) return;
  onWait(null);
  await session.ask(`select pg_advisory_lock(${lockOf('write')})`);
}

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

/** Gives a write up of which no block is left: its versions are published, with nothing in them. */
const passOver = (session: Session, version: number): Promise<unknown> =>
  session.ask('update store_state set version = $1, pending = null where pending = $1', [version]);

/**
 * Gives a write up of which blocks may be left, or may still arrive: its versions are those after the
 * published one. Where its blocks cannot be removed now, as where a node is away, they stay those of a writer
 * that was cut off: the next one removes them.
 */
async function abandonWrite(session: Session): Promise<void> {
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

/** A column of numbers of some rows. */
export function numbersOf<K extends PropertyKey>(
  rows: readonly { readonly [key in K]: number }[],
  column: K,
): SentArray {
  const numbers = rows.map((row) => row[column]);
  return new SentArray('int8', numbers);
}

/** Keys of blocks as columns: series, buckets and versions. */
export const keyColumns = (keys: readonly (readonly number[])[]): SentArray[] =>
  [0, 1, 2].map((at) => numbersOf(keys, at));

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
async function originOf(session: Session): Promise<Origin> {
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
type Publication = { readonly version: number; readonly at: string };

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
async function wasPublished(session: Session, { version, at }: Publication): Promise<boolean> {
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
async function removeReplaced(session: Session): Promise<void> {
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
    await session.ask(`select pg_advisory_unlock(${lockOf('replaced')})`);
  }
}

const takeReplaced = `delete from replaced_blocks where (replaced_by, series_id, bucket, version) in
  (select replaced_by, series_id, bucket, version from replaced_blocks where replaced_by <= $1 limit $2)
  returning series_id, bucket, version`;

/** Removes some of the versions that were replaced up to a version, and gives their number. */
const removeSome = (session: Session, old: number): Promise<number> =>
  session.transaction(async () => {
    const taken = await session.ask(takeReplaced, [old, REMOVED_AT_ONCE]);
    await removeBlocks(session, taken as number[][]);
    return taken.length;
  });

/** Keeps replaced versions while a long read goes on: until the end of its transaction. */
export const keepReplaced = (session: Session): Promise<unknown> =>
  session.ask(`select pg_advisory_xact_lock_shared(${lockOf('replaced')})`);

/** A process of the server; its number alone is used again. */
type ServerProcess = readonly [pid: number, startedAt: string];

/** The process that runs the statements of a session. */
async function processOf(session: Session): Promise<ServerProcess> {
  const [found] = await session.ask(
    'select pid, backend_start::text from pg_stat_activity where pid = pg_backend_pid()',
  );
  return found as unknown as ServerProcess;
}

/**
 * Ends a process that still has not noticed the loss of its connection: its commit may be under way, or never
 * begin.
 */
const endText = `select pg_terminate_backend(pid)::int from pg_stat_activity
  where pid = $1 and backend_start = $2::timestamptz`;

/** Nobody can tell in time whether a write was published: its blocks stay. */
class UnknownCommit extends StoreUnavailable {}

/** True if a version was published by a process whose connection was lost. @throws UnknownCommit */
async function wasPublishedBefore(
  connection: Connection,
  process: ServerProcess,
  publication: Publication,
): Promise<boolean> {
  const over = sleep(lostOutcomeMs, null, { ref: false });
  const endMs = performance.now() + lostOutcomeMs;
  const ask = async (): Promise<boolean | null> => {
    for (; performance.now() < endMs; await sleep(lostPauseMs)) {
      try {
        const session = await connection.session();
        if ((await session.ask(endText, process)).length === 0)
          return await wasPublished(session, publication);
      } catch (error) {
        if (!isAway(error)) throw error;
      }
    }
    return null;
  };
  const found = await Promise.race([ask(), over]);
  if (found !== null) return found;
  throw new UnknownCommit(
    `the connection to PostgreSQL was lost while a write was being published, and for ${lostOutcomeMs / 1_000} seconds no server could say whether it was published. Run the same command again: if it was, that changes nothing.`,
  );
}

/**
 * Commits the transaction of a session that publishes a version. Where the connection is lost at that moment,
 * another one tells whether it was published. @throws UnknownCommit
 */
async function commitPublished(
  session: Session,
  process: ServerProcess,
  publication: Publication,
  other: Connection,
): Promise<void> {
  try {
    await session.commit();
  } catch (error) {
    if (session.isOpen || !(await wasPublishedBefore(other, process, publication))) throw error;
  }
}

/** The writer of one version of the data. */
type VersionWriter = {
  start(origin: Origin): Promise<void>;
  /** Sends what waits, and gives the versions to publish. */
  end(): Promise<Versions>;
  /** Removes the blocks of a write that failed. Gives its last version where none is left; else null. */
  undo(): Promise<number | null>;
};

/** A write: `begin` makes its writer once nobody else writes, and `work` writes by it. */
type Write<W extends VersionWriter, T> = {
  readonly begin: () => Promise<W>;
  readonly work: (writer: W) => Promise<T>;
  readonly onWait: OnWait;
};

/**
 * Does a write, and publishes what it wrote; one that fails leaves nothing. `other` is asked where the
 * connection of `rows` is lost at its end. @throws UnknownCommit
 */
export async function writePublished<W extends VersionWriter, T>(
  rows: Session,
  other: Connection,
  { begin, work, onWait }: Write<W, T>,
): Promise<T> {
  await lockWrites(rows, onWait);
  try {
    await removeReplaced(rows);
    const writer = await begin();
    const [process, , origin] = await Promise.all([processOf(rows), rows.ask('begin'), originOf(rows)]);
    try {
      await writer.start(origin);
      const result = await work(writer);
      const publication = await publish(rows, await writer.end());
      await commitPublished(rows, process, publication, other);
      return result;
    } catch (error) {
      if (!(error instanceof UnknownCommit)) await giveUp(writer, rows);
      throw error;
    }
  } finally {
    // The lock of a lost connection is gone with it. A session that cannot give it back is ended.
    if (rows.isOpen)
      await rows
        .ask('rollback')
        .then(() => rows.ask(`select pg_advisory_unlock(${lockOf('write')})`))
        .catch((error: Error) => rows.destroy(error));
  }
}

/**
 * Ends a write that failed, and removes its blocks. The next writer meets what cannot be given up now, and
 * says what is wrong.
 */
async function giveUp(writer: VersionWriter, rows: Session): Promise<void> {
  const undone = await writer.undo();
  if (!rows.isOpen) return;
  await rows.ask('rollback');
  const givenUp = undone === null ? abandonWrite(rows) : passOver(rows, undone);
  await givenUp.catch(() => undefined);
}
