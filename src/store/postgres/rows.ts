// Rows of datasets in PostgreSQL: reads, and upserts that are sent together. Every row that is read is checked.
import type { ColumnKind, ColumnOf, Dataset, RowOf } from '../../datasets/dataset.ts';
import { allRows } from '../all-rows.ts';
import { WrittenParts } from '../changes.ts';
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
import { movingColumns } from '../parts.ts';
import { ROW_CHECK, rowCheck, type StoredCell } from '../row-check.ts';
import type { Extent, RankedRead, Read, RowWriter } from '../store.ts';
import { arrayType, postgresCompiler } from './dialect.ts';
import type { Session } from './session.ts';
import type { Parameter } from './wire.ts';

function toSql(kind: ColumnKind, value: unknown): StoredCell {
  if (value === null || value === undefined) return null;
  if (kind === 'boolean') return value ? 1 : 0;
  if (kind === 'json') return JSON.stringify(value);
  return Number.isNaN(value) ? null : (value as StoredCell);
}

function fromSql(kind: ColumnKind, value: StoredCell): unknown {
  if (value === null) return null;
  if (kind === 'boolean') return value !== 0;
  return kind === 'json' ? JSON.parse(value as string) : value;
}

function rowOf({ names, kinds }: RowForm, cells: readonly StoredCell[]): Row {
  const row: Row = {};
  for (let at = 0; at < names.length; at++) row[names[at]!] = fromSql(kinds[at]!, cells[at]!);
  return row;
}

const quoted = (name: string): string => `"${name}"`;

const upserts = new WeakMap<Dataset, string>();

/** Inserts or replaces many rows: each parameter is a column of them. */
function upsertOf(dataset: Dataset): string {
  const known = upserts.get(dataset);
  if (known !== undefined) return known;
  const columns = [
    ...Object.entries(dataset.columns).map(([name, { kind }]) => [name, arrayType(kind)]),
    [ROW_CHECK, 'bigint[]'],
  ];
  const names = columns.map(([name]) => name!);
  const changes = names
    .filter((name) => !dataset.key.includes(name))
    .map((name) => `${quoted(name)} = excluded.${quoted(name)}`);
  const sql = `insert into ${quoted(dataset.name)} (${names.map(quoted).join()}) select * from unnest(${columns
    .map(([, type], at) => `$${at + 1}::${type}`)
    .join()}) on conflict (${dataset.key.map(quoted).join()}) do update set ${changes.join()}`;
  upserts.set(dataset, sql);
  return sql;
}

/** Rows that wait to be written, by their key. */
type Waiting = Map<string, readonly StoredCell[]>;

/** What all views of one write share: the rows that wait, and the parts of the data that it changes. */
export class RowChanges {
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

  /** The rows of a dataset that wait: to be sent. */
  take(dataset: Dataset): readonly (readonly StoredCell[])[] {
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
export class PostgresRows implements RowWriter {
  protected readonly sessionOf: () => Promise<Session>;
  protected readonly onDamage: OnDamage | null;
  readonly #changes: RowChanges;

  constructor(
    sessionOf: () => Promise<Session>,
    onDamage: OnDamage | null = null,
    changes: RowChanges = new RowChanges(),
  ) {
    this.sessionOf = sessionOf;
    this.onDamage = onDamage;
    this.#changes = changes;
  }

  sound(onDamage: OnDamage): PostgresRows {
    return new PostgresRows(this.sessionOf, onDamage, this.#changes);
  }

  async #ask(sql: string, values: readonly unknown[]): Promise<StoredCell[][]> {
    const bound = values.map((value) => (typeof value === 'boolean' ? Number(value) : value));
    return (await this.sessionOf()).ask(sql, bound as Parameter[]);
  }

  async #found(dataset: Dataset, sql: string, values: readonly unknown[]): Promise<StoredCell[][]> {
    await this.#send(dataset);
    return this.#ask(sql, values);
  }

  async rows<D extends Dataset>(dataset: D, read: Read<D>): Promise<RowOf<D>[]> {
    const asked = read as unknown as Read;
    const misplaced = misplacedIn(dataset, asked);
    for (let { limit } = asked; ; limit *= 2) {
      const wanted = { ...asked, limit };
      const statement = postgresCompiler.read(dataset, wanted);
      const found = await this.#found(dataset, statement.sql, statement.values(wanted));
      const rows = this.#checked(dataset, found, misplaced);
      // Rows that were left out take no place in an answer.
      if (rows.length >= asked.limit || found.length < limit) return rows.slice(0, asked.limit) as RowOf<D>[];
    }
  }

  #checked(dataset: Dataset, found: readonly StoredCell[][], misplaced: Misplaced): Row[] {
    const form = rowFormOf(dataset);
    const rows: Row[] = [];
    for (const cells of found) {
      if (!isWhole(form, cells)) {
        const raw = rawRow(form, cells);
        this.damaged(rowDamage(dataset, raw, 'its checksum does not match'), { row: raw });
        continue;
      }
      const row = rowOf(form, cells);
      const problem = misplaced(row, rows.at(-1) ?? null);
      if (problem === null) rows.push(row);
      else this.damaged(rowDamage(dataset, row, problem), { row: rawRow(form, cells) });
    }
    return rows;
  }

  protected damaged(damage: Damage, remains: Remains, cause?: unknown): void {
    if (this.onDamage === null) throw new DamagedData(damage, cause);
    this.onDamage(damage, remains);
  }

  async group<D extends Dataset>(dataset: D, where: Partial<RowOf<D>>): Promise<RowOf<D>[]> {
    const { group = [], key } = dataset;
    const rest = key.filter((column) => !group.includes(column));
    const order = rest.length === 0 || !group.every((column) => key.includes(column)) ? group : rest;
    const read = {
      where,
      order: order.map((column) => [column, 'asc'] as const),
      limit: Number.MAX_SAFE_INTEGER,
    };
    return this.rows(dataset, read as unknown as Read<D>);
  }

  async among<D extends Dataset>(
    dataset: D,
    where: Partial<RowOf<D>>,
    column: ColumnOf<D>,
    values: readonly (string | number)[],
  ): Promise<RowOf<D>[]> {
    const misplaced = misplacedAmong(where as Row, column, values);
    const reads: Promise<StoredCell[][]>[] = [];
    await this.#send(dataset);
    for (let at = 0; at < values.length; at += storeLimits.amongMax) {
      const read = { where, column, values: values.slice(at, at + storeLimits.amongMax) };
      const statement = postgresCompiler.among(dataset, read);
      reads.push(this.#ask(statement.sql, statement.values(read)));
    }
    const found = (await Promise.all(reads)).flat();
    return this.#checked(dataset, found, misplaced) as RowOf<D>[];
  }

  async ranked<D extends Dataset>(dataset: D, read: RankedRead<D>): Promise<(string | number)[][]> {
    // SQL has no empty table of values.
    if (read.groups.length === 0) return [];
    const ranked = read as unknown as RankedRead;
    const statement = postgresCompiler.ranked(dataset, ranked);
    return (await this.#found(dataset, statement.sql, statement.values(ranked))) as (string | number)[][];
  }

  async count<D extends Dataset>(dataset: D, where: Partial<RowOf<D>> = {}): Promise<number> {
    const sql = postgresCompiler.count(dataset, where);
    const given = Object.values(where).filter((value) => value !== null);
    const [row] = await this.#found(dataset, sql, given);
    return row![0] as number;
  }

  async extent<D extends Dataset>(dataset: D, column?: ColumnOf<D>): Promise<Extent> {
    if (column !== undefined && dataset.group !== undefined) return this.#walkedExtent(dataset, column);
    const ends =
      column === undefined ? 'null::bigint, null::bigint' : `min(${quoted(column)}), max(${quoted(column)})`;
    const [row] = await this.#found(dataset, `select count(*), ${ends} from ${quoted(dataset.name)}`, []);
    const [rows, first, last] = row as [number, number | null, number | null];
    return { rows, first, last };
  }

  /** Rows of few groups are read with their checksums. */
  async #walkedExtent(dataset: Dataset, column: string): Promise<Extent> {
    let [rows, first, last] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for await (const row of allRows(this, dataset)) {
      rows++;
      const value = (row as Row)[column] as number | null;
      if (value === null) continue;
      first = Math.min(first, value);
      last = Math.max(last, value);
    }
    return first > last ? { rows, first: null, last: null } : { rows, first, last };
  }

  async upsert<D extends Dataset>(dataset: D, rows: readonly RowOf<D>[]): Promise<void> {
    const { names, kinds, seeds } = rowFormOf(dataset);
    const kept = this.#changes.waiting(dataset);
    for (const row of rows as readonly Row[]) {
      this.#changes.written.addRow(dataset, row);
      const cells = names.map((name, at) => toSql(kinds[at]!, row[name]));
      cells.push(rowCheck(seeds, cells));
      kept.set(JSON.stringify(dataset.key.map((name) => row[name])), cells);
    }
    if (kept.size >= storeLimits.rowsPerUpsertMax) await this.#send(dataset);
  }

  /** Sends the rows of a dataset that wait; waits until they and those before them are stored. */
  async #send(dataset: Dataset): Promise<void> {
    const rows = this.#changes.take(dataset);
    if (rows.length === 0) return this.#changes.done(dataset);
    const { names } = rowFormOf(dataset);
    const places = dataset.key.map((name) => names.indexOf(name));
    const columns = [...names, ROW_CHECK].map((_, at) => rows.map((cells) => cells[at]!));
    await this.#changes.inOrder(dataset, async () => {
      await this.#noteMoved(
        dataset,
        rows.map((cells) => places.map((at) => cells[at]!)),
      );
      await (await this.sessionOf()).ask(upsertOf(dataset), columns);
    });
  }

  /** Notes the parts that rows were of before they are changed, where these may be others (`WrittenParts`). */
  async #noteMoved(dataset: Dataset, keys: readonly (readonly StoredCell[])[]): Promise<void> {
    const moving = movingColumns(dataset);
    if (moving.length === 0 || keys.length === 0) return;
    const { name, key, columns } = dataset;
    const names = [...key, ...moving];
    const arrays = key.map((column, at) => `$${at + 1}::${arrayType(columns[column]!.kind)}`);
    const same = key.map((column, at) => `t.${quoted(column)} = k.k${at}`);
    const sql = `select ${names.map((column) => `t.${quoted(column)}`).join()} from unnest(${arrays.join()}) as k(${key.map((_, at) => `k${at}`).join()})
      join ${quoted(name)} as t on ${same.join(' and ')}`;
    const found = await this.#ask(
      sql,
      key.map((_, at) => keys.map((cells) => cells[at]!)),
    );
    for (const cells of found) {
      const before = Object.fromEntries(names.map((column, at) => [column, cells[at]]));
      this.#changes.written.addRow(dataset, before);
    }
  }

  /** Sends all rows that wait; waits until all changes are made. */
  async sendAll(): Promise<void> {
    for (const dataset of this.#changes.datasets) await this.#send(dataset);
  }

  async remove<D extends Dataset>(dataset: D, keys: readonly Partial<RowOf<D>>[]): Promise<void> {
    const sent = this.#send(dataset);
    const sql = postgresCompiler.remove(dataset);
    const cells = (keys as readonly Row[]).map((row) =>
      dataset.key.map((name) => toSql(dataset.columns[name]!.kind, row[name])),
    );
    for (const row of keys as readonly Row[]) this.#changes.written.addRow(dataset, row);
    const removed = this.#changes.inOrder(dataset, async () => {
      await this.#noteMoved(dataset, cells);
      await Promise.all(cells.map((key) => this.#ask(sql, key)));
    });
    await Promise.all([sent, removed]);
  }
}
