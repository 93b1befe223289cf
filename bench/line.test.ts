// A line is judged by its ratio where it has one, and by what was measured otherwise; the table says what
// became of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groups } from './groups/index.ts';
import { failedResult, type Line, resultOf } from './line.ts';
import { describe, summary } from './table.ts';

const ratio: Line<{ readonly measured: number; readonly ratio: number }> = {
  name: 'a ratio',
  unit: 'requests/s',
  comparedWith: 'the limit',
  target: { atLeast: 0.5 },
  measure: (measured) => measured,
};
const time: Line<number> = {
  name: 'a time',
  unit: 'ms',
  target: { atMost: 3 },
  warmUp: 'one start',
  measure: (measured) => ({ measured }),
};

test('a line with a ratio is judged by the ratio alone, another by its figure; a target itself is reached', () => {
  assert.equal(resultOf('g', ratio, { measured: 1, ratio: 0.5 }).outcome, 'reached');
  assert.equal(resultOf('g', ratio, { measured: 1e6, ratio: 0.49 }).outcome, 'missed');
  assert.equal(resultOf('g', time, 3).outcome, 'reached');
  assert.equal(resultOf('g', time, 3.1).outcome, 'missed');
  assert.equal(resultOf('g', { ...time, target: null }, 3.1).outcome, 'no target');
});

test('what is not installed is not measured, and no answer at all is a failure, not a target reached', () => {
  const missing = { ...time, measure: () => ({ missing: 'nginx is not installed' }) };
  assert.equal(resultOf('g', missing, 1).outcome, 'not measured');
  assert.equal(resultOf('g', time, Number.NaN).outcome, 'failed');
  const upwards: Line<number> = { ...time, target: { atLeast: 3 } };
  assert.equal(resultOf('g', upwards, Number.POSITIVE_INFINITY).outcome, 'failed');
});

test('the table has a row for every line and says each outcome', () => {
  const results = [
    resultOf('serve', ratio, { measured: 5_678.9, ratio: 0.123456 }),
    resultOf('serve', time, 0.12345),
    resultOf('serve', { ...time, measure: () => ({ missing: 'nginx is not installed' }) }, 1),
    failedResult('serve', time, 'it ended with 3'),
  ];
  const rows = describe(results).trimEnd().split('\n').slice(1);
  assert.deepEqual(
    rows.map((row) => row.split(/ {2,}/)),
    [
      ['serve: a ratio', '5,679 requests/s', '0.123 x the limit', '-', '>= 0.5', '-', 'MISSED'],
      ['serve: a time', '0.123 ms', '-', '-', '<= 3', 'one start', 'reached'],
      ['serve: a time', '-', '-', '-', '<= 3', 'one start', 'nginx is not installed'],
      ['serve: a time', '-', '-', '-', '<= 3', 'one start', 'FAILED'],
    ],
  );
  assert.equal(summary(results), '1 lines reached their target, 1 missed it, 1 were not measured, 1 failed.');
});

test('no two groups have one name, and no two lines of a group one name and comparison', () => {
  const names = groups.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const { name, lines } of groups) {
    const keys = lines.map((line) => `${line.name} ${line.comparedWith} ${line.unit}`);
    assert.equal(new Set(keys).size, keys.length, name);
  }
});
