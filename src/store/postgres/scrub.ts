// Reads a whole store in PostgreSQL and finds what is damaged in it: each row and block by its checksum, each
// index beside its table.

import { damageOf, damageOfRows, ROW_CHECK, rowFormOf, type StoredCell } from '../checked-rows.ts';
import type { ScrubStep } from '../damage.ts';
import { storeLimits } from '../limits.ts';
import type { Dataset } from '../schema/dataset.ts';
import { dataDatasets } from '../schema/index.ts';
import { controlDatasets } from '../schema/internal.ts';
import type { PostgresAddress } from './address.ts';
import { connect, settingsOf } from './connection.ts';
import { rangesText, readPublished, type Versions } from './publish.ts';
import { PostgresProblem, type Session } from './session.ts';

const { scrubRowsPerStep, scrubBlocksPerStep } = storeLimits;

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join();

/** Reads everything in the store at an address. */
export async function* scrubPostgres(address: PostgresAddress): AsyncGenerator<ScrubStep> {
  const session = await connect(address, settingsOf.read);
  try {
    for (const table of [...dataDatasets, ...controlDatasets]) yield* rowSteps(session, table);
    yield* blockSteps(session);
    yield* indexSteps(session);
  } finally {
    session.close();
  }
}

async function* rowSteps(session: Session, table: Dataset): AsyncGenerator<ScrubStep> {
  const { names } = rowFormOf(table);
  const { key } = table;
  const select = `select ${quoted([...names, ROW_CHECK])} from "${table.name}"`;
  const order = `order by ${quoted(key)} limit ${scrubRowsPerStep}`;
  const after = `where (${quoted(key)}) > (${key.map((_, at) => `$${at + 1}`).join()})`;
  for (let last: readonly StoredCell[] | null = null; ; ) {
    const found: StoredCell[][] =
      last === null
        ? await session.ask(`${select} ${order}`)
        : await session.ask(`${select} ${after} ${order}`, last);
    yield { table: table.name, damage: damageOfRows(table, found) };
    if (found.length < scrubRowsPerStep) return;
    const cells = found.at(-1)!;
    last = key.map((name) => cells[names.indexOf(name)]!);
  }
}

type Cells = [bucket: number, version: number, runId: number, bytes: Uint8Array, storedCheck: number];

/** Series by series: on Citus a read of many series would take a step's blocks from every shard. */
async function* blockSteps(session: Session): AsyncGenerator<ScrubStep> {
  const published = await readPublished(session);
  for (let series: number | null = null; ; ) {
    series = await nextSeries(session, series);
    if (series === null) return;
    yield* seriesSteps(session, series, published);
  }
}

async function nextSeries(session: Session, after: number | null): Promise<number | null> {
  const sql = 'select min(series_id) from bar_blocks where series_id > $1';
  const [[found]] = (await session.ask(sql, [after ?? Number.MIN_SAFE_INTEGER])) as [[number | null]];
  return found;
}

async function* seriesSteps(
  session: Session,
  seriesId: number,
  published: Versions,
): AsyncGenerator<ScrubStep> {
  const sql = `select bucket, version, run_id, bytes, row_check from bar_blocks
    where series_id = $1 and (bucket, version) > ($2, $3) and version <= $4 and bytes is not null
    and not version <@ $5::int8multirange order by bucket, version limit ${scrubBlocksPerStep}`;
  const abandoned = rangesText(published.abandoned);
  for (let after = [Number.MIN_SAFE_INTEGER, 0]; ; ) {
    const found = (await session.ask(sql, [seriesId, ...after, published.version, abandoned])) as Cells[];
    const damage = found.flatMap(([bucket, , runId, bytes, storedCheck]) =>
      damageOf(seriesId, { bucket, runId, bytes, storedCheck }),
    );
    yield { table: 'bars', damage };
    if (found.length < scrubBlocksPerStep) return;
    after = found.at(-1)!.slice(0, 2) as number[];
  }
}

/**
 * The function that compares an index with its table, of the extension amcheck in whatever schema that is.
 */
const CHECK = `select format('%I.%I', n.nspname, p.proname), has_function_privilege(p.oid, 'execute')::int, quote_ident(current_user)
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_depend d on d.objid = p.oid and d.deptype = 'e'
  join pg_extension e on e.oid = d.refobjid where e.extname = 'amcheck' and p.proname = 'bt_index_check' and p.pronargs = 2`;

/**
 * The function that compares indexes with their tables; or what a superuser has to do before this user can
 * call it.
 */
export async function indexCheckOf(session: Session): Promise<{ call: string } | { cure: string }> {
  const [found] = (await session.ask(CHECK)) as [string, number, string][];
  if (found === undefined) return { cure: 'create extension amcheck' };
  const [call, isAllowed, user] = found;
  return isAllowed === 1
    ? { call }
    : { cure: `grant execute on function ${call}(regclass, boolean) to ${user}` };
}

/** The check that is missing without the extension. */
export const UNCHECKED = 'indexes are not compared with their tables: rows lost by an index are missed';

/** Indexes of the tables of this schema. */
const INDEXES = `select c.oid::int8, c.relname::text, t.relname::text from pg_index i join pg_class c on c.oid = i.indexrelid
  join pg_class t on t.oid = i.indrelid join pg_am m on m.oid = c.relam
  where t.relnamespace = current_schema()::regnamespace and m.amname = 'btree' and i.indisvalid order by t.relname, c.relname`;

/**
 * An index is one step: the server's own check of it, beside its whole table, is one call
 * (postgresql.org/docs/15/amcheck.html).
 */
async function* indexSteps(session: Session): AsyncGenerator<ScrubStep> {
  const check = await indexCheckOf(session);
  if ('cure' in check)
    return yield {
      table: '',
      damage: [],
      unchecked: `${UNCHECKED}; as a superuser of the database run: ${check.cure}`,
    };
  const sql = `select ${check.call}($1::oid::regclass, true)`;
  for (const [id, index, dataset] of (await session.ask(INDEXES)) as [number, string, string][]) {
    const problem = await damageFoundBy(() => session.ask(sql, [id]));
    yield { table: dataset, damage: problem === null ? [] : [{ dataset, place: `index ${index}`, problem }] };
  }
}

/** Conditions of damage: of a page, and of an index (postgresql.org/docs/15/errcodes-appendix.html). */
const damaged: ReadonlySet<string> = new Set(['XX001', 'XX002']);

async function damageFoundBy(check: () => Promise<unknown>): Promise<string | null> {
  try {
    await check();
    return null;
  } catch (error) {
    if (!(error instanceof PostgresProblem && damaged.has(error.code))) throw error;
    return error.message;
  }
}
