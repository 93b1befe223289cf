// Numbers from the bytes of cells, against those of their texts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../test/seed.ts';
import { numberOf, plainNumber } from './number.ts';

test('the number that bytes write is that of their text, and no bytes write what their text does not', () => {
  const cell = fc.oneof(
    fc
      .array(fc.constantFrom(...Array.from('0123456789.-')), { maxLength: 17 })
      .map((marks) => marks.join('')),
    fc.array(fc.constantFrom(...Array.from('059.-+eE x')), { maxLength: 6 }).map((marks) => marks.join('')),
    fc.double().map(String),
    fc.integer().map((whole) => (whole / 100).toFixed(2)),
  );
  let written = 0;
  fc.assert(
    fc.property(cell, cell, (text, next) => {
      // The cell behind it in memory is no part of it.
      const value = plainNumber(Buffer.from(text + next), 0, text.length);
      if (Number.isNaN(value)) return;
      written++;
      assert.ok(Object.is(value, numberOf(text)), text);
    }),
    { numRuns: 2_000 },
  );
  assert.ok(written > 0);
  for (const [text, value] of [
    ['100.25', 100.25],
    ['-0', -0],
    ['.5', 0.5],
    ['7.', 7],
  ] as const)
    assert.ok(Object.is(plainNumber(Buffer.from(text), 0, text.length), value), text);
});
