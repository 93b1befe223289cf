// Numbers as people read them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digitsOf, priceText } from './figures.ts';

const shown: readonly (readonly [prices: readonly number[], last: string])[] = [
  [[122, 121.5], '121.50'],
  [[1.27541, 1.2754], '1.27540'],
  [[6_785.85, 0.12345678], '0.12345678'],
  // Adjusted prices have up to ten digits after their point.
  [[20.7995989262, 121.21], '121.210'],
  [[20.7995989262, 20.8350024989], '20.8350'],
  [[1_234.5000000001, 1_172.3], '1,172.30'],
  [[2.05e-11, 2e-11], '0.0000000000200000'],
];
test('prices are shown with the digits that they need, those that were computed with six', () => {
  for (const [prices, last] of shown)
    assert.equal(priceText(prices.at(-1)!, digitsOf(prices)), last, prices.join());
});
