// Reads of rows as every engine with SQL has them: their statements, and the check of each row.

import { allRows, collectRows } from './all-rows.ts';
import { changesAfter } from './changes.ts';
import { checkedRows, misplacedAt, misplacedIn, type Row, type StoredCell } from './checked-rows.ts';
import type { MovedTables } from './migrations/step.ts';
import type { ColumnOf, Dataset, RowOf } from './schema/dataset.ts';
import type { SqlCompiler } from './sql.ts';
import type { Change, Extent, KeyRead, RankedRead, Read, RowReader, RowWriter } from './store.ts';

/** The limit of reads of all rows. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** The read of all rows of a group. */
function groupRead({ group = [], key }: Dataset): KeyRead {
  const rest = key.filter((column) => !group.includes(column));
  // Rows of a group that no key begins with are found by its index: another order would lead past it.
  const order = rest.length === 0 || !group.every((column) => key.includes(column)) ? group : rest;
  return { order: order.map((column) => [column, 'asc'] as const), limit: NO_LIMIT };
}

/** The read of all rows of a key, whose columns decide nothing about their order. */
const everyRow = <D extends Dataset>(keys: readonly Partial<RowOf<D>>[]): KeyRead<D> => ({
  order: [[Object.keys(keys[0] ?? {})[0] as ColumnOf<D>, 'asc']],
  limit: NO_LIMIT,
});

/** Reads rows by statements of one SQL. */
export abstract class StoredRows implements RowReader {
  protected readonly compiler: SqlCompiler;

  constructor(compiler: SqlCompiler) {
    this.compiler = compiler;
  }

  /** As `Versioned.changesAfter`. */
  changesAfter(version: number, max: number): Promise<readonly Change[] | null> {
    return changesAfter(this, version, max);
  }

  abstract extent<D extends Dataset>(dataset: D, column?: ColumnOf<D>): Promise<Extent>;

  /** The rows of a statement about a dataset. */
  protected abstract lists(
    dataset: Dataset,
    sql: string,
    values: readonly StoredCell[],
  ): StoredCell[][] | Promise<StoredCell[][]>;

  /** @throws DamagedData where one of some groups has lost rows; `found` are all that are stored of each */
  protected checkGroups(_dataset: Dataset, _wheres: readonly Row[], _found: StoredCell[][][]): void {}

  /** The rows of a read as they are stored. */
  protected read(dataset: Dataset, read: Read): StoredCell[][] | Promise<StoredCell[][]> {
    const statement = this.compiler.read(dataset, read);
    return this.lists(dataset, statement.sql, statement.values(read));
  }

  async rows<D extends Dataset>(dataset: D, given: Read<D>): Promise<RowOf<D>[]> {
    const read = given as unknown as Read;
    return checkedRows(dataset, await this.read(dataset, read), misplacedIn(dataset, read)) as RowOf<D>[];
  }

  async rowsByKey<D extends Dataset>(
    dataset: D,
    keys: readonly Partial<RowOf<D>>[],
    read?: KeyRead<D>,
  ): Promise<RowOf<D>[][]> {
    if (keys.length === 0) return [];
    const each = read ?? everyRow(keys);
    const reads = keys.map((where) => ({ where, ...each }) as unknown as Read);
    const found = await this.readEach(dataset, reads);
    const rows = reads.map((one, at) => {
      const misplaced = read === undefined ? misplacedAt(one.where as Row) : misplacedIn(dataset, one);
      return checkedRows(dataset, found[at]!, misplaced);
    });
    const { group } = dataset;
    const asked = Object.keys(keys[0]!);
    const isGroup = group?.length === asked.length && group.every((column) => asked.includes(column));
    if (isGroup && each.limit === NO_LIMIT) this.checkGroups(dataset, keys as readonly Row[], found);
    return rows as RowOf<D>[][];
  }

  /** The rows of reads that differ in the values of `where` alone, as they are stored. */
  protected async readEach(dataset: Dataset, reads: readonly Read[]): Promise<StoredCell[][][]> {
    const { sql, values } = this.compiler.read(dataset, reads[0]!);
    const found: StoredCell[][][] = [];
    for (const read of reads) found.push(await this.lists(dataset, sql, values(read)));
    return found;
  }

  async group<D extends Dataset>(dataset: D, where: Partial<RowOf<D>>): Promise<RowOf<D>[]> {
    return (await this.rowsByKey(dataset, [where], groupRead(dataset) as unknown as KeyRead<D>))[0]!;
  }

  async ranked<D extends Dataset>(dataset: D, read: RankedRead<D>): Promise<(string | number)[][]> {
    // SQL has no empty table of values.
    if (read.groups.length === 0) return [];
    const ranked = read as unknown as RankedRead;
    const statement = this.compiler.ranked(dataset, ranked);
    return (await this.lists(dataset, statement.sql, statement.values(ranked))) as (string | number)[][];
  }

  async count<D extends Dataset>(
    dataset: D,
    where: Partial<RowOf<D>> = {},
    least: Partial<RowOf<D>> = {},
  ): Promise<number> {
    const { sql, values } = this.compiler.count(dataset, where, least);
    const found = await this.lists(dataset, sql, values({ ...where, ...least }));
    return (found[0]?.[0] as number | undefined) ?? 0;
  }

  /** The extent of rows that are read one after the other, with their checksums: for few of them. */
  protected async walkedExtent(dataset: Dataset, column: string): Promise<Extent> {
    let [rows, first, last] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for await (const row of allRows(this, dataset)) {
      const value = (row as Row)[column] as number | null;
      rows++;
      if (value === null) continue;
      first = Math.min(first, value);
      last = Math.max(last, value);
    }
    return first > last ? { rows, first: null, last: null } : { rows, first, last };
  }
}

/** The rows that a step between layouts moves: a table of it is a dataset for the time of the step. */
export const movedTables = (rows: RowWriter): MovedTables => ({
  rows: (table, where = {}) => collectRows(rows, table as Dataset, where as never),
  put: (table, all) => rows.upsert(table as Dataset, all as never),
  remove: (table, keys) => rows.remove(table as Dataset, keys as never),
});
