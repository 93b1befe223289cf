// Decimals as they are written, for tests against arithmetic on big integers.

import { DECIMALS_MAX } from '../src/base/decimal.ts';
import { fc } from './seed.ts';

/** A decimal as an integer of at most 15 digits and how many of its digits stand after the point. */
export type Written = { readonly mantissa: bigint; readonly decimals: number };

/** Any such decimal. */
export const written: fc.Arbitrary<Written> = fc.record({
  mantissa: fc.oneof(
    fc.bigInt({ min: -999_999_999_999_999n, max: 999_999_999_999_999n }),
    fc.bigInt({ min: -99_999n, max: 99_999n }),
  ),
  decimals: fc.nat(DECIMALS_MAX),
});

/** Its text, without an exponent. */
export const textOf = ({ mantissa, decimals }: Written): string => {
  const digits = String(mantissa < 0n ? -mantissa : mantissa).padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return `${mantissa < 0n ? '-' : ''}${digits.slice(0, point)}${decimals > 0 ? `.${digits.slice(point)}` : ''}`;
};

/** Number() of a decimal text is the nearest double, by the language's definition. */
export const doubleOf = (decimal: Written): number => Number(textOf(decimal));
