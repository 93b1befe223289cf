// Runs of bars: slices, growth, search and merging.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import {
  appendBars,
  type Bars,
  concatBars,
  copyBar,
  emptyBars,
  filterBars,
  indexOfKey,
  lowerBound,
  mergeBars,
  reserve,
  sameBar,
  sliceBars,
  valueColumns,
} from './columns.ts';

/** Bars whose every value is distinct by key and `tag`. */
function barsAt(keys: readonly number[], tag = 0): Bars {
  const bars = emptyBars(keys.length);
  bars.count = keys.length;
  for (const [index, key] of keys.entries()) {
    bars.keyMs[index] = key;
    for (const [place, column] of valueColumns.entries()) bars[column][index] = key * 100 + place * 10 + tag;
  }
  return bars;
}

type Row = readonly number[];
const rowsOf = (bars: Bars): Row[] =>
  Array.from({ length: bars.count }, (_, index) => [
    bars.keyMs[index]!,
    ...valueColumns.map((column) => bars[column][index]!),
  ]);

const keys = fc
  .uniqueArray(fc.integer({ min: -50, max: 50 }), { maxLength: 60 })
  .map((found) => found.sort((a, b) => a - b));

test('merging keeps every key once, in order, and the newer bar where both have it', () => {
  fc.assert(
    fc.property(keys, keys, (older, newer) => {
      const expected = new Map<number, Row>();
      for (const row of rowsOf(barsAt(older, 1))) expected.set(row[0]!, row);
      for (const row of rowsOf(barsAt(newer, 2))) expected.set(row[0]!, row);
      const merged = rowsOf(mergeBars(barsAt(older, 1), barsAt(newer, 2)));
      assert.deepEqual(
        merged,
        [...expected.values()].sort((a, b) => a[0]! - b[0]!),
      );
    }),
  );
});

test('the lower bound is the first bar at or behind a key', () => {
  fc.assert(
    fc.property(keys, fc.integer({ min: -60, max: 60 }), (all, key) => {
      const bars = barsAt(all);
      reserve(bars, 100);
      assert.equal(lowerBound(bars, key), all.filter((one) => one < key).length);
    }),
  );
});

test('bars are found by their key, and kept by what holds for them', () => {
  fc.assert(
    fc.property(keys, fc.nat(60), (all, wanted) => {
      const bars = barsAt(all);
      assert.equal(indexOfKey(bars, wanted), all.indexOf(wanted));
      const kept = filterBars(bars, (index) => all[index]! % 3 === wanted % 3);
      assert.deepEqual(rowsOf(kept), rowsOf(barsAt(all.filter((key) => key % 3 === wanted % 3))));
    }),
  );
});

test('appending grows the arrays and keeps what was there', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(keys, fc.nat(60), fc.nat(60)), { maxLength: 6 }), (parts) => {
      const target = emptyBars();
      const expected: Row[] = [];
      for (const [all, a, b] of parts) {
        const from = Math.min(a, b, all.length);
        const to = Math.min(Math.max(a, b), all.length);
        appendBars(target, barsAt(all), from, to);
        expected.push(...rowsOf(barsAt(all)).slice(from, to));
      }
      assert.deepEqual(rowsOf(target), expected);
    }),
  );
});

test('runs are joined in the order given', () => {
  fc.assert(
    fc.property(fc.array(keys, { maxLength: 5 }), (parts) => {
      const joined = concatBars(parts.map((part, index) => barsAt(part, index)));
      assert.deepEqual(
        rowsOf(joined),
        parts.flatMap((part, index) => rowsOf(barsAt(part, index))),
      );
    }),
  );
});

test('a slice is a view of its bars, empty where its end lies before its start', () => {
  const bars = barsAt([1, 2, 3, 4]);
  const slice = sliceBars(bars, 1, 3);
  assert.deepEqual(rowsOf(slice), rowsOf(bars).slice(1, 3));
  assert.equal(slice.keyMs.buffer, bars.keyMs.buffer);
  assert.equal(sliceBars(bars, 3, 1).count, 0);
});

test('a copied bar is equal to its source, null being equal to null and -0 not to 0', () => {
  const source = barsAt([1, 2]);
  source.volume[1] = Number.NaN;
  const target = emptyBars(3);
  copyBar(target, 2, source, 1);
  assert.equal(target.keyMs[2], 2);
  assert.ok(sameBar(target, 2, source, 1));
  target.vwap[2] = 0;
  source.vwap[1] = -0;
  assert.ok(!sameBar(target, 2, source, 1));
});
