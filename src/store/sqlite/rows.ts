// Rows of datasets in one SQLite file: reads, upserts and the translation of values. Every row that is read is checked.
import type { ColumnKind, ColumnOf, Dataset, RowOf } from '../../datasets/dataset.ts';
import { allRows } from '../all-rows.ts';
import {
  isWhole,
  type Misplaced,
  misplacedAmong,
  misplacedIn,
  type Row,
  type RowForm,
  rawRow,
  rowDamage,
  rowFormOf,
} from '../checked-rows.ts';
import { type Damage, DamagedData, type OnDamage, type Remains } from '../damage.ts';
import { storeLimits } from '../limits.ts';
import { rowCheck } from '../row-check.ts';
import type { Extent, RankedRead, Read, RowWriter } from '../store.ts';
import type { Cell, Database } from './database.ts';
import { sqliteCompiler } from './dialect.ts';
import { extentOf, writtenRows } from './extent.ts';
import { groupProblem } from './group-sums.ts';
import type { SqlValue } from './opening.ts';
import { troubleOf } from './trouble.ts';

function toSql(kind: ColumnKind, value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (kind === 'boolean') return value ? 1 : 0;
  if (kind === 'json') return JSON.stringify(value);
  // SQLite keeps no other number that is none.
  return Number.isNaN(value) ? null : (value as Cell);
}

function fromSql(kind: ColumnKind, value: Cell): unknown {
  if (value === null) return null;
  if (kind === 'boolean') return value !== 0;
  return kind === 'json' ? JSON.parse(value as string) : value;
}

function rowOf({ names, kinds, blank }: RowForm, cells: readonly Cell[]): Row {
  const row: Row = { ...blank };
  for (let at = 0; at < names.length; at++) row[names[at]!] = fromSql(kinds[at]!, cells[at]!);
  return row;
}

/** The damage because of which SQLite could not run a statement; without a dataset where it is not known whose pages are damaged. */
export const pageDamage = (dataset: string | null, error: unknown): Damage => ({
  dataset,
  place: dataset === null ? 'a page that was read' : 'a page of its table or indexes',
  problem: (error as Error).message,
});

const groupWords = (where: Row): string =>
  `the rows of ${Object.entries(where)
    .map(([column, value]) => `${column} ${JSON.stringify(value)}`)
    .join(', ')}`;

/** Reads and writes rows on an open file, inside whatever transaction it is in. */
export class SqliteRows implements RowWriter {
  protected readonly database: Database;
  /** Damaged parts are reported to it, and reads give what is sound. Null: damage is an error. */
  protected readonly onDamage: OnDamage | null;

  constructor(database: Database, onDamage: OnDamage | null = null) {
    this.database = database;
    this.onDamage = onDamage;
  }

  sound(onDamage: OnDamage): SqliteRows {
    return new SqliteRows(this.database, onDamage);
  }

  async rows<D extends Dataset>(dataset: D, read: Read<D>): Promise<RowOf<D>[]> {
    return this.#read(dataset, read as unknown as Read) as RowOf<D>[];
  }

  #read(dataset: Dataset, read: Read): Row[] {
    const misplaced = misplacedIn(dataset, read);
    const statement = sqliteCompiler.read(dataset, read);
    const found = this.#lists(dataset, statement.sql, statement.values(read));
    const rows = this.#checked(dataset, found, misplaced);
    if (rows.length === found.length || found.length < read.limit) return rows;
    // Rows that were left out take no place in an answer: fewer rows than the limit are the last ones. So all are read until it is full.
    const every = statement.values({ ...read, limit: Number.MAX_SAFE_INTEGER }) as SqlValue[];
    const sound: Row[] = [];
    this.tolerating(dataset.name, undefined, () => {
      const cells = this.database.walkDamaged(statement.sql, every);
      this.#checked(dataset, cells, misplaced, sound, read.limit);
    });
    return sound;
  }

  /** The sound rows among some cells, `limit` at most. @throws DamagedData for any other, unless damage is tolerated */
  #checked(
    dataset: Dataset,
    found: Iterable<Cell[]>,
    misplaced: Misplaced,
    rows: Row[] = [],
    limit = Number.POSITIVE_INFINITY,
  ): Row[] {
    const form = rowFormOf(dataset);
    let before: Row | null = null;
    for (const cells of found) {
      if (!isWhole(form, cells)) {
        const raw = rawRow(form, cells);
        this.damaged(rowDamage(dataset, raw, 'its checksum does not match'), { row: raw });
        continue;
      }
      const row = rowOf(form, cells);
      const problem = misplaced(row, before);
      if (problem !== null) {
        this.damaged(rowDamage(dataset, row, problem), { row: rawRow(form, cells) });
        continue;
      }
      rows.push(row);
      before = row;
      if (rows.length === limit) break;
    }
    return rows;
  }

  protected damaged(damage: Damage, remains: Remains, cause?: unknown): void {
    if (this.onDamage === null) throw new DamagedData(damage, cause);
    this.onDamage(damage, remains);
  }

  #lists({ name }: Dataset, sql: string, values: readonly unknown[]): Cell[][] {
    const bound = values.map((value) => (typeof value === 'boolean' ? Number(value) : value));
    return this.tolerating(name, [], () => this.database.lists(sql, bound as SqlValue[]));
  }

  /** The result of a statement, or `otherwise` where the file is too damaged for it and damage is tolerated. */
  protected tolerating<T>(dataset: string, otherwise: T, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (troubleOf(error) !== 'damaged') throw error;
      this.damaged(pageDamage(dataset, error), {}, error);
      return otherwise;
    }
  }

  async group<D extends Dataset>(dataset: D, where: Partial<RowOf<D>>): Promise<RowOf<D>[]> {
    const { group = [], key } = dataset;
    const rest = key.filter((column) => !group.includes(column));
    // Rows of a group that no key begins with are found by its index: another order would lead past it.
    const order = rest.length === 0 || !group.every((column) => key.includes(column)) ? group : rest;
    const read = {
      where,
      order: order.map((column) => [column, 'asc'] as const),
      limit: Number.MAX_SAFE_INTEGER,
    } as unknown as Read;
    const statement = sqliteCompiler.read(dataset, read);
    const found = this.#lists(dataset, statement.sql, statement.values(read));
    const rows = this.#checked(dataset, found, misplacedIn(dataset, read));
    if (rows.length === found.length) this.#checkGroup(dataset, where, found);
    return rows as RowOf<D>[];
  }

  #checkGroup(dataset: Dataset, where: Row, found: readonly Cell[][]): void {
    const problem = this.tolerating(dataset.name, null, () =>
      groupProblem(this.database, dataset, where, found),
    );
    if (problem !== null) this.damaged({ dataset: dataset.name, place: groupWords(where), problem }, {});
  }

  async among<D extends Dataset>(
    dataset: D,
    where: Partial<RowOf<D>>,
    column: ColumnOf<D>,
    values: readonly (string | number)[],
  ): Promise<RowOf<D>[]> {
    const rows: Row[] = [];
    const misplaced = misplacedAmong(where as Row, column, values);
    for (let at = 0; at < values.length; at += storeLimits.amongMax) {
      const read = { where, column, values: values.slice(at, at + storeLimits.amongMax) };
      const statement = sqliteCompiler.among(dataset, read);
      const found = this.#lists(dataset, statement.sql, statement.values(read));
      rows.push(...this.#checked(dataset, found, misplaced));
    }
    return rows as RowOf<D>[];
  }

  async ranked<D extends Dataset>(dataset: D, read: RankedRead<D>): Promise<(string | number)[][]> {
    // SQL has no empty table of values.
    if (read.groups.length === 0) return [];
    const ranked = read as unknown as RankedRead;
    const statement = sqliteCompiler.ranked(dataset, ranked);
    return this.#lists(dataset, statement.sql, statement.values(ranked)) as (string | number)[][];
  }

  /** The row of a key with its key and some other columns alone, unchecked; nothing where there is none. */
  protected partly(dataset: Dataset, columns: readonly string[], row: Row): Row[] {
    const { name, key } = dataset;
    const keyed = key.map((column) => `${column} = ?`).join(' and ');
    const values = this.#keyCells(dataset, row) as SqlValue[];
    const sql = `select ${[...key, ...columns].join()} from ${name} where ${keyed}`;
    return this.tolerating(name, [], () => this.database.all(sql, values));
  }

  #keyCells({ key, columns }: Dataset, row: Row): Cell[] {
    return key.map((name) => toSql(columns[name]!.kind, row[name]));
  }

  async count<D extends Dataset>(dataset: D, where: Partial<RowOf<D>> = {}): Promise<number> {
    const sql = sqliteCompiler.count(dataset, where);
    const values = Object.values(where).filter((value) => value !== null);
    return (this.#lists(dataset, sql, values)[0]?.[0] as number | undefined) ?? 0;
  }

  async extent<D extends Dataset>(dataset: D, column?: ColumnOf<D>): Promise<Extent> {
    const none = { rows: 0, first: null, last: null };
    // Rows of few groups are read with their checksums: no index beside the table has the column.
    const { extent, isSure } =
      column !== undefined && dataset.group !== undefined
        ? await this.#walkedExtent(dataset, column)
        : this.tolerating(dataset.name, { extent: none, isSure: true }, () =>
            extentOf(this.database, dataset, column),
          );
    if (!isSure)
      this.damaged(
        { dataset: dataset.name, place: 'its table or an index', problem: 'they do not have the same rows' },
        {},
      );
    return extent;
  }

  async #walkedExtent(dataset: Dataset, column: string): Promise<{ extent: Extent; isSure: boolean }> {
    let [rows, first, last] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    let isWhole = true;
    const { onDamage } = this;
    const reader =
      onDamage === null
        ? this
        : this.sound((damage, remains) => {
            isWhole = false;
            onDamage(damage, remains);
          });
    for await (const row of allRows(reader, dataset)) {
      const value = (row as Row)[column] as number | null;
      rows++;
      if (value === null) continue;
      first = Math.min(first, value);
      last = Math.max(last, value);
    }
    const extent = first > last ? { rows, first: null, last: null } : { rows, first, last };
    const isSure = !isWhole || rows === writtenRows(this.database, dataset);
    return { extent, isSure };
  }

  async upsert<D extends Dataset>(dataset: D, rows: readonly RowOf<D>[]): Promise<void> {
    const { names, kinds, seeds } = rowFormOf(dataset);
    const sql = sqliteCompiler.upsert(dataset);
    for (const row of rows as readonly Row[]) {
      const cells = names.map((name, at) => toSql(kinds[at]!, row[name]));
      cells.push(rowCheck(seeds, cells));
      this.#write(dataset, sql, cells);
    }
  }

  async remove<D extends Dataset>(dataset: D, keys: readonly Partial<RowOf<D>>[]): Promise<void> {
    const sql = sqliteCompiler.remove(dataset);
    for (const row of keys as readonly Row[]) this.#write(dataset, sql, this.#keyCells(dataset, row));
  }

  #write({ name }: Dataset, sql: string, cells: readonly Cell[]): void {
    try {
      this.database.run(sql, cells);
    } catch (error) {
      if (troubleOf(error) !== 'damaged') throw error;
      throw new DamagedData(pageDamage(name, error), error);
    }
  }
}
