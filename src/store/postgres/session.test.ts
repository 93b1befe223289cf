// A connection to PostgreSQL: how long an answer is waited for, what a commit and an end of the connection
// mean, and arrays that are sent come back as they were.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDatabase, type PostgresDatabase, skip } from '../../../test/postgres/server.ts';
import { fc } from '../../../test/seed.ts';
import { StoreUnavailable } from '../store.ts';
import { readPostgresAddress } from './address.ts';
import { connect } from './connection.ts';
import { type Element, type ElementType, PostgresProblem, SentArray, type Session } from './session.ts';

let server: PostgresDatabase;
before(async () => {
  if (skip === false) server = await openDatabase();
});
after(async () => {
  if (skip === false) await server.stop();
});

const sessionOf = (patienceMs: number): Promise<Session> =>
  connect(readPostgresAddress(server.url.replace('postgres:', '')), {
    set: {},
    patienceMs,
    connectMs: 9_000,
  });

test('the patience with a statement begins when the statements before it are answered', {
  skip,
}, async () => {
  const session = await sessionOf(1_500);
  const slow = Array.from({ length: 6 }, (_, at) => session.ask(`select pg_sleep(0.4)::text, ${at}`));
  const found = await Promise.all(slow);
  assert.deepEqual(
    found.map(([row]) => row![1]),
    [0, 1, 2, 3, 4, 5],
  );
  await assert.rejects(session.ask('select pg_sleep(20)'), StoreUnavailable);
  assert.equal(session.isOpen, false);
});

test('a commit of a transaction in which a statement failed is no success', { skip }, async () => {
  const session = await sessionOf(Number.POSITIVE_INFINITY);
  await session.ask('begin');
  await session.ask('select 1');
  await session.commit();
  await session.ask('begin');
  await assert.rejects(session.ask('select 1 / 0'), /division by zero/);
  await assert.rejects(session.commit(), PostgresProblem);
  assert.deepEqual(await session.ask('select 2'), [[2]], 'the session can be used further');
  session.close();
});

test('what was asked before a connection is closed is still answered, and nothing after', {
  skip,
}, async () => {
  const session = await sessionOf(Number.POSITIVE_INFINITY);
  const asked = Promise.all([session.ask('select pg_sleep(0.2)'), session.ask('select 7')]);
  session.close();
  await assert.rejects(session.ask('select 8'), StoreUnavailable);
  assert.deepEqual((await asked)[1], [[7]]);
});

test('the server looks within a minute whether a silent connection still leads somewhere', {
  skip,
}, async () => {
  const session = await sessionOf(Number.POSITIVE_INFINITY);
  // Shown as the system has them for this socket.
  const [[idle], [interval], [count]] = (
    await Promise.all(['idle', 'interval', 'count'].map((name) => session.ask(`show tcp_keepalives_${name}`)))
  ).map(([row]) => row!.map(Number)) as [[number], [number], [number]];
  assert.ok(idle > 0 && count > 0 && interval > 0, `${idle} ${interval} ${count}`);
  assert.ok(idle + interval * count <= 60, `${idle} + ${interval} * ${count} seconds`);
  session.close();
});

test('a server that may not write is left', { skip }, async () => {
  const session = await sessionOf(Number.POSITIVE_INFINITY);
  await session.ask('set default_transaction_read_only = on');
  await assert.rejects(session.ask('create table t (a int)'), StoreUnavailable);
  assert.equal(session.isOpen, false);
});

const arrays: Readonly<Record<ElementType, readonly [cast: string, fc.Arbitrary<Element>]>> = {
  int4: ['int', fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })],
  int8: ['bigint', fc.oneof(fc.maxSafeInteger(), fc.constantFrom(-1, 2 ** 32, -(2 ** 32), -(2 ** 32) - 1))],
  float8: ['double precision', fc.double({ noNaN: true }).map((value) => value + 0)],
  text: ['text', fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '').toWellFormed())],
  bytea: ['bytea', fc.uint8Array({ maxLength: 5_000 })],
};

for (const [type, [cast, element]] of Object.entries(arrays) as [ElementType, (typeof arrays)[ElementType]][])
  test(`any ${type} of an array comes back as it was, and null`, { skip }, async () => {
    const session = await sessionOf(Number.POSITIVE_INFINITY);
    const elements = fc.array(fc.option(element), { maxLength: 40 });
    const property = fc.asyncProperty(elements, async (values) => {
      const sql = `select a from unnest($1::${cast}[]) with ordinality as u(a, at) order by at`;
      const rows = await session.ask(sql, [new SentArray(type, values)]);
      assert.deepEqual(rows.flat(), values);
    });
    await fc.assert(property, { numRuns: 60 });
    session.close();
  });

test('a value of another type than its array is refused before it is sent', () => {
  for (const [type, value] of [
    ['int8', 1.5],
    ['int8', Number.POSITIVE_INFINITY],
    ['int4', 'a'],
    ['text', 5],
    ['bytea', 'a'],
  ] as const)
    assert.throws(() => new SentArray(type, [value]), TypeError);
});
