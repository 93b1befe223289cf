// The statements for the engines, as text: what is stored and what indexes serve depends on it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Dataset, dataset } from './schema/dataset.ts';
import { type Dialect, SqlCompiler } from './sql.ts';
import type { RankedRead, Read } from './store.ts';

const types = {
  text: 'T',
  integer: 'I',
  real: 'R',
  instant: 'A',
  day: 'D',
  boolean: 'B',
  json: 'J',
  bytes: 'Y',
};

const dialect: Dialect = {
  types,
  clustered: 'without rowid',
  nullsFirst: { asc: '', desc: '' },
  unchosen: (column) => `+${column}`,
  mark: () => '?',
  typed: (mark) => mark,
  insert: 'insert',
  rows: (kinds, count) => `${count} of ${kinds.join(' ')}`,
};

const compiler = new SqlCompiler(dialect);

/** An engine that sorts nulls last, numbers its values and wants types. */
const other = new SqlCompiler({
  ...dialect,
  clustered: '',
  nullsFirst: { asc: ' nulls first', desc: ' nulls last' },
  unchosen: (column) => `(${column} + 0)`,
  mark: (at) => `$${at}`,
  typed: (mark, kind) => `${mark}::${types[kind]}`,
});

const quotes = dataset({
  name: 'quotes',
  columns: { market: 'text', at_ms: 'instant', price: 'real null' },
  key: ['market', 'at_ms'],
  indexes: [['at_ms', 'market']],
});

const COLUMNS = '"market", "at_ms", "price", "row_check"';

test('a table has its key, its columns may be null where declared, and each index is a statement of its own', () => {
  const index = 'create index "quotes_by_at_ms_market" on "quotes" ("at_ms", "market")';
  const columns = '"market" T not null, "at_ms" A not null, "price" R, "row_check" I';
  const table = `create table "quotes" (${columns}, constraint "quotes_key" primary key ("market", "at_ms"))`;
  assert.deepEqual(compiler.step({ tables: [quotes] }, []), [`${table} without rowid`, index]);
  const kept = { ...quotes, keptAsTheyCome: true } as const;
  assert.deepEqual(compiler.step({ tables: [kept] }, []), [table, index]);
  assert.deepEqual(other.step({ tables: [quotes] }, []), [table, index]);
});

test('an index says where nulls are, of columns that may be null', () => {
  const indexes = { quotes: [['at_ms', 'price']] };
  const index = (last: string): string[] => [
    `create index "quotes_by_at_ms_price" on "quotes" ("at_ms", "price"${last})`,
  ];
  assert.deepEqual(compiler.step({ indexes }, [quotes]), index(''));
  assert.deepEqual(other.step({ indexes }, [quotes]), index(' nulls first'));
});

test('an added column may be null', () => {
  assert.deepEqual(compiler.step({ columns: { quotes: { size: 'integer null' } } }, []), [
    'alter table "quotes" add column "size" I',
  ]);
});

test('rows are written and removed by their key', () => {
  const changes = '"price" = "excluded"."price", "row_check" = "excluded"."row_check"';
  assert.equal(
    compiler.upsert(quotes),
    `insert into "quotes" (${COLUMNS}) 1 of text instant real integer on conflict ("market", "at_ms") do update set ${changes}`,
  );
  assert.equal(compiler.remove(quotes), 'delete from "quotes" where "market" = ? and "at_ms" = ?');
});

test('a read without conditions has none', () => {
  const { sql, values } = compiler.read(quotes, { order: [['at_ms', 'desc']], limit: 5 });
  assert.equal(sql, `select ${COLUMNS} from "quotes" order by "at_ms" desc limit cast(? as bigint)`);
  assert.deepEqual(values({ order: [['at_ms', 'desc']], limit: 7 }), [7]);
});

test('a read has its conditions in the order of its values, and seeks to the row after which it continues', () => {
  const read = {
    where: { market: 'X' },
    along: { price: 3 },
    range: { from: 10, to: 20 },
    order: [
      ['at_ms', 'asc'],
      ['market', 'desc'],
    ],
    after: [12, 'K'],
    limit: 5,
  } as const satisfies Read<typeof quotes>;
  const statement = compiler.read(quotes, read as Read);
  assert.equal(
    statement.sql,
    `select ${COLUMNS} from "quotes" where "market" = ? and +"price" = ? and "at_ms" >= ? and "at_ms" < ?` +
      ' and ("at_ms" >= ? and ("at_ms" > ? or "market" < ?)) order by "at_ms" asc, "market" desc limit cast(? as bigint)',
  );
  assert.deepEqual(statement.values(read as Read), ['X', 3, 10, 20, 12, 12, 'K', 5]);
});

test('reads of one shape share a statement, and each has its own values', () => {
  const read = (market: string): Read => ({ where: { market }, order: [['at_ms', 'asc']], limit: 1 });
  const statement = compiler.read(quotes, read('X'));
  assert.equal(compiler.read(quotes, read('Y')), statement);
  assert.deepEqual(statement.values(read('Y')), ['Y', 1]);
});

test('a ranked read joins its groups as a table of values', () => {
  const read = {
    where: {},
    groupBy: ['market'],
    groups: [
      { at: ['X'], rank: 0 },
      { at: ['Y'], rank: 1 },
    ],
    between: { column: 'price', above: 1, below: 9 },
    order: [
      ['rank', 'asc'],
      ['at_ms', 'desc'],
    ],
    after: [1, 50],
    limit: 3,
  } as const satisfies RankedRead;
  const statement = compiler.ranked(quotes, read);
  assert.equal(
    statement.sql,
    'with "places"("at_market", "rank") as (values (?, ?), (?, ?)) select "rank", "at_ms" from "places" cross join "quotes"' +
      ' where "market" = "places"."at_market" and "price" > ? and "price" < ?' +
      ' and ("rank" >= ? and ("rank" > ? or "at_ms" < ?)) order by "rank" asc, "at_ms" desc limit cast(? as bigint)',
  );
  assert.deepEqual(statement.values(read), ['X', 0, 'Y', 1, 1, 9, 1, 1, 50, 3]);
});

test('groups of a ranked read within one more column have a span of its texts each', () => {
  const read = {
    where: {},
    groupBy: ['at_ms'],
    within: 'market',
    groups: [
      { at: [1], rank: 0, from: 'A', below: 'B' },
      { at: [1], rank: 1, from: 'B', below: 'C' },
    ],
    order: [['rank', 'asc']],
    limit: 3,
  } as const satisfies RankedRead;
  const statement = other.ranked(quotes, read);
  assert.equal(
    statement.sql,
    'with "places"("at_at_ms", "from", "below", "rank") as (values ($1::A, $2::T, $3::T, $4::I), ($5::A, $6::T, $7::T, $8::I))' +
      ' select "rank" from "places" cross join "quotes" where "at_ms" = "places"."at_at_ms"' +
      ' and "market" >= "places"."from" and "market" < "places"."below" order by "rank" asc limit cast($9 as bigint)',
  );
  assert.deepEqual(statement.values(read), [1, 'A', 'B', 0, 1, 'B', 'C', 1, 3]);
});

test('groups of a ranked read with a null are tables of values of their own: null is never compared', () => {
  const read = {
    where: {},
    groupBy: ['market', 'price'],
    groups: [
      { at: ['X', null], rank: 0 },
      { at: ['X', 5], rank: 1 },
      { at: ['Y', null], rank: 2 },
    ],
    order: [['rank', 'asc']],
    limit: 3,
  } as const satisfies RankedRead;
  const statement = other.ranked(quotes, read);
  assert.equal(
    statement.sql,
    'with "places"("at_market", "rank") as (values ($1::T, $2::I), ($3::T, $4::I)),' +
      ' "places_1"("at_market", "at_price", "rank") as (values ($5::T, $6::R, $7::I))' +
      ' select * from (select "rank" from "places" cross join "quotes" where "market" = "places"."at_market" and "price" is null' +
      ' union all select "rank" from "places_1" cross join "quotes" where "market" = "places_1"."at_market"' +
      ' and "price" = "places_1"."at_price") as "found" order by "rank" asc limit cast($8 as bigint)',
  );
  assert.deepEqual(statement.values(read), ['X', 0, 'Y', 2, 'X', 5, 1, 3]);
});

test('null is a value: a statement of its own looks for it, and goes on after it', () => {
  const sqlOf = (read: Read): string =>
    other.read(quotes, read).sql.slice(`select ${COLUMNS} from "quotes"`.length);
  const order = [
    ['price', 'asc'],
    ['at_ms', 'asc'],
  ] as const;
  const ascending = ' order by "price" asc nulls first, "at_ms" asc limit';
  assert.equal(
    sqlOf({ where: { price: null }, order: [['at_ms', 'asc']], limit: 1 }),
    ' where "price" is null order by "at_ms" asc limit cast($1 as bigint)',
  );
  assert.equal(
    sqlOf({ order, after: [null, 3], limit: 1 }),
    ` where ("price" is not null or "at_ms" > $1)${ascending} cast($2 as bigint)`,
  );
  assert.equal(
    sqlOf({ order, after: [1, 3], limit: 1 }),
    ` where ("price" >= $1 and ("price" > $2 or "at_ms" > $3))${ascending} cast($4 as bigint)`,
  );
  const reversed = [
    ['price', 'desc'],
    ['at_ms', 'asc'],
  ] as const;
  const descending = ' order by "price" desc nulls last, "at_ms" asc limit';
  assert.equal(
    sqlOf({ order: reversed, after: [null, 3], limit: 1 }),
    ` where ("price" is null and "at_ms" > $1)${descending} cast($2 as bigint)`,
  );
  assert.equal(
    sqlOf({ order: reversed, after: [1, 3], limit: 1 }),
    ` where (("price" <= $1 or "price" is null) and (("price" < $2 or "price" is null) or "at_ms" > $3))${descending} cast($4 as bigint)`,
  );
});

test('a count names only the columns that must be equal, or not less', () => {
  const all = 'select count(*) as "count" from "quotes"';
  assert.equal(compiler.count(quotes, {}).sql, all);
  assert.equal(compiler.count(quotes, { market: 'X' }).sql, `${all} where "market" = ?`);
  assert.equal(
    other.count(quotes, { price: null, market: 'X' }).sql,
    `${all} where "price" is null and "market" = $1`,
  );
  const { sql, values } = other.count(quotes, { market: 'X' }, { price: 3 });
  assert.equal(sql, `${all} where "market" = $1 and "price" >= $2`);
  assert.deepEqual(values({ market: 'X', price: 3 }), ['X', 3]);
});

test('datasets of one name have statements of their own: a migration reads a table by its former declaration', () => {
  const former: Dataset = { name: 'toys', columns: { id: { kind: 'text' } }, key: ['id'] };
  const present: Dataset = { ...former, columns: { ...former.columns, color: { kind: 'text' } } };
  const read: Read = { order: [['id', 'asc']], limit: 1 };
  for (const dataset of [former, present, former]) {
    assert.equal(compiler.read(dataset, read).sql.includes('"color"'), dataset === present);
  }
});
