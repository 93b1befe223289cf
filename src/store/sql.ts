// Dataset -> tables, read -> statement text, shared by the engines. Kysely compiles; its drivers are not used.
import {
  type ColumnDataType,
  type CompiledQuery,
  type Dialect,
  type Expression,
  type ExpressionBuilder,
  Kysely,
  type SqlBool,
} from 'kysely';
import type { ColumnKind, Dataset } from '../datasets/dataset.ts';
import type { Direction, Read } from './store.ts';

type AnyTables = Record<string, Record<string, unknown>>;
type Condition = Expression<SqlBool>;
type Columns = ExpressionBuilder<AnyTables, string>;

/** Stands in a compiled statement for a value that each execution brings. */
class Slot {
  readonly take: (read: Read) => unknown;
  constructor(take: (read: Read) => unknown) {
    this.take = take;
  }
}

/** A statement's text, and the values that a read gives it. */
export type Statement = { readonly sql: string; values(read: Read): unknown[] };

/** How an engine names the kinds of columns. */
export type ColumnTypes = Readonly<Record<ColumnKind, ColumnDataType>>;

/** Compiles what the engines execute, each shape once. */
export class SqlCompiler {
  readonly #db: Kysely<AnyTables>;
  readonly #types: ColumnTypes;
  readonly #reads = new Map<string, Statement>();
  readonly #upserts = new Map<Dataset, string>();

  constructor(dialect: Dialect, types: ColumnTypes) {
    this.#db = new Kysely<AnyTables>({ dialect });
    this.#types = types;
  }

  /** Statements that make a dataset's table and its indexes; `tail` ends the table's own, null where nothing does. */
  createTable(dataset: Dataset, tail: Expression<unknown> | null): string[] {
    let table = this.#db.schema
      .createTable(dataset.name)
      .addPrimaryKeyConstraint(`${dataset.name}_key`, [...dataset.key] as never[]);
    for (const [name, column] of Object.entries(dataset.columns)) {
      table = table.addColumn(name, this.#types[column.kind], (build) =>
        column.nullable ? build : build.notNull(),
      );
    }
    const indexes = (dataset.indexes ?? []).map((columns) =>
      this.#db.schema
        .createIndex(`${dataset.name}_by_${columns.join('_')}`)
        .on(dataset.name)
        .columns([...columns]),
    );
    return [tail === null ? table : table.modifyEnd(tail), ...indexes].map(
      (statement) => statement.compile().sql,
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
      .onConflict((conflict) =>
        conflict
          .columns([...dataset.key])
          .doUpdateSet((build) =>
            Object.fromEntries(rest.map((column) => [column, build.ref(`excluded.${column}`)])),
          ),
      )
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

  /** A bounded read. Reads of one shape share one statement. */
  read(dataset: Dataset, read: Read): Statement {
    const shape = shapeOf(dataset, read);
    let statement = this.#reads.get(shape);
    if (statement === undefined) {
      statement = this.#compileRead(dataset, read);
      this.#reads.set(shape, statement);
    }
    return statement;
  }

  #compileRead(dataset: Dataset, read: Read): Statement {
    let query = this.#db.selectFrom(dataset.name).select(Object.keys(dataset.columns));
    for (const column of Object.keys(read.where ?? {})) {
      query = query.where(column, '=', new Slot((actual) => actual.where![column]));
    }
    const first = read.order[0]!;
    if (read.range?.from !== undefined)
      query = query.where(first[0], '>=', new Slot((actual) => actual.range!.from));
    if (read.range?.to !== undefined)
      query = query.where(first[0], '<', new Slot((actual) => actual.range!.to));
    if (read.after !== undefined) query = query.where((columns) => behind(columns, read.order, 0));
    for (const [column, direction] of read.order) query = query.orderBy(column, direction);
    return statementOf(query.limit(new Slot((actual) => actual.limit) as unknown as number).compile());
  }
}

/**
 * The condition "behind the last row seen" for an order of mixed directions: `a >= ? and (a > ? or (b < ? or ...))`. The
 * bound on the leading column stands alone in front, so that an index is entered at the place and not walked from its start.
 */
function behind(columns: Columns, order: Read['order'], at: number): Condition {
  const [column, direction] = order[at]!;
  const value = new Slot((actual) => actual.after![at]);
  const strictly = direction === 'asc' ? '>' : '<';
  if (at === order.length - 1) return columns(column, strictly, value);
  return columns.and([
    columns(column, direction === 'asc' ? '>=' : '<=', value),
    columns.or([columns(column, strictly, value), behind(columns, order, at + 1)]),
  ]);
}

function statementOf(compiled: CompiledQuery): Statement {
  const slots = compiled.parameters;
  return {
    sql: compiled.sql,
    values: (read) => slots.map((slot) => (slot instanceof Slot ? slot.take(read) : slot)),
  };
}

function shapeOf(dataset: Dataset, read: Read): string {
  const order = read.order
    .map(([column, direction]: readonly [string, Direction]) => `${column} ${direction}`)
    .join();
  const where = Object.keys(read.where ?? {}).join();
  return `${dataset.name}|${where}|${read.range?.from !== undefined}|${read.range?.to !== undefined}|${order}|${read.after !== undefined}`;
}
