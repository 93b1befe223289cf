import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../test/seed.ts';
import { compareIds, decodeIds, encodeIds } from './ascending.ts';

test('numbers come back ascending, whatever their order', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 2 ** 52 - 1 })), (ids) => {
      assert.deepEqual(
        decodeIds(encodeIds(ids)),
        ids.toSorted((a, b) => a - b),
      );
    }),
  );
});

test('numbers at equal distances take a few bytes, however many they are', () => {
  for (const step of [1, 5, 1000]) {
    const ids = Array.from({ length: 10_000 }, (_, index) => (index + 1) * step);
    assert.deepEqual(decodeIds(encodeIds(ids)), ids);
    assert.ok(encodeIds(ids).length <= 6);
  }
});

test('of two lists, what both have and what one of them alone has is told', () => {
  const list = fc.uniqueArray(fc.integer({ min: 1, max: 60 })).map((ids) => ids.sort((a, b) => a - b));
  fc.assert(
    fc.property(list, list, (one, other) => {
      assert.deepEqual(compareIds(one, other), {
        common: one.filter((id) => other.includes(id)),
        onlyOne: one.filter((id) => !other.includes(id)),
        onlyOther: other.filter((id) => !one.includes(id)),
      });
    }),
  );
});
