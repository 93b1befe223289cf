// The numbers of names, against a map of their texts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import type { TextCells } from '../read/chunk.ts';
import { NameIds } from './bar-chunk.ts';

/** A column of texts; null is a missing cell. */
function columnOf(texts: readonly (string | null)[]): TextCells {
  const parts = texts.map((text) => Buffer.from(text ?? ''));
  const ends = Int32Array.from(parts, (_, row) => Buffer.concat(parts.slice(0, row + 1)).length);
  return {
    bytes: Buffer.concat(parts),
    starts: Int32Array.from(ends, (end, row) => end - parts[row]!.length),
    ends,
    gather: () => undefined,
    isNull: (row) => texts[row] === null,
    repeats: () => false,
    text: (row) => texts[row]!,
  };
}

const text = fc.oneof(fc.constantFrom(null, '', 'A', 'AB', 'B', 'é'), fc.string({ maxLength: 30 }));

test('rows have one number where all of their cells are the same, in the order of first appearance', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 200 }), (rows) => {
      const ids = new NameIds();
      const columns = [columnOf(rows.map(([one]) => one)), columnOf(rows.map(([, other]) => other))];
      const known = new Map<string, number>();
      for (const [row, cells] of rows.entries()) {
        const key = JSON.stringify(cells);
        if (!known.has(key)) known.set(key, known.size);
        assert.equal(ids.of(columns, row), known.get(key), key);
        assert.equal(ids.count, known.size);
      }
    }),
  );
});

test('ten thousands of names and very long ones have their numbers', () => {
  const names = Array.from(
    { length: 30_000 },
    (_, index) => `N${index}${'x'.repeat(index % 1000 === 0 ? 40_000 : 0)}`,
  );
  const ids = new NameIds();
  for (let again = 0; again < 2; again++)
    for (const [index, name] of names.entries()) assert.equal(ids.of([columnOf([name])], 0), index);
});
