// A table without an index has the sum of its checksums, so that a read notices a lost row.
import type { Table } from '../migrations/step.ts';
import { ROW_CHECK } from '../row-check.ts';
import type { Database } from './database.ts';

/** Makes the table of the sums, and of what else is kept of the file. */
export const sumsTable =
  'create table row_sums (name text primary key, rows integer not null, checks integer not null) without rowid';

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

export const hasTable = (database: Database, name: string): boolean =>
  database.all('select 1 from sqlite_schema where name = ?', [name]).length > 0;

/** True if a table has no index beside it that would miss a row, and no sums of groups either. */
export const isAlone = ({ indexes = [], keptAsTheyCome, group }: Omit<Table, 'columns'>): boolean =>
  indexes.length === 0 && keptAsTheyCome !== true && group === undefined;

/** Begins the sums of a new table. */
export const keepSums = (database: Database, name: string): void =>
  database.exec(`insert into row_sums values ('${name}', 0, 0); ${triggersOf(name)}`);

/**
 * Says in which ways a table's rows differ from those that were written; nothing where they do not, or where
 * its indexes tell it.
 */
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
