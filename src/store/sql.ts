// Dataset -> tables, read -> statement text, shared by the engines. Kysely compiles; its drivers are not used.
import {
  type ColumnDataType,
  type CompiledQuery,
  type Dialect,
  type Expression,
  type ExpressionBuilder,
  Kysely,
  type SqlBool,
  sql,
} from 'kysely';
import type { Column, ColumnKind, Dataset } from '../datasets/dataset.ts';
import type { Table } from './migrations/step.ts';
import type { RankedRead, Read } from './store.ts';

type AnyTables = Record<string, Record<string, unknown>>;
type Condition = Expression<SqlBool>;
type Columns = ExpressionBuilder<AnyTables, string>;

/** A parameter of a compiled statement: each execution takes its value from the read. */
class Slot<R> {
  readonly take: (read: R) => unknown;
  constructor(take: (read: R) => unknown) {
    this.take = take;
  }
}

/** A statement's text, and the values that a read gives it. */
export type Statement<R = Read> = { readonly sql: string; values(read: R): unknown[] };

/** The most values that one statement looks for; more take several statements. */
export const AMONG_MAX = 64;

/** A read of the rows that have one of some values in a column. The last value is repeated until the statement is full. */
type AmongRead = {
  readonly where: Readonly<Record<string, unknown>>;
  readonly column: string;
  readonly values: readonly (string | number)[];
};

/** The most statements of ranked reads that are cached: callers choose among many orders. */
const RANKED_KEPT_MAX = 200;

/** How an engine names the kinds of columns. */
export type ColumnTypes = Readonly<Record<ColumnKind, ColumnDataType>>;

/** Compiles what the engines execute, each shape once. */
export class SqlCompiler {
  readonly #db: Kysely<AnyTables>;
  readonly #types: ColumnTypes;
  readonly #reads = new Map<string, Statement>();
  readonly #among = new Map<string, Statement<AmongRead>>();
  readonly #ranked = new Map<string, Statement<RankedRead>>();
  readonly #upserts = new Map<Dataset, string>();

  constructor(dialect: Dialect, types: ColumnTypes) {
    this.#db = new Kysely<AnyTables>({ dialect });
    this.#types = types;
  }

  /** Statements that make a table and its indexes; `tail` ends the table's own, null where nothing does. */
  createTable({ name, columns, key, indexes = [] }: Table, tail: Expression<unknown> | null): string[] {
    let table = this.#db.schema.createTable(name).addPrimaryKeyConstraint(`${name}_key`, [...key] as never[]);
    for (const [column, { kind, nullable }] of Object.entries(columns)) {
      table = table.addColumn(column, this.#types[kind], (build) => (nullable ? build : build.notNull()));
    }
    const made = indexes.map((order) =>
      this.#db.schema
        .createIndex(`${name}_by_${order.join('_')}`)
        .on(name)
        .columns([...order]),
    );
    return [tail === null ? table : table.modifyEnd(tail), ...made].map(
      (statement) => statement.compile().sql,
    );
  }

  /** Statements that add columns, which may be null, to a table that is there. */
  addColumns(table: string, columns: Readonly<Record<string, Column>>): string[] {
    return Object.entries(columns).map(
      ([name, { kind }]) =>
        this.#db.schema.alterTable(table).addColumn(name, this.#types[kind]).compile().sql,
    );
  }

  /** Insert or replace by key; values in the order of the declared columns. */
  upsert(dataset: Dataset): string {
    const known = this.#upserts.get(dataset);
    if (known !== undefined) return known;
    const columns = Object.keys(dataset.columns);
    const rest = columns.filter((column) => !dataset.key.includes(column));
    const { sql } = this.#db
      .insertInto(dataset.name)
      .values(Object.fromEntries(columns.map((column) => [column, null])))
      .onConflict((conflict) => {
        const target = conflict.columns([...dataset.key]);
        if (rest.length === 0) return target.doNothing();
        return target.doUpdateSet((build) =>
          Object.fromEntries(rest.map((column) => [column, build.ref(`excluded.${column}`)])),
        );
      })
      .compile();
    this.#upserts.set(dataset, sql);
    return sql;
  }

  /** Delete by whole key; values in the order of the key. */
  remove(dataset: Dataset): string {
    let statement = this.#db.deleteFrom(dataset.name);
    for (const column of dataset.key) statement = statement.where(column, '=', null);
    return statement.compile().sql;
  }

  /** A bounded read, of every column unless some are named. Reads of one shape share one statement. */
  read(dataset: Dataset, read: Read, columns?: readonly string[]): Statement {
    const shape = `${shapeOf(dataset, read)}|${columns?.join() ?? ''}`;
    let statement = this.#reads.get(shape);
    if (statement === undefined) {
      statement = this.#compileRead(dataset, read, columns ?? Object.keys(dataset.columns));
      this.#reads.set(shape, statement);
    }
    return statement;
  }

  /** A read of up to `AMONG_MAX` values of a column. */
  among(dataset: Dataset, { where, column }: AmongRead): Statement<AmongRead> {
    const shape = [dataset.name, ...Object.keys(where), column].join('|');
    let statement = this.#among.get(shape);
    if (statement === undefined) {
      let query = this.#db.selectFrom(dataset.name).select(Object.keys(dataset.columns));
      for (const name of Object.keys(where))
        query = query.where(name, '=', new Slot<AmongRead>((actual) => actual.where[name]));
      const slots = Array.from(
        { length: AMONG_MAX },
        (_, at) => new Slot<AmongRead>(({ values }) => values[Math.min(at, values.length - 1)]),
      );
      statement = statementOf<AmongRead>(query.where(column, 'in', slots).compile());
      this.#among.set(shape, statement);
    }
    return statement;
  }

  /** A bounded read of groups in an order of its own. Reads of one shape and so many groups share one statement. */
  ranked(dataset: Dataset, read: RankedRead): Statement<RankedRead> {
    const shape = rankedShapeOf(dataset, read);
    let statement = this.#ranked.get(shape);
    if (statement === undefined) {
      if (this.#ranked.size >= RANKED_KEPT_MAX) this.#ranked.clear();
      statement = this.#compileRanked(dataset, read);
      this.#ranked.set(shape, statement);
    }
    return statement;
  }

  /** A count; values in the order of the columns that must be equal. */
  count(dataset: Dataset, columns: readonly string[]): string {
    let query = this.#db.selectFrom(dataset.name).select((build) => build.fn.countAll().as('count'));
    for (const column of columns) query = query.where(column, '=', null);
    return query.compile().sql;
  }

  /** The least and the greatest value of a column, each by its own search: an index that begins with the column is then not scanned. */
  ends(dataset: Dataset, column: string): string {
    const end = (of: 'min' | 'max') =>
      this.#db.selectFrom(dataset.name).select((build) => build.fn[of](column).as('end'));
    return this.#db.selectNoFrom([end('min').as('first'), end('max').as('last')]).compile().sql;
  }

  #compileRead(dataset: Dataset, read: Read, columns: readonly string[]): Statement {
    let query = this.#db.selectFrom(dataset.name).select(columns);
    for (const column of Object.keys(read.where ?? {})) {
      query = query.where(column, '=', new Slot<Read>((actual) => actual.where![column]));
    }
    for (const column of Object.keys(read.along ?? {})) {
      // The `+` keeps the planner from using the column to choose an index or an order.
      query = query.where(sql`+${sql.ref(column)}`, '=', new Slot<Read>((actual) => actual.along![column]));
    }
    const first = read.order[0]!;
    if (read.range?.from !== undefined)
      query = query.where(first[0], '>=', new Slot<Read>((actual) => actual.range!.from));
    if (read.range?.to !== undefined)
      query = query.where(first[0], '<', new Slot<Read>((actual) => actual.range!.to));
    if (read.after !== undefined) query = query.where((build) => behind(build, read.order, 0));
    for (const [column, direction] of read.order) query = query.orderBy(column, direction);
    return statementOf(query.limit(new Slot<Read>((actual) => actual.limit) as unknown as number).compile());
  }

  /** The groups are a table of values, joined so that each is one search of the index; nothing else is read. */
  #compileRanked(dataset: Dataset, { where, groupBy, groups, between, order, after }: RankedRead) {
    const rows = groups.map((_, group) => {
      const slots = groupBy.map((_, at) => new Slot<RankedRead>((actual) => actual.groups[group]!.at[at]));
      return sql`(${sql.join([...slots, new Slot<RankedRead>((actual) => actual.groups[group]!.rank)])})`;
    });
    const names = [...groupBy.map((column) => `at_${column}`), 'rank'];
    let query = this.#db
      .with(`places(${names.join(', ')})`, () => sql<Record<string, unknown>>`(values ${sql.join(rows)})`)
      .selectFrom('places')
      .crossJoin(dataset.name)
      .select(order.map(([column]) => column));
    for (const column of Object.keys(where))
      query = query.where(column, '=', new Slot<RankedRead>((actual) => actual.where[column]));
    for (const column of groupBy)
      query = query.where((columns) =>
        columns(column, 'is not distinct from', columns.ref(`places.at_${column}`)),
      );
    if (between?.above !== undefined)
      query = query.where(between.column, '>', new Slot<RankedRead>((actual) => actual.between!.above));
    if (between?.below !== undefined)
      query = query.where(between.column, '<', new Slot<RankedRead>((actual) => actual.between!.below));
    if (after !== undefined) query = query.where((columns) => behind(columns, order, 0));
    for (const [column, direction] of order) query = query.orderBy(column, direction);
    const limit = new Slot<RankedRead>((actual) => actual.limit) as unknown as number;
    return statementOf<RankedRead>(query.limit(limit).compile());
  }
}

/**
 * The condition "after the last row seen" for an order of mixed directions: `a >= ? and (a > ? or (b < ? or ...))`. The bound on the
 * first column is a condition of its own, so that SQLite seeks to it in the index and does not scan from the start.
 */
function behind(columns: Columns, order: Read['order'], at: number): Condition {
  const [column, direction] = order[at]!;
  const value = new Slot<Pick<Read, 'after'>>((actual) => actual.after![at]);
  const strictly = direction === 'asc' ? '>' : '<';
  if (at === order.length - 1) return columns(column, strictly, value);
  return columns.and([
    columns(column, direction === 'asc' ? '>=' : '<=', value),
    columns.or([columns(column, strictly, value), behind(columns, order, at + 1)]),
  ]);
}

function statementOf<R>(compiled: CompiledQuery): Statement<R> {
  const slots = compiled.parameters;
  return {
    sql: compiled.sql,
    values: (read) => slots.map((slot) => (slot instanceof Slot ? (slot as Slot<R>).take(read) : slot)),
  };
}

const orderText = (order: Read['order']): string =>
  order.map(([column, direction]) => `${column} ${direction}`).join();

function shapeOf(dataset: Dataset, read: Read): string {
  const where = Object.keys(read.where ?? {}).join();
  const along = Object.keys(read.along ?? {}).join();
  return `${dataset.name}|${where}|${along}|${read.range?.from !== undefined}|${read.range?.to !== undefined}|${orderText(read.order)}|${read.after !== undefined}`;
}

function rankedShapeOf(
  dataset: Dataset,
  { where, groupBy, groups, between, order, after }: RankedRead,
): string {
  const bounds = [between?.column, between?.above !== undefined, between?.below !== undefined];
  const columns = [Object.keys(where), groupBy, groups.length, bounds, orderText(order)];
  return [dataset.name, ...columns, after !== undefined].join('|');
}
