// Arrays that are sent as binary come back as they were, from a real server.
import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { openDatabase, postgresPrograms } from '../../../test/postgres/server.ts';
import { fc } from '../../../test/seed.ts';
import { readPostgresAddress } from './address.ts';
import { onSession } from './connection.ts';
import { type Element, type ElementType, SentArray } from './wire.ts';

const skip = postgresPrograms() === null && 'PostgreSQL is not installed: apt-get install postgresql-15';

const types: Readonly<Record<ElementType, readonly [cast: string, fc.Arbitrary<Element>]>> = {
  int4: ['int', fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })],
  int8: ['bigint', fc.oneof(fc.maxSafeInteger(), fc.constantFrom(-1, 2 ** 32, -(2 ** 32), -(2 ** 32) - 1))],
  float8: ['double precision', fc.double({ noNaN: true }).map((value) => value + 0)],
  text: ['text', fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '').toWellFormed())],
  bytea: ['bytea', fc.uint8Array({ maxLength: 5_000 })],
};

suite('arrays that are sent to PostgreSQL', { skip }, async () => {
  if (skip !== false) return;
  const server = await openDatabase();
  after(() => server.stop());
  const address = readPostgresAddress(server.url.slice('postgres:'.length));

  for (const [type, [cast, element]] of Object.entries(types) as [ElementType, (typeof types)[ElementType]][])
    test(`any ${type} comes back as it was, and null`, () =>
      onSession(address, async (session) => {
        const elements = fc.array(fc.option(element), { maxLength: 40 });
        const property = fc.asyncProperty(elements, async (values) => {
          const sql = `select a from unnest($1::${cast}[]) with ordinality as u(a, at) order by at`;
          const rows = await session.ask(sql, [new SentArray(type, values)]);
          assert.deepEqual(rows.flat(), values);
        });
        await fc.assert(property, { numRuns: 60 });
      }));

  test('a value of another type is refused before it is sent', () => {
    for (const [type, value] of [
      ['int8', 1.5],
      ['int8', Number.POSITIVE_INFINITY],
      ['int4', 'a'],
      ['text', 5],
      ['bytea', 'a'],
    ] as const)
      assert.throws(() => new SentArray(type, [value]), TypeError);
  });
});
