// The factors by which dividends and splits adjust earlier prices, worked out in exact decimals (contract 8.2).
import { quotientText, toIntegers } from '../base/decimal.ts';

/** Decimals of a factor. */
const FACTOR_DECIMALS = 8;

/** The factor that changes nothing: where none can be worked out. */
export const NO_FACTOR = '1.00000000';

/** A positive factor that was given, as text of 8 decimals. */
export const factorText = (factor: number): string => ratio(factor, 1);

/** The factor of a split: one share of `from` becomes `to`; both positive. */
export const splitFactor = (from: number, to: number): string => ratio(from, to);

/**
 * The factor of a cash dividend: what a share is worth without it, of the raw close before the ex-date. Null where the
 * dividend is no smaller than that close; both positive.
 */
export function dividendFactor(cash: number, referencePrice: number): string | null {
  const [paid, price] = toIntegers([cash, referencePrice]).integers as [bigint, bigint];
  return paid >= price ? null : quotientText(price - paid, price, FACTOR_DECIMALS);
}

function ratio(part: number, whole: number): string {
  const [dividend, divisor] = toIntegers([part, whole]).integers as [bigint, bigint];
  return quotientText(dividend, divisor, FACTOR_DECIMALS);
}
