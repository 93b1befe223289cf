// Rows of datasets in PostgreSQL, and what its SQL has of its own. Rows that are written are sent
// together, and a read sends those that it may be about.
import { WrittenParts } from '../changes.ts';
import { keyCells, type Row, rowCells, rowFormOf, type StoredCell } from '../checked-rows.ts';
import type { Damage } from '../damage.ts';
import { rowKeyOf } from '../journal-entries.ts';
import { movingColumns } from '../known-changes.ts';
import { storeLimits } from '../limits.ts';
import type { ColumnOf, Dataset, RowOf } from '../schema/dataset.ts';
import { type Dialect, SqlCompiler } from '../sql.ts';
import type { Extent, Read, RowWriter } from '../store.ts';
import { StoredRows } from '../stored-rows.ts';
import { type Element, type ElementType, type Parameter, SentArray, type Session } from './session.ts';

const dialect: Dialect = {
  // Text is compared by its UTF-8 bytes, as in every engine, and a boolean is 0 or 1: checksums of rows are
  // then the same everywhere.
  types: {
    text: 'text collate "C"',
    integer: 'bigint',
    real: 'double precision',
    instant: 'bigint',
    day: 'bigint',
    boolean: 'bigint',
    json: 'text collate "C"',
    bytes: 'bytea',
  },
  clustered: '',
  nullsFirst: { asc: ' nulls first', desc: ' nulls last' },
  // An expression is in no index.
  unchosen: (column) => `+${column}`,
  mark: (at) => `$${at}`,
  typed: (mark, kind) => `${mark}::${dialect.types[kind]}`,
  insert: 'insert',
  // Each value is a column of many rows.
  rows: (kinds) => `select * from unnest(${kinds.map((kind) => `?::${arrayType(kind)}`).join()})`,
};

/** Statement texts for PostgreSQL. */
export const postgresCompiler = new SqlCompiler(dialect);

/** The type of an array of a kind of column. */
const arrayType = (kind: keyof Dialect['types']): string => `${dialect.types[kind].split(' collate')[0]}[]`;

const elementTypes: Readonly<Record<keyof Dialect['types'], ElementType>> = {
  text: 'text',
  integer: 'int8',
  real: 'float8',
  instant: 'int8',
  day: 'int8',
  boolean: 'int8',
  json: 'text',
  bytes: 'bytea',
};

/** Values of a kind of column, as a parameter of the type `arrayType`. */
const arrayOf = (kind: keyof Dialect['types'], values: readonly Element[]): SentArray =>
  new SentArray(elementTypes[kind], values);

const quoted = (name: string): string => `"${name}"`;

/** The key that a read is about, where that is its only condition; else null. */
function wholeKey(dataset: Dataset, { where = {}, along, range, after }: Read): string | null {
  const isOfKey =
    Object.keys(where).length === dataset.key.length && dataset.key.every((name) => where[name] != null);
  return isOfKey && along === undefined && range === undefined && after === undefined
    ? rowKeyOf(dataset, where)
    : null;
}

/** The cells of a row's key, each as a column of many rows; its columns are named k0, k1 and so on. */
function keysOf({ key, columns }: Dataset, keys: readonly (readonly StoredCell[])[]) {
  const kinds = key.map((column) => columns[column]!.kind);
  const arrays = kinds.map((kind, at) => `$${at + 1}::${arrayType(kind)}`);
  const same = key.map((column, at) => `t.${quoted(column)} = k.k${at}`);
  return {
    table: `unnest(${arrays.join()}) as k(${key.map((_, at) => `k${at}`).join()})`,
    isSame: same.join(' and '),
    values: kinds.map((kind, at) =>
      arrayOf(
        kind,
        keys.map((cells) => cells[at]!),
      ),
    ),
  };
}

/** The question for reads that differ in the values of `where` alone. */
function questionOf(
  dataset: Dataset,
  reads: readonly Read[],
): { readonly sql: string; readonly values: Parameter[] } {
  const [one] = reads as [Read];
  const columns = Object.keys(one.where!);
  const kinds = columns.map((column) => dataset.columns[column]!.kind);
  const statement = postgresCompiler.read(dataset, one);
  // The values of `where` are the first ones of a read: here they are columns of arrays.
  const ofEach = statement.sql.replaceAll(/\$(\d+)/g, (mark, at) =>
    Number(at) <= columns.length ? `wanted.of${at}` : mark,
  );
  const arrays = kinds.map((kind, at) => `$${at + 1}::${arrayType(kind)}`);
  const names = columns.map((_, at) => `of${at + 1}`).join();
  const wanted = `unnest(${arrays.join()}) with ordinality as wanted(${names}, place)`;
  const sql = `select wanted.place, found.* from ${wanted} cross join lateral (${ofEach}) as found`;
  const values = columns.map((column, at) =>
    arrayOf(
      kinds[at]!,
      reads.map(({ where }) => where![column] as string | number),
    ),
  );
  return { sql, values: [...values, ...statement.values(one).slice(columns.length)] };
}

/** A row that waits to be written, or to be removed: then it has no cells. */
type Change = { readonly key: readonly StoredCell[]; readonly cells: readonly StoredCell[] | null };

/** Rows that wait, by their key. */
type Waiting = Map<string, Change>;

/** The changes of one write: the rows that wait, and the parts of the data that it changes. */
class RowChanges {
  readonly written = new WrittenParts();
  #waiting = new Map<Dataset, Waiting>();
  /** The last change of each dataset that was begun. */
  readonly #underWay = new Map<Dataset, Promise<unknown>>();

  /** The datasets with rows that wait or are on their way. */
  get datasets(): Dataset[] {
    return [...new Set([...this.#waiting.keys(), ...this.#underWay.keys()])];
  }

  /** The rows of a dataset that wait: for more of them. */
  waiting(dataset: Dataset): Waiting {
    const kept: Waiting = this.#waiting.get(dataset) ?? new Map();
    this.#waiting.set(dataset, kept);
    return kept;
  }

  /** The change of a key that waits. */
  waitingRow(dataset: Dataset, key: string): Change | undefined {
    return this.#waiting.get(dataset)?.get(key);
  }

  /** The rows of a dataset that wait: to be sent. */
  take(dataset: Dataset): readonly Change[] {
    const kept = this.#waiting.get(dataset);
    this.#waiting.delete(dataset);
    return kept === undefined ? [] : [...kept.values()];
  }

  /** Runs a change of a dataset after those that were begun before it. */
  inOrder(dataset: Dataset, change: () => Promise<unknown>): Promise<void> {
    const done = (this.#underWay.get(dataset) ?? Promise.resolve()).then(change);
    this.#underWay.set(dataset, done);
    // Its error is met where it is waited for.
    done.catch(() => undefined);
    return this.done(dataset);
  }

  /** Waits for the changes of a dataset that were begun. */
  async done(dataset: Dataset): Promise<void> {
    await this.#underWay.get(dataset);
  }

  /** Forgets the changes of a part that is undone, when none is on its way. */
  async undo(): Promise<void> {
    this.#waiting = new Map();
    await Promise.allSettled(this.#underWay.values());
    this.#underWay.clear();
  }
}

/** Reads and writes rows on a session, inside whatever transaction it is in. */
export class PostgresRows extends StoredRows implements RowWriter {
  readonly #sessionOf: () => Promise<Session>;
  protected readonly changes = new RowChanges();

  constructor(sessionOf: () => Promise<Session>) {
    super(postgresCompiler);
    this.#sessionOf = sessionOf;
  }

  async #ask(sql: string, values: readonly Parameter[]): Promise<StoredCell[][]> {
    return (await this.#sessionOf()).ask(sql, values);
  }

  protected async lists(
    dataset: Dataset,
    sql: string,
    values: readonly Parameter[],
  ): Promise<StoredCell[][]> {
    await this.#send(dataset);
    return this.#ask(sql, values);
  }

  /**
   * A read by a whole key sends nothing that waits: a row of that key that waits is its answer.
   */
  protected override async read(dataset: Dataset, read: Read): Promise<StoredCell[][]> {
    const key = wholeKey(dataset, read);
    if (key === null) return super.read(dataset, read);
    const waiting = this.changes.waitingRow(dataset, key);
    if (waiting !== undefined) return waiting.cells === null ? [] : [[...waiting.cells]];
    // Those that were sent before it are stored first.
    await this.changes.done(dataset);
    const statement = this.compiler.read(dataset, read);
    return this.#ask(statement.sql, statement.values(read));
  }

  /** One question: each row of its answer has the place of its read, from 1, and then its own columns. */
  protected override async readEach(dataset: Dataset, reads: readonly Read[]): Promise<StoredCell[][][]> {
    // A row that waits may be the answer of one read alone.
    if (reads.length === 1) return [await this.read(dataset, reads[0]!)];
    const { sql, values } = questionOf(dataset, reads);
    const found: StoredCell[][][] = reads.map(() => []);
    for (const [place, ...cells] of await this.lists(dataset, sql, values))
      found[(place as number) - 1]!.push(cells);
    return found;
  }

  async extent<D extends Dataset>(dataset: D, column?: ColumnOf<D>): Promise<Extent> {
    if (column !== undefined && dataset.group !== undefined) return this.walkedExtent(dataset, column);
    const ends =
      column === undefined ? 'null::bigint, null::bigint' : `min(${quoted(column)}), max(${quoted(column)})`;
    const [row] = await this.lists(dataset, `select count(*), ${ends} from ${quoted(dataset.name)}`, []);
    const [rows, first, last] = row as [number, number | null, number | null];
    return { rows, first, last };
  }

  async upsert<D extends Dataset>(dataset: D, rows: readonly RowOf<D>[]): Promise<void> {
    const form = rowFormOf(dataset);
    for (const row of rows as readonly Row[]) {
      this.#keep(dataset, row, rowCells(form, row));
      if (this.#isFull(dataset)) await this.#send(dataset);
    }
  }

  async remove<D extends Dataset>(dataset: D, keys: readonly Partial<RowOf<D>>[]): Promise<void> {
    for (const row of keys as readonly Row[]) {
      this.#keep(dataset, row, null);
      if (this.#isFull(dataset)) await this.#send(dataset);
    }
  }

  /** A change of a row waits for others, to be sent with them; without cells the row is removed. */
  #keep(dataset: Dataset, row: Row, cells: readonly StoredCell[] | null): void {
    this.changes.written.addRow(dataset, row);
    this.changes.waiting(dataset).set(rowKeyOf(dataset, row), { key: keyCells(dataset, row), cells });
  }

  #isFull(dataset: Dataset): boolean {
    return this.changes.waiting(dataset).size >= storeLimits.rowsPerUpsertMax;
  }

  /** Sends the changes of a dataset that wait; waits until they and those before them are made. */
  async #send(dataset: Dataset): Promise<void> {
    const changes = this.changes.take(dataset);
    if (changes.length === 0) return this.changes.done(dataset);
    const written = changes.flatMap(({ cells }) => (cells === null ? [] : [cells]));
    const removed = changes.flatMap(({ key, cells }) => (cells === null ? [key] : []));
    await this.changes.inOrder(dataset, async () => {
      await this.#noteMoved(
        dataset,
        changes.map(({ key }) => key),
      );
      await Promise.all([this.#write(dataset, written), this.#remove(dataset, removed)]);
    });
  }

  async #write(dataset: Dataset, rows: readonly (readonly StoredCell[])[]): Promise<void> {
    if (rows.length === 0) return;
    const columns = [...rowFormOf(dataset).kinds, 'integer' as const].map((kind, at) =>
      arrayOf(
        kind,
        rows.map((cells) => cells[at]!),
      ),
    );
    await this.#ask(this.compiler.upsert(dataset), columns);
  }

  async #remove(dataset: Dataset, keys: readonly (readonly StoredCell[])[]): Promise<void> {
    if (keys.length === 0) return;
    const { table, isSame, values } = keysOf(dataset, keys);
    await this.#ask(`delete from ${quoted(dataset.name)} as t using ${table} where ${isSame}`, values);
  }

  /**
   * Notes the parts that rows were of before they are changed, where these may be others (`WrittenParts`).
   */
  async #noteMoved(dataset: Dataset, keys: readonly (readonly StoredCell[])[]): Promise<void> {
    const moving = movingColumns(dataset);
    if (moving.length === 0) return;
    const names = [...dataset.key, ...moving];
    const { table, isSame, values } = keysOf(dataset, keys);
    const sql = `select ${names.map((column) => `t.${quoted(column)}`).join()} from ${table} join ${quoted(dataset.name)} as t on ${isSame}`;
    for (const cells of await this.#ask(sql, values)) {
      const before = Object.fromEntries(names.map((column, at) => [column, cells[at]]));
      this.changes.written.addRow(dataset, before);
    }
  }

  /** The server's own checks are the scrub's. */
  async structure(): Promise<readonly Damage[]> {
    return [];
  }

  /** Sends all rows that wait; waits until all changes are made. */
  async sendAll(): Promise<void> {
    for (const dataset of this.changes.datasets) await this.#send(dataset);
  }
}
