// The factor of a dividend or a split: from the file, else computed when it is read (contract 8.2).
import { dividendFactor, factorText, givenFactor, NO_FACTOR, splitFactor } from '../bars/adjust.ts';
import type { Fraction } from '../base/decimal.ts';
import type { corporateActions } from '../datasets/corporate-actions.ts';
import type { RowOf } from '../datasets/dataset.ts';
import type { RawCloses } from './closes.ts';

/** A stored dividend or split. */
export type Action = RowOf<typeof corporateActions>;

/** The close before a dividend: from the file, else from bars where the factor must be computed from it. */
export async function referencePrice(action: Action, closes: RawCloses | null): Promise<number | null> {
  const isNeeded = action.action_type === 'dividend' && action.adjustment_factor === null;
  if (action.reference_price !== null || !isNeeded) return action.reference_price;
  return (await closes?.before(action.ex_date)) ?? null;
}

function computedFactor(action: Action, price: number | null): Fraction {
  if (action.action_type === 'split') return splitFactor(action.split_from!, action.split_to!);
  return (price === null ? null : dividendFactor(action.cash_amount!, price)) ?? NO_FACTOR;
}

/**
 * The factor of an action, unrounded, by its reference price. Where the given factor is the computed one, rounded, it is the computed one.
 */
export function factorOf(action: Action, price: number | null): Fraction {
  const computed = computedFactor(action, price);
  if (action.adjustment_factor === null) return computed;
  const given = givenFactor(action.adjustment_factor);
  return factorText(given) === factorText(computed) ? computed : given;
}
