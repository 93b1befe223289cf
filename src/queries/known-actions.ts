// Which corporate actions were known at a moment, and what of one that was still to come (contract 9.8).

import type { Action } from '../series/factors.ts';
import { type corporateActions, isOfShares } from '../store/schema/corporate-actions.ts';
import type { Holds } from './dataset-page.ts';
import { dayOf } from './known-instrument.ts';
import type { AsOf, QueryContext } from './query.ts';

/** True if an action is still to come at a moment. */
export const isAhead = (asOf: AsOf, { ex_date, country_iso_code }: Action): boolean =>
  ex_date > dayOf(asOf, 'stock', country_iso_code);

/**
 * True if an action was known at a moment: those of ex-dates up to its date were, and those declared before
 * it. A declaration is a date without a time: what is declared on a day is known on the next.
 */
export function isActionKnown(asOf: AsOf, action: Action): boolean {
  const { declaration_date, country_iso_code } = action;
  if (!isAhead(asOf, action)) return true;
  return declaration_date !== null && declaration_date < dayOf(asOf, 'stock', country_iso_code);
}

/** Which actions a request may see; undefined where it has no moment. */
export const knownActions = ({
  asOf,
}: Pick<QueryContext, 'asOf'>): Holds<typeof corporateActions> | undefined =>
  asOf === null ? undefined : (action) => isActionKnown(asOf, action);

/**
 * An action that is still to come, as it was declared: the close before it is not known, and neither is what
 * depends on it.
 */
export const asDeclared = (action: Action): Action => ({
  ...action,
  reference_price: null,
  adjustment_factor: isOfShares(action.action_type) ? action.adjustment_factor : null,
});
