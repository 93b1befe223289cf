// The checksum column of every table. A table without an index has the sum of its checksums too, so that a read notices a lost row.
import type { Dataset } from '../../datasets/dataset.ts';
import { rowFormOf } from '../checked-rows.ts';
import type { Table } from '../migrations/step.ts';
import { blockCheck, ROW_CHECK, rowCheck } from '../row-check.ts';
import type { StoredBlock } from '../store.ts';
import type { Cell, Database } from './database.ts';

/** A table with its column of checksums. */
export const withRowCheck = (table: Table): Table => ({
  ...table,
  columns: { ...table.columns, [ROW_CHECK]: { kind: 'integer', nullable: true } },
});

const sumsTable =
  'create table if not exists row_sums (name text primary key, rows integer not null, checks integer not null) without rowid';

/** Keeps the sums of a table, whatever statement changes its rows. */
const triggersOf = (name: string): string => `
  create trigger ${name}_added after insert on ${name} begin
    update row_sums set rows = rows + 1, checks = checks + coalesce(new.${ROW_CHECK}, 0) where name = '${name}';
  end;
  create trigger ${name}_changed after update on ${name} begin
    update row_sums set checks = checks - coalesce(old.${ROW_CHECK}, 0) + coalesce(new.${ROW_CHECK}, 0) where name = '${name}';
  end;
  create trigger ${name}_removed after delete on ${name} begin
    update row_sums set rows = rows - 1, checks = checks - coalesce(old.${ROW_CHECK}, 0) where name = '${name}';
  end;`;

/** The table of the blocks. */
export const BLOCKS = 'bar_blocks';

const ROWS_PER_READ = 500;
const BLOCKS_PER_READ = 64;

/** Ends the sums of a whole table: those of its groups tell the same. */
export function endSums(database: Database, name: string): void {
  for (const what of ['added', 'changed', 'removed']) database.exec(`drop trigger if exists ${name}_${what}`);
  database.run('delete from row_sums where name = ?', [name]);
}

/** Gives every table that has none yet its checksums, as part of a migration. */
export function checkRows(database: Database, tables: readonly Table[]): void {
  database.exec(sumsTable);
  for (const table of tables) {
    if (isChecked(database, table.name)) continue;
    database.exec(`alter table ${table.name} add column ${ROW_CHECK} integer`);
    fillRows(database, table);
    if (isAlone(table)) beginSums(database, table.name);
  }
  if (!hasTable(database, BLOCKS) || isChecked(database, BLOCKS)) return;
  database.exec(`alter table ${BLOCKS} add column ${ROW_CHECK} integer`);
  fillBlocks(database);
}

export const hasTable = (database: Database, name: string): boolean =>
  database.all('select 1 from sqlite_schema where name = ?', [name]).length > 0;

const isChecked = (database: Database, name: string): boolean =>
  database.all(`select 1 from pragma_table_info(?) where name = '${ROW_CHECK}'`, [name]).length > 0;

/** Whether a table has no index beside it that would miss a row, and no sums of groups either. */
const isAlone = ({ indexes = [], keptAsTheyCome, group }: Table): boolean =>
  indexes.length === 0 && keptAsTheyCome !== true && group === undefined;

function beginSums(database: Database, name: string): void {
  database.exec(
    `insert into row_sums select '${name}', count(*), coalesce(sum(${ROW_CHECK}), 0) from ${name}; ${triggersOf(name)}`,
  );
}

function fillRows(database: Database, table: Table): void {
  const { names, seeds } = rowFormOf(table as Dataset);
  const places = table.key.map((column) => names.indexOf(column));
  const [key, marks] = [table.key.join(), table.key.map(() => '?').join()];
  const select = (where: string): string =>
    `select ${names.join()} from ${table.name} ${where} order by ${key} limit ${ROWS_PER_READ}`;
  const update = `update ${table.name} set ${ROW_CHECK} = ? where (${key}) = (${marks})`;
  for (let found = database.lists(select(''), []); found.length > 0; ) {
    const keyOf = (cells: readonly Cell[]): Cell[] => places.map((at) => cells[at]!);
    for (const cells of found) database.run(update, [rowCheck(seeds, cells), ...keyOf(cells)]);
    found = database.lists(select(`where (${key}) > (${marks})`), keyOf(found.at(-1)!));
  }
}

function fillBlocks(database: Database): void {
  const next = `select rowid as id, series_id as seriesId, bucket, run_id as runId, bytes from ${BLOCKS} where rowid > ? order by rowid limit ${BLOCKS_PER_READ}`;
  const update = `update ${BLOCKS} set ${ROW_CHECK} = ? where rowid = ?`;
  for (let after = 0; ; ) {
    const found = database.all(next, [after]) as (StoredBlock & { id: number; seriesId: number })[];
    for (const block of found) database.run(update, [blockCheck(block.seriesId, block), block.id]);
    if (found.length === 0) return;
    after = found.at(-1)!.id;
  }
}

/** How a table's rows differ from those that were written; nothing where they do not, or where its indexes tell it. */
export function sumProblems(database: Database, name: string): string[] {
  const [sums] = database.all('select rows, checks from row_sums where name = ?', [name]);
  if (sums === undefined) return [];
  const found = database.all(
    `select count(*) as rows, coalesce(sum(${ROW_CHECK}), 0) as checks from ${name}`,
    [],
  )[0]!;
  const surplus = Number(found.rows) - Number(sums.rows);
  if (surplus !== 0) return [`rows are ${surplus < 0 ? 'lost' : 'too many'}: ${Math.abs(surplus)}`];
  return found.checks === sums.checks ? [] : ['its rows are not those that were written'];
}
