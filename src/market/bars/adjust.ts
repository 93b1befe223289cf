// The factors by which dividends and splits adjust earlier prices, computed in exact decimals (contract 8.2).
import { type Fraction, fractionOf, productOf, quotientText } from '../../base/decimal.ts';

/** Decimals of a factor's text. */
export const FACTOR_DECIMALS = 8;

/** The factor that changes nothing, for actions whose factor cannot be computed. */
export const NO_FACTOR: Fraction = { part: 1n, whole: 1n };

/** A positive factor from a file. */
export const givenFactor = (factor: number): Fraction => fractionOf(factor, 1);

/** The factor of a split: one share of `from` becomes `to`; both positive. */
export const splitFactor = (from: number, to: number): Fraction => fractionOf(from, to);

/**
 * The factor of a cash dividend: `1 - cash x scale / referencePrice`, where the reference price is the raw
 * close before the ex-date, and the scale brings the cash into its unit. All are positive. Null where the
 * dividend is at least that close.
 */
export function dividendFactor(cash: number, referencePrice: number, scale = 1): Fraction | null {
  const { part: paid, whole: price } = productOf(fractionOf(cash, referencePrice), fractionOf(scale, 1));
  return paid >= price ? null : { part: price - paid, whole: price };
}

/** A factor as text of 8 decimals, half rounded up. */
export const factorText = ({ part, whole }: Fraction): string => quotientText(part, whole, FACTOR_DECIMALS);
