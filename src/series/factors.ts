// The factor of a corporate action: from the file, else computed when it is read (contract 8.2, 8.10).

import { type Fraction, multiplierBy, productOf } from '../base/decimal.ts';
import { dividendFactor, factorText, givenFactor, NO_FACTOR, splitFactor } from '../market/bars/adjust.ts';
import { findMarket } from '../market/calendar/calendar.ts';
import {
  cashScale,
  type corporateActions,
  type Incomparable,
  isOfShares,
} from '../store/schema/corporate-actions.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import type { Instrument } from '../store/schema/reference.ts';
import type { RawCloses } from './closes.ts';

/** A stored corporate action. */
export type Action = RowOf<typeof corporateActions>;

/** The fields that decide the currency of a stock's prices. */
type Priced = Pick<Instrument, 'country_iso_code' | 'currency' | 'calendar_key'>;

/**
 * By what the cash of an action is multiplied to be in the unit of its stock's prices, or why it cannot be
 * compared with them.
 */
export function scaleOf(
  action: Action,
  { country_iso_code: country, currency: given, calendar_key }: Priced,
): number | Incomparable {
  const byMarket = findMarket('stock', country, calendar_key)?.currency ?? null;
  return cashScale(action.currency, { country, given, byMarket });
}

/** New shares for each old one: of an action that gives none, 1. */
export function sharesOf({ action_type, split_from, split_to, adjustment_factor }: Action): Fraction {
  if (!isOfShares(action_type)) return NO_FACTOR;
  if (split_from !== null) return splitFactor(split_to!, split_from);
  const { part, whole } = givenFactor(adjustment_factor!);
  return { part: whole, whole: part };
}

const allSharesOf = (actions: readonly Action[]): Fraction =>
  actions.map(sharesOf).reduce(productOf, NO_FACTOR);

/**
 * An action with its amounts per share as traded on its day: those of a file of split-adjusted amounts
 * contain the splits after it, up to the day of the file. `all` are the actions of its stock.
 */
export function asTraded(action: Action, all: readonly Action[]): Action {
  const { split_adjusted_on: until, ex_date, cash_amount, reference_price } = action;
  if (until === null) return action;
  const times = multiplierBy(
    allSharesOf(all.filter((other) => other.ex_date > ex_date && other.ex_date <= until)),
  );
  return {
    ...action,
    cash_amount: cash_amount && times(cash_amount),
    reference_price: reference_price && times(reference_price),
  };
}

/** The price of a share after the splits of a day, by that before them. */
export function afterSplits(price: number, day: number, all: readonly Action[]): number {
  const { part, whole } = allSharesOf(all.filter(({ ex_date }) => ex_date === day));
  return part === whole ? price : multiplierBy({ part: whole, whole: part })(price);
}

/** True if the factor is computed from the price before the action, and that must be looked up. */
export const needsClose = ({ action_type, adjustment_factor, reference_price }: Action): boolean =>
  !isOfShares(action_type) && adjustment_factor === null && reference_price === null;

/**
 * The price before an action of cash: from the file, else, where the factor must be computed from it, the
 * close before it, divided by the splits of its day.
 */
export async function referencePrice(
  action: Action,
  all: readonly Action[],
  closes: RawCloses | null,
): Promise<number | null> {
  if (!needsClose(action)) return action.reference_price;
  const close = (await closes?.before(action.ex_date)) ?? null;
  return close === null ? null : afterSplits(close, action.ex_date, all);
}

/**
 * A factor, unrounded, and why it is 1 although the action takes something from the price; null where it is
 * right.
 */
type Factor = Fraction & { readonly missing: string | null };

const reasons: Readonly<Record<Incomparable, string>> = {
  differs: 'its currency is not that of the price',
  unproven: 'no file gave the currency of the price',
};

const missingFactor = (missing: string): Factor => ({ ...NO_FACTOR, missing });

function computedFactor(action: Action, price: number | null, scale: number | Incomparable): Factor {
  if (isOfShares(action.action_type)) {
    const { part, whole } = sharesOf(action);
    return { part: whole, whole: part, missing: null };
  }
  if (typeof scale === 'string') return missingFactor(reasons[scale]);
  if (price === null || action.cash_amount === null) return missingFactor('no close before it');
  const factor = dividendFactor(action.cash_amount, price, scale);
  return factor === null ? missingFactor('no less than the price before it') : { ...factor, missing: null };
}

/**
 * The factor of an action by its reference price and the scale of its cash. That of shares follows from them,
 * however a file rounded it; where another given factor is the computed one, rounded, it is the computed one.
 */
export function factorOf(action: Action, price: number | null, scale: number | Incomparable): Factor {
  const computed = computedFactor(action, price, scale);
  if (action.adjustment_factor === null || isOfShares(action.action_type)) return computed;
  const given = givenFactor(action.adjustment_factor);
  return factorText(given) === factorText(computed)
    ? { ...computed, missing: null }
    : { ...given, missing: null };
}
