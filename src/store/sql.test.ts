// The statements for the engines, as text: what is stored and what indexes serve depends on it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dataset } from '../datasets/dataset.ts';
import { storeLimits } from './limits.ts';
import { SqlCompiler } from './sql.ts';
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

const compiler = new SqlCompiler(types);

const quotes = {
  name: 'quotes',
  columns: {
    market: { kind: 'text' },
    at_ms: { kind: 'instant' },
    price: { kind: 'real', nullable: true },
  },
  key: ['market', 'at_ms'],
  indexes: [['at_ms', 'market']],
} as const satisfies Dataset;

const COLUMNS = '"market", "at_ms", "price", "row_check"';

test('a table has its key, its columns may be null where declared, and each index is a statement of its own', () => {
  const index = 'create index "quotes_by_at_ms_market" on "quotes" ("at_ms", "market")';
  const columns = '"market" T not null, "at_ms" A not null, "price" R';
  const table = `create table "quotes" (${columns}, constraint "quotes_key" primary key ("market", "at_ms"))`;
  assert.deepEqual(compiler.createTable(quotes, 'without rowid'), [`${table} without rowid`, index]);
  assert.deepEqual(compiler.createTable({ ...quotes, keptAsTheyCome: true }, 'without rowid'), [
    table,
    index,
  ]);
});

test('an added column may be null', () => {
  assert.deepEqual(compiler.addColumns('quotes', { size: { kind: 'integer', nullable: true } }), [
    'alter table "quotes" add column "size" I',
  ]);
});

test('rows are written and removed by their key', () => {
  const changes = '"price" = "excluded"."price", "row_check" = "excluded"."row_check"';
  assert.equal(
    compiler.upsert(quotes),
    `insert into "quotes" (${COLUMNS}) values (?, ?, ?, ?) on conflict ("market", "at_ms") do update set ${changes}`,
  );
  assert.equal(compiler.remove(quotes), 'delete from "quotes" where "market" = ? and "at_ms" = ?');
});

test('a read without conditions has none', () => {
  const { sql, values } = compiler.read(quotes, { order: [['at_ms', 'desc']], limit: 5 });
  assert.equal(sql, `select ${COLUMNS} from "quotes" order by "at_ms" desc limit ?`);
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
      ' and ("at_ms" >= ? and ("at_ms" > ? or "market" < ?)) order by "at_ms" asc, "market" desc limit ?',
  );
  assert.deepEqual(statement.values(read as Read), ['X', 3, 10, 20, 12, 12, 'K', 5]);
});

test('reads of one shape share a statement, and each has its own values', () => {
  const read = (market: string): Read => ({ where: { market }, order: [['at_ms', 'asc']], limit: 1 });
  const statement = compiler.read(quotes, read('X'));
  assert.equal(compiler.read(quotes, read('Y')), statement);
  assert.deepEqual(statement.values(read('Y')), ['Y', 1]);
});

test('a read among few values repeats the last one', () => {
  const read = { where: { market: 'X' }, column: 'at_ms', values: [1, 2] };
  const { sql, values } = compiler.among(quotes, read);
  const marks = Array.from({ length: storeLimits.amongMax }, () => '?').join(', ');
  assert.equal(sql, `select ${COLUMNS} from "quotes" where "market" = ? and "at_ms" in (${marks})`);
  assert.deepEqual(values(read), ['X', 1, ...Array.from({ length: storeLimits.amongMax - 1 }, () => 2)]);
});

test('a ranked read joins its groups as a table of values', () => {
  const read = {
    where: {},
    groupBy: ['market'],
    groups: [
      { at: ['X'], rank: 0 },
      { at: [null], rank: 1 },
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
      ' where "market" is not distinct from "places"."at_market" and "price" > ? and "price" < ?' +
      ' and ("rank" >= ? and ("rank" > ? or "at_ms" < ?)) order by "rank" asc, "at_ms" desc limit ?',
  );
  assert.deepEqual(statement.values(read), ['X', 0, null, 1, 1, 9, 1, 1, 50, 3]);
});

test('a count names only the columns that must be equal', () => {
  assert.equal(compiler.count(quotes, []), 'select count(*) as "count" from "quotes"');
  assert.equal(
    compiler.count(quotes, ['market']),
    'select count(*) as "count" from "quotes" where "market" = ?',
  );
});
