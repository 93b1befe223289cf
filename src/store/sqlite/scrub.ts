// Reads a whole SQLite file and finds what is damaged in it: each row, each block, each index beside its
// table.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { closedAmong } from '../../base/space.ts';
import { damageOf, damageOfRows, ROW_CHECK, rowFormOf, type StoredCell } from '../checked-rows.ts';
import type { Damage, ScrubStep } from '../damage.ts';
import { storeLimits } from '../limits.ts';
import type { Dataset } from '../schema/dataset.ts';
import { dataDatasets } from '../schema/index.ts';
import { controlDatasets } from '../schema/internal.ts';
import { Database, openConnection } from './connection.ts';
import { controlPathOf } from './control.ts';
import { tried } from './files.ts';
import { BLOCKS, hasTable, schemaProblem, structureOf } from './sums.ts';

const { scrubRowsPerStep, scrubBlocksPerStep } = storeLimits;

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

/**
 * Begins a write and takes it back: a flipped bit of the header of a file can forbid that, and reads do not
 * show it. No damage where another process is writing.
 */
function headerStep(path: string): ScrubStep {
  const step = { table: 'sqlite_schema', damage: [] };
  if (closedAmong([path, dirname(path)], null) !== null) return step;
  const connection = openConnection(path, 'write');
  try {
    connection.exec('pragma busy_timeout = 0; begin immediate; rollback');
    return step;
  } catch (error) {
    const { errcode = 0 } = error as { errcode?: number };
    if ((errcode & 0xff) !== SQLITE_READONLY) return step;
    return { ...step, damage: [schemaDamage('its header says that it cannot be written')] };
  } finally {
    connection.close();
  }
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

function* rowSteps(database: Database, table: Dataset): Generator<ScrubStep> {
  const { names } = rowFormOf(table);
  // A table in the order of its rows' arrival is read in that order: by its key each row would be elsewhere.
  const order = table.keptAsTheyCome ? ['rowid'] : table.key;
  const [key, marks] = [order.join(), order.map(() => '?').join()];
  const select = (where: string): string =>
    `select ${[...names, ROW_CHECK, ...order].join()} from ${table.name} ${where} order by ${key} limit ${scrubRowsPerStep}`;
  let after: readonly StoredCell[] | null = null;
  for (;;) {
    const sql: string = select(after === null ? '' : `where (${key}) > (${marks})`);
    const found: StoredCell[][] | Damage = tried(table.name, () => database.rows(sql, after ?? []));
    if (!Array.isArray(found)) return yield { table: table.name, damage: [found] };
    yield { table: table.name, damage: damageOfRows(table, found) };
    if (found.length < scrubRowsPerStep) return;
    after = found.at(-1)!.slice(names.length + 1);
  }
}

type BlockCells = [
  ...[id: number, seriesId: number, bucket: number, runId: number],
  ...[bytes: Uint8Array, storedCheck: number | null],
];

function* blockSteps(database: Database): Generator<ScrubStep> {
  const sql = `select rowid, series_id, bucket, run_id, bytes, ${ROW_CHECK}
    from ${BLOCKS} where rowid > ? order by rowid limit ${scrubBlocksPerStep}`;
  for (let after = 0; ; ) {
    const read = after;
    const found = tried(BLOCKS, () => database.rows(sql, [read]) as BlockCells[]);
    if (!Array.isArray(found)) return yield { table: BLOCKS, damage: [found] };
    const damage = found.flatMap(([, seriesId, bucket, runId, bytes, storedCheck]) =>
      damageOf(seriesId, { bucket, runId, bytes, storedCheck }),
    );
    yield { table: BLOCKS, damage };
    const last = found.at(-1)?.[0];
    if (last === undefined || last <= after) return;
    after = last;
  }
}
