// Medians, quantiles and ratios of rounds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, medianRatio, quantile } from './statistics.ts';

test('the median of an odd and of an even count of numbers, in any order', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([10, 1, 4, 2]), 3);
  assert.equal(median([7]), 7);
});

test('a quantile lies between two numbers in proportion', () => {
  const hundred = Array.from({ length: 101 }, (_, index) => 100 - index);
  assert.equal(quantile(hundred, 0.99), 99);
  assert.equal(quantile([1, 2], 0.25), 1.25);
  assert.equal(quantile([5, 9], 1), 9);
  assert.equal(quantile([5, 9], 0), 5);
});

test('the ratio is the median of ratios within a round, not the ratio of medians', () => {
  assert.equal(medianRatio([10, 100, 30], [10, 50, 10]), 2);
});

test('one round without a figure leaves no figure', () => {
  assert.equal(median([1, Number.NaN, 3]), Number.NaN);
  assert.equal(medianRatio([1, 2, 3], [1, Number.NaN, 3]), Number.NaN);
});

test('numbers that are missing are an error', () => {
  assert.throws(() => median([]), RangeError);
  assert.throws(() => medianRatio([1, 2], [1]), RangeError);
});
