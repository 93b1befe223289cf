// Rows of datasets in one SQLite file. A file that is too damaged for a statement is damage too.
import type { ColumnOf, Dataset, RowOf } from '../../datasets/dataset.ts';
import { type Misplaced, type Row, rowFormOf } from '../checked-rows.ts';
import { type Damage, DamagedData, type OnDamage } from '../damage.ts';
import type { Extent, Read, RowWriter } from '../store.ts';
import { keyCells, rowCells, StoredRows } from '../stored-rows.ts';
import type { Cell, Database } from './database.ts';
import { sqliteCompiler } from './dialect.ts';
import { extentOf, writtenRows } from './extent.ts';
import { groupProblem } from './group-sums.ts';
import type { SqlValue } from './opening.ts';
import { troubleOf } from './trouble.ts';

/**
 * The damage because of which SQLite could not run a statement; without a dataset where it is not known whose
 * pages are damaged.
 */
export const pageDamage = (dataset: string | null, error: unknown): Damage => ({
  dataset,
  place: dataset === null ? 'a page that was read' : 'a page of its table or indexes',
  problem: (error as Error).message,
});

/**
 * SQLite copies the pages that a statement changes to a temporary file, because of the triggers that keep
 * sums: once for these rows.
 */
const ROWS_PER_STATEMENT = 16;

const groupWords = (where: Row): string =>
  `the rows of ${Object.entries(where)
    .map(([column, value]) => `${column} ${JSON.stringify(value)}`)
    .join(', ')}`;

/** Reads and writes rows on an open file, inside whatever transaction it is in. */
export class SqliteRows extends StoredRows implements RowWriter {
  protected readonly database: Database;

  constructor(database: Database, onDamage: OnDamage | null = null) {
    super(sqliteCompiler, onDamage);
    this.database = database;
  }

  sound(onDamage: OnDamage): SqliteRows {
    return new SqliteRows(this.database, onDamage);
  }

  protected lists({ name }: Dataset, sql: string, values: readonly unknown[]): Cell[][] {
    return this.tolerating(name, [], () => this.database.lists(sql, values as SqlValue[]));
  }

  /** All rows are read until the answer is full. */
  protected async soundRows(dataset: Dataset, read: Read, misplaced: Misplaced): Promise<Row[]> {
    const statement = sqliteCompiler.read(dataset, read);
    const every = statement.values({ ...read, limit: Number.MAX_SAFE_INTEGER }) as SqlValue[];
    const sound: Row[] = [];
    this.tolerating(dataset.name, undefined, () => {
      const cells = this.database.walkDamaged(statement.sql, every);
      this.checked(dataset, cells, misplaced, sound, read.limit);
    });
    return sound;
  }

  /**
   * The result of a statement, or `otherwise` where the file is too damaged for it and damage is tolerated.
   */
  protected tolerating<T>(dataset: string, otherwise: T, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (troubleOf(error) !== 'damaged') throw error;
      this.damaged(pageDamage(dataset, error), {}, error);
      return otherwise;
    }
  }

  protected override checkGroup(dataset: Dataset, where: Row, found: readonly Cell[][]): void {
    const problem = this.tolerating(dataset.name, null, () =>
      groupProblem(this.database, dataset, where, found),
    );
    if (problem !== null) this.damaged({ dataset: dataset.name, place: groupWords(where), problem }, {});
  }

  /** The row of a key with its key and some other columns alone, unchecked; nothing where there is none. */
  protected partly(dataset: Dataset, columns: readonly string[], row: Row): Row[] {
    const { name, key } = dataset;
    const keyed = key.map((column) => `${column} = ?`).join(' and ');
    const values = keyCells(dataset, row) as SqlValue[];
    const sql = `select ${[...key, ...columns].join()} from ${name} where ${keyed}`;
    return this.tolerating(name, [], () => this.database.all(sql, values));
  }

  async extent<D extends Dataset>(dataset: D, column?: ColumnOf<D>): Promise<Extent> {
    const none = { rows: 0, first: null, last: null };
    const { group, indexes = [] } = dataset;
    const isIndexed = indexes.some((columns) => column !== undefined && columns.includes(column));
    // Rows of few groups are read with their checksums where no index beside the table has the column.
    const { extent, isSure } =
      column !== undefined && group !== undefined && !isIndexed
        ? await this.#sureExtent(dataset, column)
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

  async #sureExtent(dataset: Dataset, column: string): Promise<{ extent: Extent; isSure: boolean }> {
    let isWhole = true;
    const { onDamage } = this;
    const reader =
      onDamage === null
        ? this
        : this.sound((damage, remains) => {
            isWhole = false;
            onDamage(damage, remains);
          });
    const extent = await this.walkedExtent(reader, dataset, column);
    return { extent, isSure: !isWhole || extent.rows === writtenRows(this.database, dataset) };
  }

  /** A read of a file waits for nobody. */
  async expect(): Promise<void> {}

  async upsert<D extends Dataset>(dataset: D, rows: readonly RowOf<D>[]): Promise<void> {
    const form = rowFormOf(dataset);
    for (let from = 0; from < rows.length; ) {
      const count = rows.length - from < ROWS_PER_STATEMENT ? 1 : ROWS_PER_STATEMENT;
      const written = (rows as readonly Row[]).slice(from, from + count);
      const cells = written.flatMap((row) => rowCells(form, row));
      this.#write(dataset, sqliteCompiler.upsert(dataset, count), cells);
      from += count;
    }
  }

  async remove<D extends Dataset>(dataset: D, keys: readonly Partial<RowOf<D>>[]): Promise<void> {
    const sql = sqliteCompiler.remove(dataset);
    for (const row of keys as readonly Row[]) this.#write(dataset, sql, keyCells(dataset, row));
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
