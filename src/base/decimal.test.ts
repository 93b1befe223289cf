// Decimals as they were written: text, scale and exact sums (contract 3.8, 3.12), against arithmetic on big integers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  DECIMALS_MAX,
  decimalsOf,
  exactDifference,
  exactPercentChange,
  exactSum,
  fractionOf,
  isScaled,
  multiplierBy,
  POWERS_OF_TEN,
  plainDecimal,
} from './decimal.ts';

/** A decimal as an integer of at most 15 digits and how many of its digits stand after the point. */
type Written = { readonly mantissa: bigint; readonly decimals: number };

const written: fc.Arbitrary<Written> = fc.record({
  mantissa: fc.oneof(
    fc.bigInt({ min: -999_999_999_999_999n, max: 999_999_999_999_999n }),
    fc.bigInt({ min: -99_999n, max: 99_999n }),
  ),
  decimals: fc.nat(DECIMALS_MAX),
});

const textOf = ({ mantissa, decimals }: Written): string => {
  const digits = String(mantissa < 0n ? -mantissa : mantissa).padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return `${mantissa < 0n ? '-' : ''}${digits.slice(0, point)}${decimals > 0 ? `.${digits.slice(point)}` : ''}`;
};
// Number() of a decimal text is the nearest double, by the language's definition.
const doubleOf = (decimal: Written): number => Number(textOf(decimal));
const column = (decimals: readonly Written[]): Float64Array => Float64Array.from(decimals, doubleOf);

function sumOf(decimals: readonly Written[]): number {
  const scale = decimals.reduce((most, decimal) => Math.max(most, decimal.decimals), 0);
  const mantissa = decimals.reduce(
    (sum, decimal) => sum + decimal.mantissa * 10n ** BigInt(scale - decimal.decimals),
    0n,
  );
  return doubleOf({ mantissa, decimals: scale });
}

const plain: readonly [value: number, text: string][] = [
  [0, '0'],
  [1, '1'],
  [-1.5, '-1.5'],
  [13832.668772, '13832.668772'],
  [0.1 + 0.2, '0.30000000000000004'],
  [1e-6, '0.000001'],
  [1e-7, '0.0000001'],
  [-1.25e-7, '-0.000000125'],
  [1.5e-10, '0.00000000015'],
  [5e-324, `0.${'0'.repeat(323)}5`],
  [999_999_999_999_999, '999999999999999'],
  [1e21, `1${'0'.repeat(21)}`],
  [-1.5e22, `-15${'0'.repeat(21)}`],
];
for (const [value, text] of plain) {
  test(`${value} is written ${text.slice(0, 40)}, without an exponent (contract 3.12)`, () => {
    assert.equal(plainDecimal(value), text);
  });
}

test('any finite double is written plainly, and reads back the same (contract 3.12)', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = plainDecimal(value);
      assert.match(text, /^-?\d+(\.\d+)?$/);
      assert.equal(Number(text), value === 0 ? 0 : value);
    }),
  );
});

test('a decimal of up to 15 digits is written digit for digit (contract 3.12)', () => {
  fc.assert(
    fc.property(written, (decimal) => {
      const text = textOf(decimal);
      const expected = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
      assert.equal(plainDecimal(doubleOf(decimal)), expected === '-0' ? '0' : expected);
    }),
  );
});

test('a decimal of up to 15 digits is a scaled integer at its own scale (contract 3.12)', () => {
  fc.assert(
    fc.property(written, (decimal) => {
      assert.ok(isScaled(doubleOf(decimal), decimal.decimals));
      assert.equal(
        Math.round(doubleOf(decimal) * POWERS_OF_TEN[decimal.decimals]!) + 0,
        Number(decimal.mantissa),
      );
    }),
  );
});

const scales: readonly [name: string, values: readonly number[], decimals: number][] = [
  ['no values', [], 0],
  ['whole numbers', [1, 20, 300], 0],
  ['cents', [71.22, 71.2, 71], 2],
  ['eight decimals', [0.00000001, 12], 8],
  ['nulls alone', [Number.NaN, Number.NaN], 0],
  ['nulls among cents', [Number.NaN, 0.25], 2],
  ['fifteen digits', [999_999_999_999_999], 0],
  ['sixteen digits', [1e15], -1],
  ['sixteen digits below zero', [-1e15], -1],
  ['a double that no short decimal writes', [0.1 + 0.2], -1],
  ['a third', [1 / 3], -1],
  ['a negative zero, whose sign a scaled integer loses', [-0], -1],
  ['an infinity', [Number.POSITIVE_INFINITY], -1],
  ['sixteen decimals', [1e-16], -1],
];
for (const [name, values, decimals] of scales) {
  test(`the scale of ${name} is ${decimals} (contract 3.12)`, () => {
    assert.equal(decimalsOf(Float64Array.from(values), values.length), decimals);
  });
}

test('only the first count values make the scale', () => {
  assert.equal(decimalsOf(Float64Array.of(1, 0.25), 1), 0);
});

test('a column whose values fit 15 digits at no common scale has none', () => {
  assert.equal(decimalsOf(Float64Array.of(0.123456, 123_456_789_012_345), 2), -1);
  assert.equal(decimalsOf(Float64Array.of(123_456_789_012_345, 0.123456), 2), -1);
});

test('the scale of a column is the least at which every value is a scaled integer, in any order', () => {
  fc.assert(
    fc.property(fc.array(written, { maxLength: 8 }), (decimals) => {
      const values = column(decimals);
      const fits = (scale: number): boolean => values.every((value) => isScaled(value, scale));
      const scale = POWERS_OF_TEN.findIndex((_, candidate) => fits(candidate));
      assert.equal(decimalsOf(values, values.length), scale);
    }),
  );
});

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
    assert.equal(exactSum(Float64Array.from(values), 0, values.length), sum);
  });
}

test('volumes that doubles sum to 13832.668771999995 sum to their exact decimal (contract 3.8)', () => {
  const volumes = [1139.358674, 8754.869678, 885.546507, 2289.012903, 763.88101];
  assert.equal(
    volumes.reduce((sum, volume) => sum + volume, 0),
    13832.668771999995,
    'the example must be one that doubles get wrong',
  );
  assert.equal(exactSum(Float64Array.from(volumes), 0, volumes.length), 13832.668772);
});

test('a sum of decimals is the double nearest to the exact sum (contract 3.8)', () => {
  fc.assert(
    fc.property(fc.array(written, { maxLength: 40 }), (decimals) => {
      assert.equal(exactSum(column(decimals), 0, decimals.length), sumOf(decimals) + 0);
    }),
  );
});

test('a sum covers the values from its first bound to before its second, and is NaN where one is null', () => {
  const values = Float64Array.of(Number.NaN, 0.1, 0.2, Number.NaN);
  assert.equal(exactSum(values, 1, 3), 0.3);
  assert.equal(exactSum(values, 1, 1), 0);
  assert.ok(Number.isNaN(exactSum(values, 0, 3)));
  assert.ok(Number.isNaN(exactSum(values, 1, 4)));
});

test('a change in percent is the nearest decimal of so many digits, halves away from zero (contract 8.7)', () => {
  fc.assert(
    fc.property(written, written, fc.integer({ min: 0, max: 6 }), (from, to, decimals) => {
      fc.pre(from.mantissa !== 0n);
      const scale = Math.max(from.decimals, to.decimals);
      const [start, end] = [from, to].map((one) => one.mantissa * 10n ** BigInt(scale - one.decimals));
      const divisor = start! < 0n ? -start! : start!;
      const wanted = (end! - start!) * 100n * 10n ** BigInt(decimals);
      const whole = wanted / divisor;
      const rest = wanted % divisor;
      const away = 2n * (rest < 0n ? -rest : rest) >= divisor ? (rest < 0n ? -1n : 1n) : 0n;
      const found = exactPercentChange(doubleOf(from), doubleOf(to), decimals);
      assert.equal(found, Number(`${whole + away}e-${decimals}`));
    }),
  );
  assert.equal(exactPercentChange(3, 2, 4), -33.3333);
  assert.equal(exactPercentChange(800, 801, 2), 0.13);
  assert.equal(exactPercentChange(800, 799, 2), -0.13);
  assert.ok(Number.isNaN(exactPercentChange(0, 1, 4)));
});

test('a difference of decimals has no rounding in between (contract 8.7)', () => {
  assert.equal(exactDifference(0.1, 0.3), 0.2);
  assert.equal(exactDifference(0.3, 0.1), -0.2);
  assert.ok(Object.is(exactDifference(-0.7, -0.7), 0));
});

const products: readonly (readonly [value: number, part: number, whole: number, product: number])[] = [
  [499.23, 1, 4, 124.8075],
  [0.1, 3, 1, 0.3],
  [46_907_479, 4, 1, 187_629_916],
  [100, 1, 7, 14.2857142857],
  [1, 2, 3, 0.6666666667],
  [123_456.789, 1, 3, 41_152.263],
  [1_000_000, 1, 3, 333_333.333333333],
  [99_999.9999999999, 1, 1, 99_999.9999999999],
  [0.000001, 1, 3, 0.0000003333333333],
  [1e-300, 1, 3, 3.333333333e-301],
  [123_456_789_012_345, 100, 1, 12_345_678_901_234_500],
  [-37.63, 1, 2, -18.815],
  [0.00000000005, 1, 1, 0.00000000005],
  [2.5, 1e-10, 1, 2.5e-10],
  [0, 1, 3, 0],
];
for (const [value, part, whole, product] of products) {
  test(`${value} times ${part} / ${whole} is ${product}`, () => {
    assert.equal(multiplierBy(fractionOf(part, whole))(value), product);
  });
}

test('a product that no double is as large as, or of no number, is no number', () => {
  assert.ok(Number.isNaN(multiplierBy(fractionOf(10, 1))(1.7e308)));
  assert.ok(Number.isNaN(multiplierBy(fractionOf(1, 4))(Number.NaN)));
});

test('a product is the exact one rounded once: to 10 decimals, within 10 to 15 significant digits', () => {
  const positive = fc.oneof(fc.bigInt({ min: 1n, max: 10n ** 40n }), fc.bigInt({ min: 1n, max: 100n }));
  fc.assert(
    fc.property(written, positive, positive, (decimal, part, whole) => {
      const product = multiplierBy({ part, whole })(Number(textOf(decimal)));
      const [digits = '', exponent = ''] = product.toExponential().split('e');
      assert.ok(digits.replace(/[-.]/g, '').length <= 15, `${product}`);
      // The product's digits are `shown` units of 10^-places; twice the distance is at most one unit of its last place.
      const places = Math.min(Math.max(10, 9 - Number(exponent)), 14 - Number(exponent));
      const unit = 10n ** 60n;
      const exact = (decimal.mantissa * part * unit * 10n ** 60n) / (whole * 10n ** BigInt(decimal.decimals));
      const text = plainDecimal(product);
      const [before = '', behind = ''] = text.replace('-', '').split('.');
      const shown = BigInt(before + behind.padEnd(120, '0')) * (product < 0 ? -1n : 1n);
      const distance = exact - shown < 0n ? shown - exact : exact - shown;
      assert.ok(2n * distance <= 10n ** BigInt(120 - places) + 2n, `${text}`);
    }),
    { numRuns: 2_000 },
  );
});
