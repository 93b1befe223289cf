// The factor of a corporate action: from the file, else computed in exact decimals when it is read
// (contract 8.2, 8.10, 9.4); and dividends that are stored twice (contract 9.10).
import { type Fraction, fractionOf, multiplierBy, productOf } from '../../base/decimal.ts';
import { findMarket } from '../../market/calendar/calendar.ts';
import {
  cashScale,
  type corporateActions,
  type Incomparable,
  isOfShares,
  unitOf,
} from '../../store/schema/corporate-actions.ts';
import type { RowOf } from '../../store/schema/dataset.ts';
import type { Instrument } from '../../store/schema/reference.ts';
import type { RawCloses } from '../closes.ts';

/** Decimals of a factor's text. */
export const FACTOR_DECIMALS = 8;

/** The factor that changes nothing, for actions whose factor cannot be computed. */
export const NO_FACTOR: Fraction = { part: 1n, whole: 1n };

/**
 * The factor of a cash dividend: `1 - cash x scale / referencePrice`, where the reference price is the raw
 * close before the ex-date, and the scale brings the cash into its unit. All are positive. Null where the
 * dividend is at least that close.
 */
export function dividendFactor(cash: number, referencePrice: number, scale = 1): Fraction | null {
  const share = fractionOf(cash, referencePrice);
  const { part: paid, whole: price } = scale === 1 ? share : productOf(share, fractionOf(scale, 1));
  return paid >= price ? null : { part: price - paid, whole: price };
}

/** `dividend / divisor` as text of so many decimals, at least one, half rounded up; neither is negative. */
function quotientText(dividend: bigint, divisor: bigint, decimals: number): string {
  const scaled = (2n * dividend * 10n ** BigInt(decimals) + divisor) / (2n * divisor);
  const digits = String(scaled).padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** A factor as text of 8 decimals, half rounded up. */
export const factorText = ({ part, whole }: Fraction): string => quotientText(part, whole, FACTOR_DECIMALS);

/** The most days by which a corrected ex-date differs from the old one. */
export const MOVED_DAYS_MAX = 30;
/** Days between two ex-dates if no other date is known: fewer than a stock that pays each week has. */
export const UNDATED_DAYS_MAX = 6;

/**
 * Two dividends whose ex-dates and pay dates are so far apart are of two months: one board meeting may
 * declare both.
 */
const MONTH_DAYS_MIN = 25;

const isOfTwoMonths = (one: Action, other: Action): boolean =>
  one.pay_date !== null &&
  other.pay_date !== null &&
  Math.min(other.ex_date - one.ex_date, other.pay_date - one.pay_date) >= MONTH_DAYS_MIN;

/** True if two dividends have one amount. Cash without a currency is in the unit of the other. */
function isSameCash(one: Action, other: Action): boolean {
  if (one.action_type !== other.action_type) return false;
  if (one.currency === null || other.currency === null) return one.cash_amount === other.cash_amount;
  const [unit, otherUnit] = [unitOf(one.currency), unitOf(other.currency)];
  const amount = fractionOf(one.cash_amount!, unit.parts);
  const otherAmount = fractionOf(other.cash_amount!, otherUnit.parts);
  return (
    unit.currency === otherUnit.currency &&
    amount.part * otherAmount.whole === otherAmount.part * amount.whole
  );
}

function isDouble(one: Action, other: Action): boolean {
  const days = other.ex_date - one.ex_date;
  if (days === 0 || days > MOVED_DAYS_MAX || !isSameCash(one, other) || isOfTwoMonths(one, other))
    return false;
  const dates = (['declaration_date', 'pay_date'] as const).filter(
    (column) => one[column] !== null && other[column] !== null,
  );
  return dates.length === 0
    ? days <= UNDATED_DAYS_MAX
    : dates.some((column) => one[column] === other[column]);
}

/**
 * Pairs of dividends of one stock, by ex-date, that may be one whose date was corrected: the earlier and the
 * later.
 */
export function doubledDividends(actions: readonly Action[]): (readonly [Action, Action])[] {
  const paid = actions.filter(
    ({ action_type, cash_amount }) => !isOfShares(action_type) && cash_amount !== null,
  );
  return paid.flatMap((later, at) => {
    const earlier = paid.slice(0, at).findLast((one) => isDouble(one, later));
    return earlier === undefined ? [] : [[earlier, later] as const];
  });
}

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
  if (split_from !== null) return fractionOf(split_to!, split_from);
  const { part, whole } = fractionOf(adjustment_factor!, 1);
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

/** The close of a day in the shares of a later one: divided by the splits after the day of the close. */
export function afterSplits(close: number, closeDay: number, day: number, all: readonly Action[]): number {
  const { part, whole } = allSharesOf(all.filter(({ ex_date }) => ex_date > closeDay && ex_date <= day));
  return part === whole ? close : multiplierBy({ part: whole, whole: part })(close);
}

/** True if the factor is computed from the price before the action, and that must be looked up. */
export const needsClose = ({ action_type, adjustment_factor, reference_price }: Action): boolean =>
  !isOfShares(action_type) && adjustment_factor === null && reference_price === null;

/**
 * The price before an action of cash: from the file, else, where the factor must be computed from it, the
 * close before it, divided by the splits after that.
 */
export async function referencePrice(
  action: Action,
  all: readonly Action[],
  closes: RawCloses | null,
): Promise<number | null> {
  if (!needsClose(action)) return action.reference_price;
  const close = (await closes?.before(action.ex_date)) ?? null;
  return close === null ? null : afterSplits(close.price, close.day, action.ex_date, all);
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
  const given = fractionOf(action.adjustment_factor, 1);
  return factorText(given) === factorText(computed)
    ? { ...computed, missing: null }
    : { ...given, missing: null };
}
