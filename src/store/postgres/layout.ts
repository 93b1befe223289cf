// The tables of a store in PostgreSQL: made, and brought to the newest layout, under a lock
// (docs/decisions/0021).
import { raiseForEverything } from '../changes.ts';
import { ROW_CHECK } from '../checked-rows.ts';
import { refoldInstrumentTerms } from '../instrument-terms.ts';
import { controlHistory, layoutRefusal, newestLayout, stepsFrom, storeHistory } from '../migrations/index.ts';
import { type Mode, noStoreAt, OlderLayout, StoreUnusable, type Tell } from '../store.ts';
import { movedTables } from '../stored-rows.ts';
import { addressWords, type PostgresAddress } from './address.ts';
import { distributeBlocks } from './citus.ts';
import { beginVersion, lockOf, publish } from './publish.ts';
import { PostgresRows, postgresCompiler } from './rows.ts';
import type { Session } from './session.ts';

/**
 * Blocks have versions: a read takes the newest of each bucket up to the published one. Null bytes are a
 * removed block. Blocks are compressed already, so they are stored as they are. The narrow index finds the
 * blocks of a version that was abandoned.
 */
const ownTables = [
  `create table bar_blocks (series_id bigint not null, bucket bigint not null, version bigint not null, run_id bigint not null,
    bytes bytea, ${ROW_CHECK} integer, constraint bar_blocks_key primary key (series_id, bucket, version))`,
  'alter table bar_blocks alter bytes set storage external',
  'create index bar_blocks_by_version on bar_blocks using brin (version)',
  // Versions of blocks that a later version replaced.
  `create table replaced_blocks (replaced_by bigint not null, series_id bigint not null, bucket bigint not null, version bigint not null,
    constraint replaced_blocks_key primary key (replaced_by, series_id, bucket, version))`,
  `create table published_versions (version bigint primary key, published_at timestamptz not null default clock_timestamp())`,
  // One row: the published version, the one that is being written, and those whose writer was cut off.
  `create table store_state (id int primary key check (id = 1), version bigint not null, pending bigint, abandoned int8multirange not null,
    layout int not null, control_layout int not null)`,
  `insert into store_state values (1, 1, null, '{}', 0, 0)`,
];

type Layouts = { readonly store: number; readonly control: number };

const newest: Layouts = { store: newestLayout(storeHistory), control: newestLayout(controlHistory) };

const nothing: Layouts = { store: 0, control: 0 };

/** The layouts of the tables that are there; null where there are none. */
export async function layoutsOf(session: Session): Promise<Layouts | null> {
  const [[table]] = (await session.ask("select to_regclass('store_state')::text")) as [[string | null]];
  if (table === null) return null;
  const [[store, control]] = (await session.ask('select layout, control_layout from store_state')) as [
    [number, number],
  ];
  return { store, control };
}

/** Refuses tables that this Bourse does not know, or not yet; in mode `write` makes or migrates them. */
export async function requireSchema(
  session: Session,
  address: PostgresAddress,
  mode: Mode,
  tell: Tell,
): Promise<void> {
  const found = await layoutsOf(session);
  if (found !== null) requireKnown(found, address);
  if (found !== null && found.store === newest.store && found.control === newest.control) return;
  if (mode === 'write') return migrate(session, address, tell);
  if (found === null) await requireNoCopy(session, address);
  if (found === null) throw new StoreUnusable(noStoreAt(addressWords(address)));
  throw new OlderLayout(
    `${addressWords(address)} has an older layout: run bourse serve or bourse import once to update it`,
  );
}

function requireKnown({ store, control }: Layouts, address: PostgresAddress): void {
  const refusal = layoutRefusal(storeHistory, store) ?? layoutRefusal(controlHistory, control);
  if (refusal !== null) throw new StoreUnusable(`${addressWords(address)} ${refusal}`);
}

/** postgresql.org/docs/15/errcodes-appendix.html */
const INSUFFICIENT_PRIVILEGE = '42501';

/** Makes the schema of an address where there is none. @throws StoreUnusable where this user may not */
export async function makeSchema(session: Session, address: PostgresAddress): Promise<void> {
  const { schema, user } = address;
  // One that is there needs no right to make one.
  if ((await session.ask('select 1 where to_regnamespace($1) is not null', [schema])).length > 0) return;
  // Its name was checked. Two processes may make it at once.
  await session.ask(`create schema if not exists ${schema}`).catch((error: { code?: string }) => {
    if (error.code === INSUFFICIENT_PRIVILEGE)
      throw new StoreUnusable(
        `${addressWords(address)}: this user may not make the schema ${schema}; as an owner of the database run: create schema ${schema} authorization "${user}"`,
        { cause: error },
      );
    if (error.code !== '23505') throw error;
  });
}

async function migrate(session: Session, address: PostgresAddress, tell: Tell): Promise<void> {
  await makeSchema(session, address);
  await inLayoutTransaction(session, async () => {
    const found = await layoutsOf(session);
    if (found === null) {
      await requireNoCopy(session, address);
      return makeTables(session);
    }
    requireKnown(found, address);
    if (found.store < newest.store || found.control < newest.control)
      await update(session, found, addressWords(address), tell);
  });
}

const inLayoutTransaction = (session: Session, work: () => Promise<void>): Promise<void> =>
  session.transaction(async () => {
    await session.ask(`select pg_advisory_xact_lock(${lockOf('layout')})`);
    await work();
  });

/**
 * Brings tables up to date, those of data when nobody else writes: services that read them may be running,
 * with what they have cached.
 */
async function update(session: Session, from: Layouts, name: string, tell: Tell): Promise<void> {
  if (from.store === newest.store) {
    tell(`updating the keys of ${name} from layout ${from.control} to ${newest.control}`);
    return runSteps(session, from);
  }
  const [[isFree]] = (await session.ask(`select pg_try_advisory_xact_lock(${lockOf('write')})::int`)) as [
    [number],
  ];
  if (isFree !== 1) {
    tell(`waiting until another process has written ${name}`);
    await session.ask(`select pg_advisory_xact_lock(${lockOf('write')})`);
  }
  tell(`updating ${name} from layout ${from.store} to ${newest.store}`);
  await runSteps(session, from);
  const rows = new PostgresRows(async () => session);
  await raiseForEverything(rows);
  await rows.sendAll();
  await publish(session, await beginVersion(session));
}

/** Runs the steps that tables lack. */
async function runSteps(session: Session, from: Layouts): Promise<void> {
  for (const [history, layout] of [
    [storeHistory, from.store],
    [controlHistory, from.control],
  ] as const) {
    const steps = stepsFrom(history, layout);
    const rows = new PostgresRows(async () => session);
    for (const step of steps) {
      const move = await step.moves?.(movedTables(rows));
      await Promise.all(
        postgresCompiler.step(step, history.tables).map((statement) => session.ask(statement)),
      );
      await move?.();
      await rows.sendAll();
    }
    if (steps.some((step) => step.refoldsTerms)) await refoldInstrumentTerms(rows);
    await rows.sendAll();
  }
  await session.ask('update store_state set layout = $1, control_layout = $2', [
    newest.store,
    newest.control,
  ]);
}

/**
 * The name of the table of the state until a copy into the store is finished: without that table there is no
 * store.
 */
const UNFINISHED = 'unfinished_copy';

/** True if there are tables of a copy that is not finished. */
export const isCopyBegun = async (session: Session): Promise<boolean> =>
  (await session.ask(`select 1 where to_regclass('${UNFINISHED}') is not null`)).length > 0;

/** Refuses the tables of a copy that is not finished. */
async function requireNoCopy(session: Session, address: PostgresAddress): Promise<void> {
  if (await isCopyBegun(session))
    throw new StoreUnusable(
      `the copy into ${addressWords(address)} is not finished: run the same bourse copy again; to give it up, drop its schema ${address.schema}`,
    );
}

/** Makes the tables of a copy, which are no store yet; true where an earlier copy made them. */
export async function beginCopyTables(session: Session, address: PostgresAddress): Promise<boolean> {
  if (!(await isCopyBegun(session))) {
    await inLayoutTransaction(session, async () => {
      await makeTables(session);
      await session.ask(`alter table store_state rename to ${UNFINISHED}`);
    });
    return false;
  }
  const [[store, control]] = (await session.ask(`select layout, control_layout from ${UNFINISHED}`)) as [
    [number, number],
  ];
  if (store === newest.store && control === newest.control) return true;
  throw new StoreUnusable(
    `another version of Bourse began the copy into ${addressWords(address)}: finish it with that one, or drop its schema ${address.schema}`,
  );
}

/** Makes the tables of a copy a store, at once. */
export const finishCopyTables = (session: Session): Promise<unknown> =>
  session.ask(`alter table ${UNFINISHED} rename to store_state`);

async function makeTables(session: Session): Promise<void> {
  await Promise.all(ownTables.map((statement) => session.ask(statement)));
  await runSteps(session, nothing);
  await distributeBlocks(session);
}
