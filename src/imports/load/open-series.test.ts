// The rows of open blocks, against a map of bars by key.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { emptyBars, valueColumns } from '../../market/bars/columns.ts';
import { OpenRows, Segments } from './open-series.ts';

/** Rows to add: keys that ascend, or one row that may be anywhere; `tag` tells values of a key apart. */
const addition = fc.oneof(
  fc.record({
    keys: fc
      .uniqueArray(fc.nat(300), { minLength: 1, maxLength: 100 })
      .map((keys) => keys.sort((a, b) => a - b)),
    tag: fc.constant(0),
  }),
  fc.record({ keys: fc.nat(300).map((key) => [key]), tag: fc.nat(1) }),
);

const valueAt = (key: number, tag: number, column: number): number => key * 100 + column * 10 + tag;

test('open blocks have the rows that were added to them, in order, however they are added', () => {
  fc.assert(
    fc.property(fc.array(fc.array(addition, { maxLength: 12 }), { minLength: 1, maxLength: 8 }), (blocks) => {
      const segments = new Segments();
      const written = emptyBars();
      // The second time, blocks use the segments of those that were taken.
      for (let again = 0; again < 2; again++) {
        const open = blocks.map((additions) => {
          const rows = new OpenRows(segments, null);
          const expected = new Map<number, number>();
          for (const { keys, tag } of additions) {
            const keyMs = Float64Array.from(keys);
            const values = valueColumns.map((_, column) =>
              Float64Array.from(keys, (key) => valueAt(key, tag, column)),
            );
            const isLater = expected.size === 0 || keys[0]! > Math.max(...expected.keys());
            assert.equal(rows.append(keyMs, values, 0, keys.length), isLater);
            if (isLater) for (const key of keys) expected.set(key, tag);
            else {
              const known = expected.get(keys[0]!);
              assert.equal(rows.insert(keys[0]!, values, 0), known === undefined || known === tag);
              expected.set(keys[0]!, known ?? tag);
            }
          }
          return { rows, expected };
        });
        for (const { rows, expected } of open) {
          const bars = rows.take(written);
          const keys = [...expected.keys()].sort((a, b) => a - b);
          assert.deepEqual([...bars.keyMs.subarray(0, bars.count)], keys);
          for (const [column, name] of valueColumns.entries())
            assert.deepEqual(
              [...bars[name].subarray(0, bars.count)],
              keys.map((key) => valueAt(key, expected.get(key)!, column)),
            );
        }
      }
    }),
    { numRuns: 60 },
  );
});
