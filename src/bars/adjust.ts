// The factors by which dividends and splits adjust earlier prices, computed in exact decimals (contract 8.2).
import { type Fraction, fractionOf, quotientText } from '../base/decimal.ts';

/** Decimals of a factor's text. */
const FACTOR_DECIMALS = 8;

/** The factor that changes nothing, for actions whose factor cannot be computed. */
export const NO_FACTOR: Fraction = { part: 1n, whole: 1n };

/** A positive factor from a file. */
export const givenFactor = (factor: number): Fraction => fractionOf(factor, 1);

/** The factor of a split: one share of `from` becomes `to`; both positive. */
export const splitFactor = (from: number, to: number): Fraction => fractionOf(from, to);

/**
 * The factor of a cash dividend: `1 - cash / referencePrice`, where the reference price is the raw close before the ex-date.
 * Both are positive. Null where the dividend is at least that close.
 */
export function dividendFactor(cash: number, referencePrice: number): Fraction | null {
  const { part: paid, whole: price } = fractionOf(cash, referencePrice);
  return paid >= price ? null : { part: price - paid, whole: price };
}

/** A factor as text of 8 decimals, half rounded up. */
export const factorText = ({ part, whole }: Fraction): string => quotientText(part, whole, FACTOR_DECIMALS);
