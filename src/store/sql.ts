// Dataset -> tables, read -> statement text, shared by the engines. Names come from declarations alone, values are always bound.
import type { Column, ColumnKind, Dataset } from '../datasets/dataset.ts';
import { storeLimits } from './limits.ts';
import type { Table } from './migrations/step.ts';
import { ROW_CHECK } from './row-check.ts';
import type { RankedRead, Read } from './store.ts';

/** The value of one `?`: each execution takes it from the read. */
type Take<R> = (read: R) => unknown;

/** A piece of a statement, and the values of its `?` in their order. */
type Piece<R> = { readonly sql: string; readonly takes: readonly Take<R>[] };

/** A statement's text, and the values that a read gives it. */
type Statement<R> = { readonly sql: string; readonly values: (read: R) => unknown[] };

/** A read of the rows that have one of some values in a column. The last value is repeated until the statement is full. */
type AmongRead = {
  readonly where: Readonly<Record<string, unknown>>;
  readonly column: string;
  readonly values: readonly (string | number)[];
};

/** Compiles what the engines execute, each shape once. */
export class SqlCompiler {
  readonly #types: Readonly<Record<ColumnKind, string>>;
  readonly #reads = new Map<string, Statement<Read>>();
  readonly #among = new Map<string, Statement<AmongRead>>();
  readonly #ranked = new Map<string, Statement<RankedRead>>();
  readonly #upserts = new Map<Dataset, string>();

  /** `types`: the engine's type of each kind of column. */
  constructor(types: Readonly<Record<ColumnKind, string>>) {
    this.#types = types;
  }

  /** Statements that make a table and its indexes. `clustered` ends the table's own where rows are stored in the order of the key. */
  createTable({ name, columns, key, indexes = [], keptAsTheyCome }: Table, clustered: string): string[] {
    const parts = Object.entries(columns).map(([column, of]) => this.#columnOf(column, of));
    parts.push(`constraint ${quoted(`${name}_key`)} primary key (${list(key)})`);
    const made = `create table ${quoted(name)} (${parts.join(', ')})`;
    return [keptAsTheyCome ? made : `${made} ${clustered}`, ...this.addIndexes(name, indexes)];
  }

  #columnOf(name: string, { kind, nullable }: Column): string {
    return `${quoted(name)} ${this.#types[kind]}${nullable ? '' : ' not null'}`;
  }

  /** Statements that make indexes of an existing table. */
  addIndexes(table: string, indexes: readonly (readonly string[])[]): string[] {
    return indexes.map(
      (order) =>
        `create index ${quoted(`${table}_by_${order.join('_')}`)} on ${quoted(table)} (${list(order)})`,
    );
  }

  /** Statements that add columns, which may be null, to an existing table. */
  addColumns(table: string, columns: Readonly<Record<string, Column>>): string[] {
    return Object.entries(columns).map(
      ([name, { kind }]) =>
        `alter table ${quoted(table)} add column ${this.#columnOf(name, { kind, nullable: true })}`,
    );
  }

  /** Insert or replace by key; values in the order of the declared columns, then the row's checksum. */
  upsert(dataset: Dataset): string {
    const known = this.#upserts.get(dataset);
    if (known !== undefined) return known;
    const columns = checkedColumns(dataset);
    const rest = columns.filter((column) => !dataset.key.includes(column));
    const marks = columns.map(() => '?').join(', ');
    const changes = rest.map((column) => `${quoted(column)} = "excluded".${quoted(column)}`).join(', ');
    const sql = `insert into ${quoted(dataset.name)} (${list(columns)}) values (${marks}) on conflict (${list(dataset.key)}) do update set ${changes}`;
    this.#upserts.set(dataset, sql);
    return sql;
  }

  /** Delete by whole key; values in the order of the key. */
  remove({ name, key }: Dataset): string {
    return `delete from ${quoted(name)}${whereOf(key.map(isEqual)).sql}`;
  }

  /** A bounded read of every column and the row's checksum. Reads of one shape share one statement. */
  read(dataset: Dataset, read: Read): Statement<Read> {
    const { where = {}, along = {}, range = {}, order, after } = read;
    const bounds = `${range.from !== undefined}|${range.to !== undefined}|${after !== undefined}`;
    const equal = `${Object.keys(where).join()}|${Object.keys(along).join()}`;
    const shape = `${dataset.name}|${equal}|${bounds}|${orderText(order)}`;
    return cached(this.#reads, shape, () => {
      const first = quoted(order[0]![0]);
      const conditions: Piece<Read>[] = Object.keys(where).map((column) =>
        isValue(quoted(column), '=', (actual) => actual.where![column]),
      );
      // The `+` keeps the planner from using the column to choose an index or an order.
      for (const column of Object.keys(along))
        conditions.push(isValue(`+${quoted(column)}`, '=', (actual) => actual.along![column]));
      if (range.from !== undefined) conditions.push(isValue(first, '>=', (actual) => actual.range!.from));
      if (range.to !== undefined) conditions.push(isValue(first, '<', (actual) => actual.range!.to));
      if (after !== undefined) conditions.push(afterRow(order));
      return joined('', selectAll(dataset), whereOf(conditions), orderBy(order), limited());
    });
  }

  /** A read of up to `storeLimits.amongMax` values of a column. */
  among(dataset: Dataset, { where, column }: AmongRead): Statement<AmongRead> {
    return cached(this.#among, [dataset.name, ...Object.keys(where), column].join('|'), () => {
      const conditions: Piece<AmongRead>[] = Object.keys(where).map((name) =>
        isValue(quoted(name), '=', (actual) => actual.where[name]),
      );
      const one = (at: number): Piece<AmongRead> =>
        value(({ values }) => values[Math.min(at, values.length - 1)]);
      const all = joined(', ', ...Array.from({ length: storeLimits.amongMax }, (_, at) => one(at)));
      conditions.push({ sql: `${quoted(column)} in (${all.sql})`, takes: all.takes });
      return joined('', selectAll(dataset), whereOf(conditions));
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
      const conditions: Piece<RankedRead>[] = Object.keys(where).map((column) =>
        isValue(quoted(column), '=', (actual) => actual.where[column]),
      );
      for (const column of groupBy)
        conditions.push(text(`${quoted(column)} is not distinct from "places".${quoted(`at_${column}`)}`));
      if (between?.above !== undefined)
        conditions.push(isValue(quoted(between.column), '>', (actual) => actual.between!.above));
      if (between?.below !== undefined)
        conditions.push(isValue(quoted(between.column), '<', (actual) => actual.between!.below));
      if (after !== undefined) conditions.push(afterRow(order));
      const answered = list(order.map(([column]) => column));
      const select = text(`select ${answered} from "places" cross join ${quoted(dataset.name)}`);
      return joined('', placesOf(read), select, whereOf(conditions), orderBy(order), limited());
    });
  }

  /** A count; values in the order of the columns that must be equal. */
  count({ name }: Dataset, columns: readonly string[]): string {
    return `select count(*) as "count" from ${quoted(name)}${whereOf(columns.map(isEqual)).sql}`;
  }
}

const quoted = (name: string): string => `"${name}"`;

const list = (names: readonly string[]): string => names.map(quoted).join(', ');

const checkedColumns = ({ columns }: Dataset): string[] => [...Object.keys(columns), ROW_CHECK];

const selectAll = (dataset: Dataset): Piece<unknown> =>
  text(`select ${list(checkedColumns(dataset))} from ${quoted(dataset.name)}`);

const text = (sql: string): Piece<unknown> => ({ sql, takes: [] });

const value = <R>(take: Take<R>): Piece<R> => ({ sql: '?', takes: [take] });

const isEqual = (column: string): Piece<unknown> => text(`${quoted(column)} = ?`);

const isValue = <R>(left: string, operator: string, take: Take<R>): Piece<R> => ({
  sql: `${left} ${operator} ?`,
  takes: [take],
});

const joined = <R>(between: string, ...pieces: readonly Piece<R>[]): Piece<R> => ({
  sql: pieces.map(({ sql }) => sql).join(between),
  takes: pieces.flatMap(({ takes }) => takes),
});

const whereOf = <R>(conditions: readonly Piece<R>[]): Piece<R> =>
  conditions.length === 0 ? text('') : joined('', text(' where '), joined(' and ', ...conditions));

const orderBy = (order: RankedRead['order']): Piece<unknown> =>
  text(` order by ${order.map(([column, direction]) => `${quoted(column)} ${direction}`).join(', ')}`);

const limited = (): Piece<{ readonly limit: number }> =>
  joined(
    '',
    text(' limit '),
    value<{ readonly limit: number }>(({ limit }) => limit),
  );

/** The groups of a ranked read as a table of values. */
function placesOf({ groupBy, groups }: RankedRead): Piece<RankedRead> {
  const columns = list([...groupBy.map((column) => `at_${column}`), 'rank']);
  const marks = `(${[...groupBy.map(() => '?'), '?'].join(', ')})`;
  const takes = groups.flatMap((_, group): Take<RankedRead>[] => [
    ...groupBy.map(
      (_, at): Take<RankedRead> =>
        (actual) =>
          actual.groups[group]!.at[at],
    ),
    (actual) => actual.groups[group]!.rank,
  ]);
  return { sql: `with "places"(${columns}) as (values ${groups.map(() => marks).join(', ')}) `, takes };
}

const orderText = (order: Read['order']): string =>
  order.map(([column, direction]) => `${column} ${direction}`).join();

/** The statement of a shape, compiled at its first use. */
function cached<R>(cache: Map<string, Statement<R>>, shape: string, compile: () => Piece<R>): Statement<R> {
  let statement = cache.get(shape);
  if (statement === undefined) {
    const { sql, takes } = compile();
    statement = { sql, values: (read) => takes.map((take) => take(read)) };
    if (cache.size >= storeLimits.statementsCachedMax) cache.clear();
    cache.set(shape, statement);
  }
  return statement;
}

type Afterwards = { readonly after?: readonly (string | number)[] };

/**
 * The condition "after the last row seen" for an order of mixed directions: `a >= ? and (a > ? or (b < ? or ...))`. The bound on the
 * first column is a condition of its own, so that SQLite seeks to it in the index and does not scan from the start.
 */
function afterRow(order: RankedRead['order'], at = 0): Piece<Afterwards> {
  const [column, direction] = order[at]!;
  const take: Take<Afterwards> = ({ after }) => after![at];
  const operator = direction === 'asc' ? '>' : '<';
  const strictly = isValue(quoted(column), operator, take);
  if (at === order.length - 1) return strictly;
  const rest = joined(' or ', strictly, afterRow(order, at + 1));
  const least = isValue(quoted(column), `${operator}=`, take);
  return { sql: `(${least.sql} and (${rest.sql}))`, takes: [...least.takes, ...rest.takes] };
}
