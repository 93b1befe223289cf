// Decimals as they were written: their text, and exact arithmetic on them (contract 3.12), against that on
// big integers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { doubleOf, textOf, written } from '../../test/decimals.ts';
import { fc } from '../../test/seed.ts';
import {
  exactDifference,
  exactPercentChange,
  fractionOf,
  multiplierBy,
  numberOf,
  POWERS_OF_TEN,
  plainDecimal,
  plainNumber,
} from './decimal.ts';

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
      assert.equal(
        Math.round(doubleOf(decimal) * POWERS_OF_TEN[decimal.decimals]!) + 0,
        Number(decimal.mantissa),
      );
    }),
  );
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
      // The product's digits are `shown` units of 10^-places; twice the distance is at most one unit of its
      // last place.
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

test('a product in the middle of two decimals is rounded away from zero', () => {
  const odd = fc.integer({ min: 1e10, max: 4e12 }).map((half) => 2 * half + 1);
  fc.assert(
    fc.property(odd, fc.constantFrom('', '-'), (units, sign) => {
      const halved = multiplierBy({ part: 1n, whole: 2n })(Number(`${sign}${units}e-10`));
      assert.equal(halved, Number(`${sign}${(units + 1) / 2}e-10`));
    }),
    { numRuns: 2_000 },
  );
});
