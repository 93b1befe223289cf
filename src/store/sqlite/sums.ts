// Sums that tell of lost rows: of a table without an index, and of each group of a table. The schema has one
// too: a changed byte in it makes other indexes, or tables of other columns.
import { crc32 } from 'node:zlib';
import { ROW_CHECK, type StoredCell } from '../checked-rows.ts';
import type { Damage } from '../damage.ts';
import { storeLimits } from '../limits.ts';
import type { Table } from '../migrations/step.ts';
import type { Dataset, Values } from '../schema/dataset.ts';
import type { Database } from './connection.ts';
import { tried } from './files.ts';

/** Keeps the sums of a table, whatever statement changes its rows. */
const rowTriggersOf = (name: string): string => `
  create trigger ${name}_added after insert on ${name} begin
    update row_sums set rows = rows + 1, checks = checks + coalesce(new.${ROW_CHECK}, 0) where name = '${name}';
  end;
  create trigger ${name}_changed after update on ${name} begin
    update row_sums set checks = checks - coalesce(old.${ROW_CHECK}, 0) + coalesce(new.${ROW_CHECK}, 0) where name = '${name}';
  end;
  create trigger ${name}_removed after delete on ${name} begin
    update row_sums set rows = rows - 1, checks = checks - coalesce(old.${ROW_CHECK}, 0) where name = '${name}';
  end;`;

/** The table that makes a copy of the data a backup: it is not compared. */
export const MANIFEST = 'backup';

/** The table of the blocks. */
export const BLOCKS = 'bar_blocks';

export const hasTable = (database: Database, name: string): boolean =>
  database.rows('select 1 from sqlite_schema where name = ?', [name]).length > 0;

/**
 * Says in which ways a table's rows differ from those that were written; nothing where they do not, or where
 * its indexes tell it.
 */
function sumProblems(database: Database, name: string): string[] {
  const [sums] = database.rows('select rows, checks from row_sums where name = ?', [name]) as [
    number,
    number,
  ][];
  if (sums === undefined) return [];
  const [[rows, checks]] = database.rows(`select count(*), coalesce(sum(${ROW_CHECK}), 0) from ${name}`) as [
    [number, number],
  ];
  const surplus = rows - sums[0];
  if (surplus !== 0) return [`rows are ${surplus < 0 ? 'lost' : 'too many'}: ${Math.abs(surplus)}`];
  return checks === sums[1] ? [] : ['its rows are not those that were written'];
}

/**
 * A table whose rows are counted by some of its columns, and their checksums summed: a read notices a row
 * that an index or a page has lost.
 */
type Grouped = {
  readonly name: string;
  readonly group: readonly string[];
  readonly key: readonly string[];
  /** The column that is summed. */
  readonly summed: string;
};

/** The buckets of a series are summed: its index alone has them. A block stays in its bucket. */
const blocks: Grouped = {
  name: BLOCKS,
  group: ['series_id'],
  key: ['series_id', 'bucket'],
  summed: 'bucket',
};

/** The table of the sums of a table. */
const sumsOf = (table: string): string => `${table}_sums`;

const equal = (group: readonly string[], row: string): string =>
  group.map((column) => `${column} = ${row}.${column}`).join(' and ');

/**
 * Keeps the sums, whatever statement changes the rows. A group without rows has none: deleting what is left
 * of it clears them.
 */
function groupTriggersOf({ name, group, key, summed }: Grouped): string[] {
  const sums = sumsOf(name);
  const value = (row: string): string => `coalesce(${row}.${summed}, 0)`;
  const add = `insert into ${sums} values (${group.map((column) => `new.${column}`).join()}, 1, ${value('new')})
    on conflict do update set rows = rows + 1, checks = checks + excluded.checks;`;
  const remove = `update ${sums} set rows = rows - 1, checks = checks - ${value('old')} where ${equal(group, 'old')};
    delete from ${sums} where ${equal(group, 'old')} and not exists (select 1 from ${name} where ${equal(group, 'old')});`;
  const stays = group.map((column) => `old.${column} is new.${column}`).join(' and ');
  const trigger = (what: string, when: string, work: string): string =>
    `create trigger ${sums}_${what} after ${when} begin ${work} end`;
  const triggers = [
    trigger('added', `insert on ${name}`, add),
    trigger('removed', `delete on ${name}`, remove),
  ];
  if (summed === ROW_CHECK)
    triggers.push(
      trigger(
        'changed',
        `update of ${ROW_CHECK} on ${name} when ${stays}`,
        `update ${sums} set checks = checks - ${value('old')} + ${value('new')} where ${equal(group, 'new')};`,
      ),
    );
  if (!group.every((column) => key.includes(column)))
    triggers.push(trigger('moved', `update on ${name} when not (${stays})`, `${remove} ${add}`));
  return triggers;
}

/** Makes the sums of a new file, which may have blocks. */
export function makeSums(database: Database, hasBlocks: boolean): void {
  database.exec(
    'create table row_sums (name text primary key, rows integer not null, checks integer not null) without rowid',
  );
  if (hasBlocks) begin(database, blocks);
}

/** Begins the sums of a table: those of its groups, or its own where no index beside it would miss a row. */
export function beginSums(
  database: Database,
  { name, key, group, indexes = [], keptAsTheyCome }: Omit<Table, 'columns'>,
): void {
  if (group !== undefined) begin(database, { name, group, key, summed: ROW_CHECK });
  else if (indexes.length === 0 && keptAsTheyCome !== true)
    database.exec(`insert into row_sums values ('${name}', 0, 0); ${rowTriggersOf(name)}`);
}

function begin(database: Database, grouped: Grouped): void {
  const { name, summed } = grouped;
  const columns = grouped.group.join();
  // Columns without a type keep the values as they come.
  database.exec(
    `create table ${sumsOf(name)} (${columns}, rows integer not null, checks integer not null, primary key (${columns})) without rowid`,
  );
  // An index may have lost rows.
  database.exec(
    `insert into ${sumsOf(name)} select ${columns}, count(*), sum(coalesce(${summed}, 0)) from ${name} not indexed group by ${columns}`,
  );
  for (const trigger of groupTriggersOf(grouped)) database.exec(trigger);
}

/** Ends the sums of a table that goes. */
export function dropSums(database: Database, table: string): void {
  database.exec(`drop table if exists ${sumsOf(table)}`);
  database.run('delete from row_sums where name = ?', [table]);
}

export const LOST = 'rows are missing: an index or page lost them';

/** What was found of a group: its number of rows, their sum, and the values of its columns. */
type FoundGroup = readonly [rows: number, checks: number, ...values: StoredCell[]];

/** The places of groups whose sums are not those of the rows that were found; all are compared together. */
function differing(
  database: Database,
  { name, group }: Pick<Grouped, 'name' | 'group'>,
  found: readonly FoundGroup[],
): number[] {
  const marks = found.map((cells, at) => `(${[at, ...cells.map(() => '?')].join()})`);
  const same = group.map((column, at) => `${column} = column${at + 4}`).join(' and ');
  const sql = `select column1 from (values ${marks.join()}) left join ${sumsOf(name)} on ${same}
    where coalesce(rows, 0) <> column2 or coalesce(checks, 0) <> column3`;
  return database.rows(sql, found.flat()).map(([at]) => at as number);
}

/** The place of the first of some groups that has lost rows, or -1. The last cells of rows are checksums. */
export function lostGroup(
  database: Database,
  { name, group = [] }: Dataset,
  wheres: readonly Values[],
  found: readonly (readonly (readonly StoredCell[])[])[],
): number {
  const groups = wheres.map((where, at): FoundGroup => {
    let checks = 0;
    for (const cells of found[at]!) checks += Number(cells.at(-1));
    return [found[at]!.length, checks, ...group.map((column) => where[column] as StoredCell)];
  });
  for (let from = 0; from < groups.length; from += storeLimits.keysTogether) {
    const some = groups.slice(from, from + storeLimits.keysTogether);
    const [lost] = differing(database, { name, group }, some);
    if (lost !== undefined) return from + lost;
  }
  return -1;
}

/**
 * The problem of the blocks of a series by their index; null where nothing is. An entry that stands among
 * those of the series under another one is walked over, and counted, where a search for its block misses it.
 */
export function blocksProblem(database: Database, seriesId: number): string | null {
  const select = `select count(*), total(bucket), total(series_id is not ?1) from ${BLOCKS} where series_id = ?1`;
  const [rows, checks, foreign] = database.rows(select, [seriesId])[0] as [number, number, number];
  const isKept = foreign === 0 && differing(database, blocks, [[rows, checks, seriesId]]).length === 0;
  return isKept ? null : 'blocks of it are lost';
}

/** The number of rows that the groups of a table have in all; null where it has no groups. */
export const groupedRows = (database: Database, { name, group }: Dataset): number | null =>
  group === undefined ? null : (database.rows(`select total(rows) from ${sumsOf(name)}`)[0]![0] as number);

/**
 * The groups whose sums in the table and beside it differ, or that stand on one side alone. Both sides are
 * sorted, and each is gone through once: a full join looked each of 200,000 groups up among all others.
 */
export function differingGroups(table: string, names: readonly string[]): string {
  const group = names.join();
  const summed = table === BLOCKS ? blocks.summed : ROW_CHECK;
  return `select distinct ${names.map((name) => `cast(${name} as text)`).join()}
    from (select 1 as side, ${group}, count(*) as rows, total(${summed}) as checks from ${table} group by ${group}
      union all select 2, ${group}, rows, checks from ${sumsOf(table)})
    group by ${group}, rows, checks having sum(side) <> 3 limit ${storeLimits.findingsPerTableMax}`;
}

/** The groups of a table whose rows differ from their sums, each in words. Reads the whole table. */
function groupProblems(database: Database, table: string): string[] {
  const sums = sumsOf(table);
  if (!hasTable(database, sums)) return [];
  const names = database
    .rows('select name from pragma_table_info(?) where pk > 0 order by pk', [sums])
    .map(([name]) => String(name));
  const wordsOf = (values: readonly StoredCell[]): string =>
    names.map((name, at) => `${name} ${String(values[at])}`).join(', ');
  return database.rows(differingGroups(table, names)).map((values) => `${wordsOf(values)}: ${LOST}`);
}

const SCHEMA = 'sqlite_schema';

/** The schema's checksum. Root pages are left out: they are other ones in a copy. */
function schemaCheck(database: Database): number {
  const entries = database.rows(
    `select type, name, tbl_name, sql from ${SCHEMA} where tbl_name not in ('${MANIFEST}', 'sqlite_stat1') order by type, name`,
  );
  return crc32(JSON.stringify(entries)) | 0;
}

/** Keeps the layout and the checksum of the schema, as the end of a migration. */
export function keepSchemaSum(database: Database): void {
  const layout = database.pragma('user_version');
  database.run('insert or replace into row_sums values (?, ?, ?)', [SCHEMA, layout, schemaCheck(database)]);
}

/**
 * Says how the number of the layout differs from its copy; null where it does not. A new file has no copy
 * yet.
 */
export function layoutProblem(database: Database): string | null {
  if (!hasTable(database, 'row_sums')) return null;
  // In one statement: another process may be migrating the file.
  const select = 'select rows, user_version from row_sums, pragma_user_version where name = ? and rows <> 0';
  const [found] = database.rows(select, [SCHEMA]);
  if (found === undefined || found[0] === found[1]) return null;
  return `its layout is ${String(found[1])}, and ${String(found[0])} was written`;
}

/** Says what is wrong with the schema; null where it is as it was written. */
export function schemaProblem(database: Database): string | null {
  const problem = layoutProblem(database);
  if (problem !== null) return problem;
  const [kept] = database.rows('select checks from row_sums where name = ?', [SCHEMA]);
  if (kept?.[0] !== schemaCheck(database)) return 'its schema is not what was written';
  const shared = `select 1 from ${SCHEMA} where rootpage > 0 group by rootpage having count(*) > 1`;
  return database.rows(shared).length > 0 ? 'two of its tables or indexes share their pages' : null;
}

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
    .slice(0, storeLimits.findingsPerTableMax)
    .map((problem) => ({ dataset: table, place: 'its table or an index', problem }));
}

/** The problems that SQLite's own check finds in a table and in the sums of its groups. */
function integrityProblems(database: Database, table: string): string[] {
  const named = [table, sumsOf(table)].filter((name) => name === table || hasTable(database, name));
  return named
    .flatMap((name) => database.rows(`pragma integrity_check${name === '' ? '' : `('${name}')`}`))
    .map(([words]) => String(words))
    .filter((words) => words !== 'ok');
}
