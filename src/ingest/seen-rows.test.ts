// Keys that a file has named, against a map of texts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SeenRows } from './seen-rows.ts';

test('a key is new once, then known with the same values or with others, whatever comes between', () => {
  const row = fc.tuple(fc.string({ maxLength: 2 }), fc.constantFrom('', 'a', 'b'));
  fc.assert(
    fc.property(fc.array(row, { maxLength: 3000 }), (rows) => {
      const seen = new SeenRows();
      const known = new Map<string, string>();
      for (const [key, values] of rows) {
        const before = known.get(key);
        const expected = before === undefined ? 'nothing' : before === values ? 'the same' : 'something else';
        assert.equal(seen.note(key, values), expected);
        if (before === undefined) known.set(key, values);
      }
    }),
    { numRuns: 50 },
  );
});

test('many keys are told apart while the table grows', () => {
  const seen = new SeenRows();
  for (let key = 0; key < 20_000; key++) assert.equal(seen.note(`key ${key}`, 'x'), 'nothing');
  for (let key = 0; key < 20_000; key++) {
    assert.equal(seen.note(`key ${key}`, 'x'), 'the same');
    assert.equal(seen.note(`key ${key}`, 'y'), 'something else');
  }
});
