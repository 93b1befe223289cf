// Reads a whole SQLite file and finds what is damaged in it: each row, each block, each index beside its
// table.
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { damageOf, type FoundBlock } from '../checked-blocks.ts';
import { isWhole, rawRow, rowDamage, rowFormOf } from '../checked-rows.ts';
import type { Damage, ScrubStep } from '../damage.ts';
import { storeLimits } from '../limits.ts';
import { ROW_CHECK } from '../row-check.ts';
import type { Dataset } from '../schema/dataset.ts';
import { controlDatasets, dataDatasets } from '../schema/index.ts';
import { type Cell, Database, openConnection } from './connection.ts';
import { controlPathOf } from './control.ts';
import { troubleOf } from './problems.ts';
import { BLOCKS, groupProblems, hasTable, schemaProblem, sumProblems, sumsOf } from './sums.ts';

const { scrubRowsPerStep, scrubBlocksPerStep, findingsPerTableMax } = storeLimits;

/** Reads everything in the files of the store at `path`. */
export async function* scrubSqlite(path: string): AsyncGenerator<ScrubStep> {
  using data = new Database(path, 'read', 'store');
  yield headerStep(path);
  yield* scrub(data, dataDatasets);
  const control = controlPathOf(path);
  if (!existsSync(control)) return;
  using keys = new Database(control, 'read', 'control');
  yield headerStep(control);
  yield* scrub(keys, controlDatasets);
}

const SQLITE_READONLY = 8;

function mayWrite(path: string): boolean {
  try {
    for (const one of [path, dirname(path)]) accessSync(one, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Begins a write and takes it back: a flipped bit of the header of a file can forbid that, and reads do not
 * show it. Gives the damage in words; null where there is none, or another process is writing.
 */
function headerProblem(path: string): string | null {
  if (!mayWrite(path)) return null;
  const connection = openConnection(path, 'write');
  try {
    connection.exec('pragma busy_timeout = 0; begin immediate; rollback');
    return null;
  } catch (error) {
    const { errcode = 0 } = error as { errcode?: number };
    return (errcode & 0xff) === SQLITE_READONLY ? 'its header says that it cannot be written' : null;
  } finally {
    connection.close();
  }
}

function headerStep(path: string): ScrubStep {
  const problem = headerProblem(path);
  return { table: 'sqlite_schema', damage: problem === null ? [] : [schemaDamage(problem)] };
}

/** Reads everything in a file: its tables, then its blocks where it has some. */
export function* scrub(database: Database, tables: readonly Dataset[]): Generator<ScrubStep> {
  // An older layout has no checksums of rows.
  if (!hasTable(database, 'row_sums')) return yield { table: '', damage: structureOf(database, '') };
  const problem = tried('sqlite_schema', () => schemaProblem(database));
  // Another schema has other columns: nothing more can be read by it.
  if (problem !== null) return yield { table: 'sqlite_schema', damage: [schemaDamage(problem)] };
  // Named so, the check covers the list of free pages too (sqlite.org/pragma.html#pragma_integrity_check).
  yield { table: 'sqlite_schema', damage: structureOf(database, 'sqlite_schema') };
  for (const table of tables) {
    yield { table: table.name, damage: structureOf(database, table.name) };
    yield* rowSteps(database, table);
  }
  if (!hasTable(database, BLOCKS)) return;
  yield { table: BLOCKS, damage: structureOf(database, BLOCKS) };
  yield* blockSteps(database);
}

const schemaDamage = (problem: string | Damage): Damage =>
  typeof problem === 'string' ? { dataset: null, place: 'the store', problem } : problem;

/**
 * Finds problems in the pages of a table and its indexes, of all without a name: entries lost, in another
 * order, of other values.
 */
export function structureOf(database: Database, table: string): Damage[] {
  const isTable = table !== '' && table !== 'sqlite_schema';
  const compared = isTable ? [sumProblems, groupProblems] : [];
  return [integrityProblems, ...compared]
    .flatMap((problemsOf) => {
      const found = tried(table, () => problemsOf(database, table));
      return Array.isArray(found) ? found : [found.problem];
    })
    .slice(0, findingsPerTableMax)
    .map((problem) => ({ dataset: table, place: 'its table or an index', problem }));
}

/** What SQLite's own check says of a table and of the sums of its groups. */
function integrityProblems(database: Database, table: string): string[] {
  const named = [table, sumsOf(table)].filter((name) => name === table || hasTable(database, name));
  return named
    .flatMap((name) => database.lists(`pragma integrity_check${name === '' ? '' : `('${name}')`}`, []))
    .map(([words]) => String(words))
    .filter((words) => words !== 'ok');
}

/** The result of a read, or the damage because of which there is none. */
function tried<T>(table: string, read: () => T): T | Damage {
  try {
    return read();
  } catch (error) {
    if (troubleOf(error) !== 'damaged') throw error;
    return { dataset: table, place: 'a page of its table or indexes', problem: (error as Error).message };
  }
}

function* rowSteps(database: Database, table: Dataset): Generator<ScrubStep> {
  const form = rowFormOf(table);
  // A table in the order of its rows' arrival is read in that order: by its key each row would be elsewhere.
  const order = table.keptAsTheyCome ? ['rowid'] : table.key;
  const [key, marks] = [order.join(), order.map(() => '?').join()];
  const select = (where: string): string =>
    `select ${[...form.names, ROW_CHECK, ...order].join()} from ${table.name} ${where} order by ${key} limit ${scrubRowsPerStep}`;
  let after: readonly Cell[] | null = null;
  for (;;) {
    const sql: string = select(after === null ? '' : `where (${key}) > (${marks})`);
    const found: Cell[][] | Damage = tried(table.name, () => database.lists(sql, after ?? []));
    if (!Array.isArray(found)) return yield { table: table.name, damage: [found] };
    const damage = found
      .filter((cells) => !isWhole(form, cells))
      .map((cells) => rowDamage(table, rawRow(form, cells), 'its checksum does not match'));
    yield { table: table.name, damage };
    if (found.length < scrubRowsPerStep) return;
    after = found.at(-1)!.slice(form.names.length + 1);
  }
}

function* blockSteps(database: Database): Generator<ScrubStep> {
  const sql = `select rowid as id, series_id as seriesId, bucket, run_id as runId, bytes, ${ROW_CHECK} as storedCheck
    from ${BLOCKS} where rowid > ? order by rowid limit ${scrubBlocksPerStep}`;
  for (let after = 0; ; ) {
    const read = after;
    const found = tried(BLOCKS, () => database.all(sql, [read])) as
      | (FoundBlock & { readonly id: number; readonly seriesId: number })[]
      | Damage;
    if (!Array.isArray(found)) return yield { table: BLOCKS, damage: [found] };
    yield { table: BLOCKS, damage: found.flatMap((block) => damageOf(block.seriesId, block)) };
    const last = found.at(-1);
    if (last === undefined || last.id <= after) return;
    after = last.id;
  }
}
