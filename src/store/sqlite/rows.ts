// Rows of datasets in one SQLite file, and what its SQL has of its own. A file that is too damaged for a
// statement is damage too.
import { keyCells, ROW_CHECK, type Row, rowCells, rowFormOf, type StoredCell } from '../checked-rows.ts';
import { DamagedData } from '../damage.ts';
import { storeLimits } from '../limits.ts';
import type { ColumnOf, Dataset, RowOf } from '../schema/dataset.ts';
import { type Dialect, SqlCompiler } from '../sql.ts';
import type { Extent, Read, RowWriter } from '../store.ts';
import { NO_LIMIT, StoredRows } from '../stored-rows.ts';
import type { Database } from './connection.ts';
import { ofPages } from './files.ts';
import { groupedRows, LOST, lostGroup } from './sums.ts';

const dialect: Dialect = {
  types: {
    text: 'text',
    integer: 'integer',
    real: 'real',
    instant: 'integer',
    day: 'integer',
    boolean: 'integer',
    json: 'text',
    bytes: 'blob',
  },
  clustered: 'without rowid',
  // Null precedes every value by itself (sqlite.org/datatype3.html, 4.1), and an index takes no other word
  // about it.
  nullsFirst: { asc: '', desc: '' },
  // A unary plus (sqlite.org/optoverview.html, 8).
  unchosen: (column) => `+${column}`,
  mark: () => '?',
  typed: (mark) => mark,
  // The whole write is undone where a row cannot be written, so no statement has to be able to undo itself
  // (sqlite.org/lang_conflict.html).
  insert: 'insert or fail',
  rows: (kinds, count) =>
    `values ${Array(count)
      .fill(`(${kinds.map(() => '?').join(', ')})`)
      .join(', ')}`,
};

/** Statement texts for SQLite. */
export const sqliteCompiler = new SqlCompiler(dialect);

/**
 * SQLite copies the pages that a statement of several rows changes to a temporary file if it keeps sums of
 * groups, or has columns that may not be null: these rows are faster one by one, in indexes they are apart.
 */
const rowsTogether = ({ columns, key, group, indexes }: Dataset): number => {
  const isStrict = Object.keys(columns).some((column) => !columns[column]!.nullable && !key.includes(column));
  return isStrict && group === undefined && indexes !== undefined ? 1 : 16;
};

const groupWords = (where: Row): string =>
  `the rows of ${Object.entries(where)
    .map(([column, value]) => `${column} ${JSON.stringify(value)}`)
    .join(', ')}`;

/** Reads and writes rows on an open file, inside whatever transaction it is in. */
export class SqliteRows extends StoredRows implements RowWriter {
  protected readonly database: Database;

  constructor(database: Database) {
    super(sqliteCompiler);
    this.database = database;
  }

  protected lists({ name }: Dataset, sql: string, values: readonly StoredCell[]): StoredCell[][] {
    return ofPages(name, () => this.database.rows(sql, values));
  }

  protected override async readEach(dataset: Dataset, reads: readonly Read[]): Promise<StoredCell[][][]> {
    if (reads.length <= storeLimits.keysAloneMax || reads[0]!.limit !== NO_LIMIT)
      return super.readEach(dataset, reads);
    const found: StoredCell[][][] = reads.map(() => []);
    for (let from = 0; from < reads.length; from += storeLimits.keysTogether) {
      const keys = reads.slice(from, from + storeLimits.keysTogether).map(({ where }) => where as Row);
      const { sql, values } = sqliteCompiler.atKeys(dataset, keys);
      for (const cells of this.lists(dataset, sql, values(keys)))
        found[from + (cells.pop() as number)]!.push(cells);
    }
    return found;
  }

  protected override checkGroups(dataset: Dataset, wheres: readonly Row[], found: StoredCell[][][]): void {
    const lost = wheres[ofPages(dataset.name, () => lostGroup(this.database, dataset, wheres, found))];
    if (lost !== undefined)
      throw new DamagedData({ dataset: dataset.name, place: groupWords(lost), problem: LOST });
  }

  /** The row of a key with its key and some other columns alone, unchecked; nothing where there is none. */
  protected partly(dataset: Dataset, columns: readonly string[], row: Row): Row[] {
    const { name, key } = dataset;
    const names = [...key, ...columns];
    const keyed = key.map((column) => `${column} = ?`).join(' and ');
    const sql = `select ${names.join()} from ${name} where ${keyed}`;
    const found = ofPages(name, () => this.database.rows(sql, keyCells(dataset, row)));
    return found.map((cells) => Object.fromEntries(names.map((column, at) => [column, cells[at]])));
  }

  async extent<D extends Dataset>(dataset: D, column?: ColumnOf<D>): Promise<Extent> {
    const { group, indexes = [] } = dataset;
    const isIndexed = indexes.some((columns) => column !== undefined && columns.includes(column));
    // Rows of few groups are read with their checksums where no index beside the table has the column.
    const { extent, isSure } =
      column !== undefined && group !== undefined && !isIndexed
        ? await this.#sureExtent(dataset, column)
        : ofPages(dataset.name, () => extentOf(this.database, dataset, column));
    if (isSure) return extent;
    const problem = 'they do not have the same rows';
    throw new DamagedData({ dataset: dataset.name, place: 'its table or an index', problem });
  }

  async #sureExtent(dataset: Dataset, column: string): Promise<{ extent: Extent; isSure: boolean }> {
    const extent = await this.walkedExtent(dataset, column);
    return { extent, isSure: extent.rows === groupedRows(this.database, dataset) };
  }

  async upsert<D extends Dataset>(dataset: D, rows: readonly RowOf<D>[]): Promise<void> {
    const form = rowFormOf(dataset);
    const together = rowsTogether(dataset);
    for (let from = 0; from < rows.length; ) {
      const count = rows.length - from < together ? 1 : together;
      const end = from + count;
      const cells = rowCells(form, rows[from++] as Row);
      while (from < end) for (const cell of rowCells(form, rows[from++] as Row)) cells.push(cell);
      this.#write(dataset, sqliteCompiler.upsert(dataset, count), cells);
    }
  }

  async remove<D extends Dataset>(dataset: D, keys: readonly Partial<RowOf<D>>[]): Promise<void> {
    const sql = sqliteCompiler.remove(dataset);
    for (const row of keys as readonly Row[]) this.#write(dataset, sql, keyCells(dataset, row));
  }

  #write({ name }: Dataset, sql: string, cells: readonly StoredCell[]): void {
    ofPages(name, () => this.database.run(sql, cells));
  }
}

/** A prime: what is left of numbers that differ in one bit differs too, and the sum of many is exact. */
const MODULUS = 1_000_003;

/**
 * Number of rows, number and sum of the values, the least and the greatest: no value is too large for
 * JavaScript.
 */
const aggregates = (column: string | undefined): string =>
  column === undefined
    ? 'count(*), 0, 0, null, null'
    : `count(*), count(${column}), total(${column} % ${MODULUS}), cast(min(${column}) as real), cast(max(${column}) as real)`;

/** No index has the checksums: they make SQLite read the table. */
const TABLE = 'not indexed';
const selectFrom = (name: string, place: string, column: string | undefined): string =>
  `select ${aggregates(column)}${place === TABLE ? `, max(${ROW_CHECK})` : ''} from ${name} ${place}`;

/** Two structures that have every row with a column: indexes before the table, whose rows are larger. */
const placesOf = ({ name, indexes = [] }: Dataset, column: string | undefined): string[] => [
  ...indexes
    .filter((columns) => column === undefined || columns.includes(column))
    .map((columns) => `indexed by ${name}_by_${columns.join('_')}`)
    .slice(0, 2),
  TABLE,
];

/**
 * The extent of a table by two of its structures, because an index may have lost rows; `isSure` where they
 * agree, or there is one alone.
 */
function extentOf(
  database: Database,
  dataset: Dataset,
  column: string | undefined,
): { readonly extent: Extent; readonly isSure: boolean } {
  const [found, other] = placesOf(dataset, column)
    .slice(0, 2)
    .map((place) => database.rows(selectFrom(dataset.name, place, column))[0]!);
  const [counted, , , first, last] = found as [number, number, number, number | null, number | null];
  const compared = found!.slice(0, 5);
  const isSure = other === undefined || compared.every((cell, at) => cell === other[at]);
  const rows = groupedRows(database, dataset) ?? counted;
  return { extent: { rows, first, last }, isSure: isSure && rows === counted };
}
