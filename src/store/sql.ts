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
import { ROW_CHECK } from './row-check.ts';
import type { RankedRead, Read } from './store.ts';

type AnyTables = Record<string, Record<string, unknown>>;

/** A parameter of a compiled statement: each execution takes its value from the read. */
type Slot<R> = { take(read: R): unknown };

/** A statement's text, and the values that a read gives it. */
type Statement<R> = { readonly sql: string; values(read: R): unknown[] };

/** The most values that one statement looks for; more values need several statements. */
export const AMONG_MAX = 64;

/** A read of the rows that have one of some values in a column. The last value is repeated until the statement is full. */
type AmongRead = {
  readonly where: Readonly<Record<string, unknown>>;
  readonly column: string;
  readonly values: readonly (string | number)[];
};

/** The most statements of one kind that are cached: ranked reads have many orders. */
const CACHED_MAX = 500;

/** Compiles what the engines execute, each shape once. */
export class SqlCompiler {
  readonly #db: Kysely<AnyTables>;
  readonly #types: Readonly<Record<ColumnKind, ColumnDataType>>;
  readonly #reads = new Map<string, Statement<Read>>();
  readonly #among = new Map<string, Statement<AmongRead>>();
  readonly #ranked = new Map<string, Statement<RankedRead>>();
  readonly #upserts = new Map<Dataset, string>();
  readonly #removals = new Map<Dataset, string>();

  constructor(dialect: Dialect, types: Readonly<Record<ColumnKind, ColumnDataType>>) {
    this.#db = new Kysely<AnyTables>({ dialect });
    this.#types = types;
  }

  /** Statements that make a table and its indexes. `clustered` ends the table's own where rows are stored in the order of the key. */
  createTable(
    { name, columns, key, indexes = [], keptAsTheyCome }: Table,
    clustered: Expression<unknown>,
  ): string[] {
    let table = this.#db.schema.createTable(name).addPrimaryKeyConstraint(`${name}_key`, [...key] as never[]);
    for (const [column, { kind, nullable }] of Object.entries(columns))
      table = table.addColumn(column, this.#types[kind], (build) => (nullable ? build : build.notNull()));
    const made = keptAsTheyCome ? table : table.modifyEnd(clustered);
    return [made.compile().sql, ...this.addIndexes(name, indexes)];
  }

  /** Statements that make indexes of an existing table. */
  addIndexes(table: string, indexes: readonly (readonly string[])[]): string[] {
    return indexes.map((order) => {
      const index = this.#db.schema.createIndex(`${table}_by_${order.join('_')}`);
      return index
        .on(table)
        .columns([...order])
        .compile().sql;
    });
  }

  /** Statements that add columns, which may be null, to an existing table. */
  addColumns(table: string, columns: Readonly<Record<string, Column>>): string[] {
    const { schema } = this.#db;
    return Object.entries(columns).map(
      ([name, { kind }]) => schema.alterTable(table).addColumn(name, this.#types[kind]).compile().sql,
    );
  }

  /** Insert or replace by key; values in the order of the declared columns, then the row's checksum. */
  upsert(dataset: Dataset): string {
    const known = this.#upserts.get(dataset);
    if (known !== undefined) return known;
    const columns = checkedColumns(dataset);
    const rest = columns.filter((column) => !dataset.key.includes(column));
    const { sql } = this.#db
      .insertInto(dataset.name)
      .values(Object.fromEntries(columns.map((column) => [column, null])))
      .onConflict((conflict) => {
        const target = conflict.columns([...dataset.key]);
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
    const known = this.#removals.get(dataset);
    if (known !== undefined) return known;
    let statement = this.#db.deleteFrom(dataset.name);
    for (const column of dataset.key) statement = statement.where(column, '=', null);
    const { sql } = statement.compile();
    this.#removals.set(dataset, sql);
    return sql;
  }

  /** A bounded read of every column and the row's checksum. Reads of one shape share one statement. */
  read(dataset: Dataset, read: Read): Statement<Read> {
    const { where = {}, along = {}, range = {}, order, after } = read;
    const bounds = `${range.from !== undefined}|${range.to !== undefined}|${after !== undefined}`;
    const equal = `${Object.keys(where).join()}|${Object.keys(along).join()}`;
    const shape = `${dataset.name}|${equal}|${bounds}|${orderText(order)}`;
    return cached(this.#reads, shape, () => {
      let query = this.#db.selectFrom(dataset.name).select(checkedColumns(dataset));
      for (const column of Object.keys(where))
        query = query.where(
          column,
          '=',
          slot<Read>((actual) => actual.where![column]),
        );
      // The `+` keeps the planner from using the column to choose an index or an order.
      for (const column of Object.keys(along))
        query = query.where(
          sql`+${sql.ref(column)}`,
          '=',
          slot<Read>((actual) => actual.along![column]),
        );
      const [first] = order[0]!;
      if (range.from !== undefined)
        query = query.where(
          first,
          '>=',
          slot<Read>((actual) => actual.range!.from),
        );
      if (range.to !== undefined)
        query = query.where(
          first,
          '<',
          slot<Read>((actual) => actual.range!.to),
        );
      if (after !== undefined) query = query.where((build) => behind(build, order, 0));
      for (const [column, direction] of order) query = query.orderBy(column, direction);
      return query.limit(slot<Read>((actual) => actual.limit) as unknown as number).compile();
    });
  }

  /** A read of up to `AMONG_MAX` values of a column. */
  among(dataset: Dataset, { where, column }: AmongRead): Statement<AmongRead> {
    return cached(this.#among, [dataset.name, ...Object.keys(where), column].join('|'), () => {
      let query = this.#db.selectFrom(dataset.name).select(checkedColumns(dataset));
      for (const name of Object.keys(where))
        query = query.where(
          name,
          '=',
          slot<AmongRead>((actual) => actual.where[name]),
        );
      const slots = Array.from({ length: AMONG_MAX }, (_, at) =>
        slot<AmongRead>(({ values }) => values[Math.min(at, values.length - 1)]),
      );
      return query.where(column, 'in', slots).compile();
    });
  }

  /**
   * A bounded read of groups in an order of its own. The groups are a table of values, joined so that each is one search of the
   * index and nothing else is read. Reads of one shape and number of groups share one statement.
   */
  ranked(dataset: Dataset, read: RankedRead): Statement<RankedRead> {
    const { where, groupBy, groups, between, order, after } = read;
    const bounds = [between?.column, between?.above !== undefined, between?.below !== undefined];
    const columns = [Object.keys(where), groupBy, groups.length, bounds, orderText(order)];
    return cached(this.#ranked, [dataset.name, ...columns, after !== undefined].join('|'), () => {
      const rows = groups.map((_, group) => {
        const slots = groupBy.map((_, at) => slot<RankedRead>((actual) => actual.groups[group]!.at[at]));
        return sql`(${sql.join([...slots, slot<RankedRead>((actual) => actual.groups[group]!.rank)])})`;
      });
      const names = [...groupBy.map((column) => `at_${column}`), 'rank'];
      let query = this.#db
        .with(`places(${names.join(', ')})`, () => sql<Record<string, unknown>>`(values ${sql.join(rows)})`)
        .selectFrom('places')
        .crossJoin(dataset.name)
        .select(order.map(([column]) => column));
      for (const column of Object.keys(where))
        query = query.where(
          column,
          '=',
          slot<RankedRead>((actual) => actual.where[column]),
        );
      for (const column of groupBy)
        query = query.where((build) =>
          build(column, 'is not distinct from', build.ref(`places.at_${column}`)),
        );
      if (between?.above !== undefined)
        query = query.where(
          between.column,
          '>',
          slot<RankedRead>((actual) => actual.between!.above),
        );
      if (between?.below !== undefined)
        query = query.where(
          between.column,
          '<',
          slot<RankedRead>((actual) => actual.between!.below),
        );
      if (after !== undefined) query = query.where((build) => behind(build, order, 0));
      for (const [column, direction] of order) query = query.orderBy(column, direction);
      return query.limit(slot<RankedRead>((actual) => actual.limit) as unknown as number).compile();
    });
  }

  /** A count; values in the order of the columns that must be equal. */
  count(dataset: Dataset, columns: readonly string[]): string {
    let query = this.#db.selectFrom(dataset.name).select((build) => build.fn.countAll().as('count'));
    for (const column of columns) query = query.where(column, '=', null);
    return query.compile().sql;
  }
}

const checkedColumns = ({ columns }: Dataset): string[] => [...Object.keys(columns), ROW_CHECK];

const slot = <R>(take: (read: R) => unknown): Slot<R> => ({ take });

const orderText = (order: Read['order']): string =>
  order.map(([column, direction]) => `${column} ${direction}`).join();

/** The statement of a shape, compiled at its first use. */
function cached<R>(cache: Map<string, Statement<R>>, shape: string, compile: () => CompiledQuery) {
  let statement = cache.get(shape);
  if (statement === undefined) {
    const { sql, parameters } = compile();
    statement = { sql, values: (read) => parameters.map((one) => (one as Slot<R>).take(read)) };
    if (cache.size >= CACHED_MAX) cache.clear();
    cache.set(shape, statement);
  }
  return statement;
}

/**
 * The condition "after the last row seen" for an order of mixed directions: `a >= ? and (a > ? or (b < ? or ...))`. The bound on the
 * first column is a condition of its own, so that SQLite seeks to it in the index and does not scan from the start.
 */
function behind(
  build: ExpressionBuilder<AnyTables, string>,
  order: Read['order'],
  at: number,
): Expression<SqlBool> {
  const [column, direction] = order[at]!;
  const value = slot<Pick<Read, 'after'>>((actual) => actual.after![at]);
  const strictly = direction === 'asc' ? '>' : '<';
  if (at === order.length - 1) return build(column, strictly, value);
  return build.and([
    build(column, `${strictly}=`, value),
    build.or([build(column, strictly, value), behind(build, order, at + 1)]),
  ]);
}
