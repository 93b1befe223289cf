// Dataset -> tables, read -> statement text, shared by the engines. Names come from declarations alone,
// values are always bound.
import { SizedCache } from '../base/sized-cache.ts';
import { ROW_CHECK, type StoredCell } from './checked-rows.ts';
import { storeLimits } from './limits.ts';
import type { Step, Table } from './migrations/step.ts';
import { type Column, type ColumnKind, columnsOf, type Dataset, type Values } from './schema/dataset.ts';
import type { Direction, RankedRead, Read } from './store.ts';

/** The value of one `?`: each execution takes it from the read. */
type Take<R> = (read: R) => unknown;

/** A piece of a statement, and the values of its `?` in their order. */
type Piece<R> = { readonly sql: string; readonly takes: readonly Take<R>[] };

/** A statement's text, and the values that a read gives it. */
type Statement<R> = { readonly sql: string; readonly values: (read: R) => StoredCell[] };

/** The differences between the SQL of one engine and that of others. */
export type Dialect = {
  /** The type of each kind of column. */
  readonly types: Readonly<Record<ColumnKind, string>>;
  /** Ends the statement of a table whose rows are stored in the order of the key. */
  readonly clustered: string;
  /**
   * Follows a column that may be null in an order, and for `asc` in an index: null then precedes every value.
   */
  readonly nullsFirst: Readonly<Record<Direction, string>>;
  /** A column that is compared, but by which the planner chooses no index and no order. */
  readonly unchosen: (column: string) => string;
  /** The mark of the value at a place of a statement, from 1. */
  readonly mark: (at: number) => string;
  /** A mark in a table of values, where no column gives the value its type. */
  readonly typed: (mark: string, kind: ColumnKind) => string;
  /** Begins a statement that inserts rows. */
  readonly insert: string;
  /** The source of rows of columns of some kinds. */
  readonly rows: (kinds: readonly ColumnKind[], count: number) => string;
};

/** Columns by name. */
type Columns = Readonly<Record<string, Column>>;

/**
 * By dataset and shape. A migration reads a table by another declaration than the present one: names are not
 * enough.
 */
type Statements<R> = WeakMap<Dataset, SizedCache<Statement<R>>>;

/** Compiles what the engines execute, each shape once. */
export class SqlCompiler {
  readonly #dialect: Dialect;
  readonly #reads: Statements<Read> = new WeakMap();
  readonly #atKeys: Statements<readonly Values[]> = new WeakMap();
  readonly #ranked: Statements<RankedRead> = new WeakMap();
  /** By dataset and number of rows. */
  readonly #upserts = new Map<Dataset, Map<number, string>>();

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** The statements of a step between layouts; `known` are the tables that its history ends in. */
  step({ tables = [], columns = {}, indexes = {}, drops = [] }: Step, known: readonly Table[]): string[] {
    return [
      ...drops.map((table) => `drop table ${table}`),
      ...Object.entries(columns).flatMap(([table, added]) =>
        Object.entries(columnsOf(added)).map(
          ([name, of]) => `alter table ${quoted(table)} add column ${this.#columnOf(name, of)}`,
        ),
      ),
      ...tables.flatMap((table) => this.#tableOf(table)),
      ...Object.entries(indexes).flatMap(([name, added]) =>
        this.#addIndexes(known.find((table) => table.name === name)!, added),
      ),
    ];
  }

  /** Statements that make a table, with its column of checksums, and its indexes. */
  #tableOf(table: Table): string[] {
    const { name, columns, key, indexes = [], keptAsTheyCome } = table;
    const checked = { ...columns, ...columnsOf({ [ROW_CHECK]: 'integer null' }) };
    const parts = Object.entries(checked).map(([column, of]) => this.#columnOf(column, of));
    parts.push(`constraint ${quoted(`${name}_key`)} primary key (${list(key)})`);
    const made = `create table ${quoted(name)} (${parts.join(', ')})`;
    const { clustered } = this.#dialect;
    const isClustered = clustered !== '' && !keptAsTheyCome;
    return [isClustered ? `${made} ${clustered}` : made, ...this.#addIndexes(table, indexes)];
  }

  #columnOf(name: string, { kind, nullable }: Column): string {
    return `${quoted(name)} ${this.#dialect.types[kind]}${nullable ? '' : ' not null'}`;
  }

  #addIndexes({ name, columns }: Table, indexes: NonNullable<Table['indexes']>): string[] {
    const { asc } = this.#dialect.nullsFirst;
    const placed = (column: string): string => `${quoted(column)}${columns[column]!.nullable ? asc : ''}`;
    return indexes.map(
      (order) =>
        `create index ${quoted(`${name}_by_${order.join('_')}`)} on ${quoted(name)} (${order.map(placed).join(', ')})`,
    );
  }

  /**
   * Insert or replace rows by key: their values are in the order of the declared columns, then come their
   * checksums.
   */
  upsert(dataset: Dataset, rows = 1): string {
    const ofDataset = this.#upserts.get(dataset) ?? new Map<number, string>();
    this.#upserts.set(dataset, ofDataset);
    const known = ofDataset.get(rows);
    if (known !== undefined) return known;
    const columns = checkedColumns(dataset);
    const rest = columns.filter((column) => !dataset.key.includes(column));
    const kinds = [...Object.values(dataset.columns).map(({ kind }) => kind), 'integer' as const];
    const changes = rest.map((column) => `${quoted(column)} = "excluded".${quoted(column)}`).join(', ');
    const sql = `${this.#dialect.insert} into ${quoted(dataset.name)} (${list(columns)}) ${this.#dialect.rows(kinds, rows)} on conflict (${list(dataset.key)}) do update set ${changes}`;
    const numbered = this.#numbered(sql);
    ofDataset.set(rows, numbered);
    return numbered;
  }

  /** Delete by whole key; values in the order of the key. */
  remove({ name, key }: Dataset): string {
    return this.#numbered(`delete from ${quoted(name)}${whereOf(key.map(isEqual)).sql}`);
  }

  #statementOf<R>({ sql, takes }: Piece<R>): Statement<R> {
    return { sql: this.#numbered(sql), values: (read) => takes.map((take) => bound(take(read))) };
  }

  /** A text with the marks of the engine in place of each `?`; no name has one. */
  #numbered(sql: string): string {
    let at = 0;
    return sql.replaceAll('?', () => this.#dialect.mark(++at));
  }

  /** A bounded read of every column and the row's checksum. Reads of one shape share one statement. */
  read(dataset: Dataset, read: Read): Statement<Read> {
    const { where = {}, along = {}, range = {}, order, after } = read;
    const bounds = [range.from !== undefined, range.to !== undefined, nullsIn(after)];
    const shape = [equalText(where), equalText(along), ...bounds, orderText(order)].join('|');
    return this.#cached(this.#reads, dataset, shape, () => {
      const first = quoted(order[0]![0]);
      const conditions: Piece<Read>[] = [
        ...equals(where, (actual: Read) => actual.where!),
        ...equals(along, (actual: Read) => actual.along!, this.#dialect.unchosen),
      ];
      if (range.from !== undefined) conditions.push(isValue(first, '>=', (actual) => actual.range!.from));
      if (range.to !== undefined) conditions.push(isValue(first, '<', (actual) => actual.range!.to));
      if (after !== undefined) conditions.push(afterRow(dataset.columns, order, after));
      return joined(
        '',
        selectAll(dataset),
        whereOf(conditions),
        this.#orderBy(dataset.columns, order),
        limited(),
      );
    });
  }

  /** A read of the rows of up to `storeLimits.keysTogether` keys: the place of its key follows each row. */
  atKeys(dataset: Dataset, [first]: readonly Values[]): Statement<readonly Values[]> {
    const columns = Object.keys(first!);
    return this.#cached(this.#atKeys, dataset, columns.join(), () => {
      const one = (at: number): Piece<readonly Values[]> => ({
        sql: `(${[at, ...columns.map(() => '?')].join(', ')})`,
        takes: columns.map((column) => (keys) => keys[at]?.[column] ?? null),
      });
      const all = Array.from({ length: storeLimits.keysTogether }, (_, at) => one(at));
      const read = text(`select ${list(checkedColumns(dataset))}, "column1" from (values `);
      // Each key is one search of an index.
      const joint = text(`) cross join ${quoted(dataset.name)}`);
      const same = columns.map((column, at) => text(`${quoted(column)} = "column${at + 2}"`));
      return joined('', read, joined(', ', ...all), joint, whereOf(same));
    });
  }

  /**
   * A bounded read of groups in an order of its own. The groups are a table of values, joined so that each is
   * one search of the index and nothing else is read; groups with a null in other columns are another such
   * table, because no engine can search an index for values that may be null or not. Reads of one shape and
   * number of groups share one statement.
   */
  ranked(dataset: Dataset, read: RankedRead): Statement<RankedRead> {
    const { where, groupBy, within, groups, between, order, after } = read;
    const bounds = [between?.column, between?.above !== undefined, between?.below !== undefined];
    const patterns = groups.map(({ at }) => nullsIn(at));
    const columns = [equalText(where), groupBy, within ?? '', patterns, bounds, orderText(order)];
    return this.#cached(this.#ranked, dataset, [...columns, nullsIn(after)].join('|'), () => {
      const conditions = equals(where, (actual: RankedRead) => actual.where);
      if (between?.above !== undefined)
        conditions.push(isValue(quoted(between.column), '>', (actual) => actual.between!.above));
      if (between?.below !== undefined)
        conditions.push(isValue(quoted(between.column), '<', (actual) => actual.between!.below));
      if (after !== undefined) conditions.push(afterRow(dataset.columns, order, after));
      const answered = list(order.map(([column]) => column));
      const parts = [...new Set(patterns)].map((pattern, part) => {
        const places = quoted(part === 0 ? 'places' : `places_${part}`);
        const isNull = (at: number): boolean => groups[patterns.indexOf(pattern)]!.at[at] === null;
        const given = groupBy.flatMap((column, at) => (isNull(at) ? [] : [{ column, at }]));
        const same = groupBy.map((column, at) =>
          text(
            isNull(at)
              ? `${quoted(column)} is null`
              : `${quoted(column)} = ${places}.${quoted(`at_${column}`)}`,
          ),
        );
        if (within !== undefined) {
          const column = quoted(within);
          same.push(text(`${column} >= ${places}."from"`), text(`${column} < ${places}."below"`));
        }
        const of = patterns.flatMap((other, group) => (other === pattern ? [group] : []));
        const select = text(`select ${answered} from ${places} cross join ${quoted(dataset.name)}`);
        return {
          places: joined('', text(`${places}(`), this.#placesOf(dataset, given, within, of)),
          select: joined('', select, whereOf([...same, ...conditions])),
        };
      });
      const all = joined(' union all ', ...parts.map(({ select }) => select));
      const found = parts.length === 1 ? all : joined('', text('select * from ('), all, text(') as "found"'));
      const places = joined(', ', ...parts.map((part) => part.places));
      return joined(
        '',
        text('with '),
        places,
        text(' '),
        found,
        this.#orderBy(dataset.columns, order),
        limited(),
      );
    });
  }

  /** Groups of a ranked read as a table of their values that are not null. */
  #placesOf(
    { columns }: Dataset,
    given: readonly { readonly column: string; readonly at: number }[],
    within: string | undefined,
    groups: readonly number[],
  ): Piece<RankedRead> {
    const bounds = within === undefined ? [] : (['from', 'below'] as const);
    const kinds = [
      ...given.map(({ column }) => columns[column]!.kind),
      ...bounds.map(() => columns[within!]!.kind),
      'integer' as const,
    ];
    const marks = `(${kinds.map((kind) => this.#dialect.typed('?', kind)).join(', ')})`;
    const takes = groups.flatMap((group): Take<RankedRead>[] => [
      ...given.map(
        ({ at }): Take<RankedRead> =>
          (actual) =>
            actual.groups[group]!.at[at],
      ),
      ...bounds.map(
        (bound): Take<RankedRead> =>
          (actual) =>
            actual.groups[group]![bound],
      ),
      (actual) => actual.groups[group]!.rank,
    ]);
    const names = list([...given.map(({ column }) => `at_${column}`), ...bounds, 'rank']);
    return { sql: `${names}) as (values ${groups.map(() => marks).join(', ')})`, takes };
  }

  /** A count of the rows whose columns equal `where`, and have at least the values of `least`. */
  count({ name }: Dataset, where: Values, least: Values = {}): Statement<Values> {
    const conditions = equals(where, (actual: Values) => actual);
    for (const column of Object.keys(least))
      conditions.push(isValue(quoted(column), '>=', (actual) => actual[column]));
    const counted = text(`select count(*) as "count" from ${quoted(name)}`);
    return this.#statementOf(joined('', counted, whereOf(conditions)));
  }

  #orderBy(columns: Columns, order: RankedRead['order']): Piece<unknown> {
    const terms = order.map(([column, direction]) => {
      const nulls = columns[column]?.nullable ? this.#dialect.nullsFirst[direction] : '';
      return `${quoted(column)} ${direction}${nulls}`;
    });
    return text(` order by ${terms.join(', ')}`);
  }

  /** The statement of a shape, compiled at its first use. */
  #cached<R>(
    statements: Statements<R>,
    dataset: Dataset,
    shape: string,
    compile: () => Piece<R>,
  ): Statement<R> {
    const cache = statements.get(dataset) ?? new SizedCache<Statement<R>>(storeLimits.statementsCachedMax);
    statements.set(dataset, cache);
    let statement = cache.get(shape);
    if (statement === undefined) {
      statement = this.#statementOf(compile());
      cache.set(shape, statement, 1);
    }
    return statement;
  }
}

/** A value as a statement takes it. */
const bound = (value: unknown): StoredCell =>
  typeof value === 'boolean' ? Number(value) : (value as StoredCell);

const quoted = (name: string): string => `"${name}"`;

const list = (names: readonly string[]): string => names.map(quoted).join(', ');

const checkedColumns = ({ columns }: Dataset): string[] => [...Object.keys(columns), ROW_CHECK];

const selectAll = (dataset: Dataset): Piece<unknown> =>
  text(`select ${list(checkedColumns(dataset))} from ${quoted(dataset.name)}`);

const text = (sql: string): Piece<unknown> => ({ sql, takes: [] });

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

/**
 * Follows `limit`. SQLite would prepare a statement with a bare `?` there anew at every execution: the plan
 * could depend on the number.
 */
export const LIMIT_MARK = 'cast(? as bigint)';

const limited = (): Piece<{ readonly limit: number }> => ({
  sql: ` limit ${LIMIT_MARK}`,
  takes: [({ limit }) => limit],
});

/** Columns that must be equal, and which of them must be null: a part of a statement's shape. */
const equalText = (where: Values): string =>
  Object.entries(where)
    .map(([column, one]) => (one === null ? `${column}=null` : column))
    .join();

/** Which of some values are null: a part of a statement's shape. */
const nullsIn = (values: readonly unknown[] | undefined): string =>
  values === undefined ? '' : `(${values.map((one) => (one === null ? '0' : '1')).join('')})`;

/**
 * Conditions that columns equal values; null is a value too, and found in an index only where the text says
 * so.
 */
const equals = <R>(
  where: Values,
  valuesOf: (actual: R) => Values,
  compared: (column: string) => string = (column) => column,
): Piece<R>[] =>
  Object.entries(where).map(([column, one]) => {
    const left = compared(quoted(column));
    return one === null ? text(`${left} is null`) : isValue(left, '=', (actual) => valuesOf(actual)[column]);
  });

const orderText = (order: Read['order']): string =>
  order.map(([column, direction]) => `${column} ${direction}`).join();

type Afterwards = { readonly after?: readonly (string | number | null)[] };

/**
 * The condition "after the last row seen" for an order of mixed directions: `a >= ? and (a > ? or (b < ? or
 * ...))`. The bound on the first column is a condition of its own, so that engines seek to it in the index
 * and do not scan from the start. Null precedes every value, and no comparison with a value finds it.
 */
function afterRow(
  columns: Columns,
  order: RankedRead['order'],
  after: readonly (string | number | null)[],
  at = 0,
): Piece<Afterwards> {
  const [name, direction] = order[at]!;
  const column = quoted(name);
  const rest = at === order.length - 1 ? null : afterRow(columns, order, after, at + 1);
  const bracketed = (between: string, ...pieces: readonly Piece<Afterwards>[]): Piece<Afterwards> =>
    joined('', text('('), joined(between, ...pieces), text(')'));
  if (after[at] === null) {
    const others = text(direction === 'asc' ? `${column} is not null` : 'false');
    if (rest === null) return others;
    return direction === 'asc'
      ? bracketed(' or ', others, rest)
      : bracketed(' and ', text(`${column} is null`), rest);
  }
  const take: Take<Afterwards> = (actual) => actual.after![at];
  const operator = direction === 'asc' ? '>' : '<';
  const isNullAfter = direction === 'desc' && columns[name]?.nullable === true;
  const bound = (compared: string): Piece<Afterwards> => {
    const piece = isValue(column, compared, take);
    return isNullAfter ? bracketed(' or ', piece, text(`${column} is null`)) : piece;
  };
  const strictly = bound(operator);
  return rest === null
    ? strictly
    : bracketed(' and ', bound(`${operator}=`), bracketed(' or ', strictly, rest));
}
