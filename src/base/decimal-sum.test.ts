// Exact sums of decimals (contract 3.8), against arithmetic on big integers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { doubleOf, type Written, written } from '../../test/decimals.ts';
import { fc } from '../../test/seed.ts';
import { DecimalSum } from './decimal.ts';

/** Volumes of so many decimals, some of which sum to more than 15 digits. */
const volume = (decimals: number): fc.Arbitrary<Written> =>
  fc
    .oneof(fc.bigInt({ min: 0n, max: 99_999n }), fc.bigInt({ min: 0n, max: 999_999_999_999_999n }))
    .map((mantissa) => ({ mantissa, decimals }));

const column = (decimals: readonly Written[]): Float64Array => Float64Array.from(decimals, doubleOf);

function sumOf(decimals: readonly Written[]): number {
  const scale = decimals.reduce((most, decimal) => Math.max(most, decimal.decimals), 0);
  const mantissa = decimals.reduce(
    (sum, decimal) => sum + decimal.mantissa * 10n ** BigInt(scale - decimal.decimals),
    0n,
  );
  return doubleOf({ mantissa, decimals: scale });
}

/** The sum of values that are added in ranges which begin at some of them. */
function sumIn(values: Float64Array, starts: readonly number[]): number {
  const sum = new DecimalSum();
  sum.add(Float64Array.of(0.125, 1e300), 0, 2);
  sum.clear();
  const bounds = [0, ...starts.filter((at) => at < values.length).toSorted((a, b) => a - b), values.length];
  for (const [at, from] of bounds.slice(0, -1).entries()) sum.add(values, from, bounds[at + 1]!);
  return sum.value;
}

const sums: readonly [values: readonly number[], sum: number][] = [
  [[], 0],
  [[0.1, 0.2], 0.3],
  [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], 4.5],
  [[1e21, 1e-7, -1e21], 1e-7],
  [[-0.5, 0.25], -0.25],
  [[-0.3, 0.1, 0.2], 0],
  [[9_007_199_254_740_991, 1], 9_007_199_254_740_992],
];
for (const [values, sum] of sums) {
  test(`the sum of ${values.join(' + ') || 'nothing'} is exactly ${sum} (contract 3.8)`, () => {
    assert.equal(sumIn(Float64Array.from(values), []), sum);
  });
}

test('volumes that doubles sum to 13832.668771999995 sum to their exact decimal (contract 3.8)', () => {
  const volumes = [1139.358674, 8754.869678, 885.546507, 2289.012903, 763.88101];
  assert.equal(
    volumes.reduce((sum, volume) => sum + volume, 0),
    13832.668771999995,
    'the example must be one that doubles get wrong',
  );
  assert.equal(sumIn(Float64Array.from(volumes), [2]), 13832.668772);
});

test('a sum of decimals is the double nearest to the exact sum, in whatever ranges they are added (contract 3.8)', () => {
  const decimals = fc.oneof(
    fc.array(written, { maxLength: 40 }),
    fc.array(volume(0), { maxLength: 40 }),
    fc.array(fc.oneof(volume(0), volume(2), volume(8)), { maxLength: 40 }),
  );
  fc.assert(
    fc.property(decimals, fc.array(fc.nat(39), { maxLength: 4 }), (drawn, starts) => {
      assert.equal(sumIn(column(drawn), starts), sumOf(drawn) + 0);
    }),
    { numRuns: 500 },
  );
});

test('a sum covers the values from its first bound to before its second, and is NaN where one is null', () => {
  const values = Float64Array.of(Number.NaN, 0.1, 0.2, Number.NaN);
  const between = (from: number, to: number): number => {
    const sum = new DecimalSum();
    sum.add(values, from, to);
    return sum.value;
  };
  assert.equal(between(1, 3), 0.3);
  assert.equal(between(1, 1), 0);
  assert.ok(Number.isNaN(between(0, 3)));
  assert.ok(Number.isNaN(between(1, 4)));
});
