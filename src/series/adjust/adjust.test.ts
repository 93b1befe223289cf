// Factors of dividends and splits (contract 8.2), against fractions of integers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { type Fraction, fractionOf } from '../../base/decimal.ts';
import { dividendFactor, factorText } from './factors.ts';

const split = (from: number, to: number): string => factorText(fractionOf(from, to));

const given = (factor: number): string => factorText(fractionOf(factor, 1));

function dividend(cash: number, price: number): string | null {
  const factor: Fraction | null = dividendFactor(cash, price);
  return factor === null ? null : factorText(factor);
}

test('a split of 1 to 5 is 0.20000000, a reverse one more than 1 (contract 8.2)', () => {
  assert.equal(split(1, 5), '0.20000000');
  assert.equal(split(1, 7), '0.14285714');
  assert.equal(split(2, 3), '0.66666667');
  assert.equal(split(10, 1), '10.00000000');
  assert.equal(split(3, 3), '1.00000000');
});

test('a dividend takes its part of the close before it, in exact decimals (contract 8.2)', () => {
  assert.equal(dividend(2.65, 619.86), '0.99572484');
  assert.equal(dividend(0.1, 0.3), '0.66666667');
  assert.equal(dividend(0.000001, 1), '0.99999900');
  assert.equal(dividend(1, 1), null);
  assert.equal(dividend(1.01, 1), null);
});

test('a factor that is given has 8 decimals, half rounded up', () => {
  assert.equal(given(0.5), '0.50000000');
  assert.equal(given(0.123456785), '0.12345679');
  assert.equal(given(1e-7), '0.00000010');
  assert.equal(given(20), '20.00000000');
});

/** A text of 8 decimals times 10^8. */
const scaledOf = (text: string): bigint => BigInt(text.replace('.', ''));

test('every factor is the nearest one of 8 decimals', () => {
  const cents = fc.integer({ min: 1, max: 99_999_999 });
  fc.assert(
    fc.property(cents, cents, (first, second) => {
      const [cash, price] = [Math.min(first, second), Math.max(first, second)];
      const factor = dividend(cash / 100, price / 100);
      if (cash === price) return assert.equal(factor, null);
      // Twice the distance from the exact fraction is at most one unit of the last place.
      const distance = scaledOf(factor!) * BigInt(price) - BigInt(price - cash) * 10n ** 8n;
      assert.ok(2n * (distance < 0n ? -distance : distance) <= BigInt(price));
    }),
  );
});
