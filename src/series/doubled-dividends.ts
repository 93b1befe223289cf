// Dividends that are stored twice: a corrected ex-date leaves the row of the old one (contract 9.10).
import { fractionOf } from '../base/decimal.ts';
import { isOfShares, unitOf } from '../store/schema/corporate-actions.ts';
import type { Action } from './factors.ts';

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
