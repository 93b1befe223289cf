// Corporate actions: which fields a dividend and a split need, and how several of one day are numbered (spec 2.4, contract 8.2).
import { dividendFactor } from '../bars/adjust.ts';
import { OCCURRENCE_MAX } from '../datasets/corporate-actions.ts';
import type { Values } from '../datasets/field.ts';
import type { RowProblem } from '../files/file-problem.ts';
import type { Particulars } from './import-rows.ts';

/** The fields that one kind of action needs and the other must not have. */
const needed = { dividend: ['cash_amount'], split: ['split_from', 'split_to'] };

function problemOf(values: Values): RowProblem | null {
  const type = values.action_type as string;
  for (const [kind, fields] of Object.entries(needed))
    for (const field of fields) {
      const isGiven = values[field] !== undefined;
      if (kind === type && !isGiven) return { column: field, reason: `is missing: a ${type} needs it` };
      if (kind !== type && isGiven)
        return { column: field, reason: `must be empty on a ${type}: a day of both has a row for each` };
    }
  return null;
}

function findingOf(action: Values): string | null {
  const { cash_amount: cash, reference_price: price, adjustment_factor: factor } = action;
  const isKnown = cash !== undefined && price !== undefined && factor === undefined;
  if (isKnown && dividendFactor(cash as number, price as number) === null)
    return 'dividends no smaller than the price before them, which adjust nothing';
  return (action.occurrence as number) > 1
    ? 'actions beside another one of the same stock, kind and day'
    : null;
}

/** Several dividends of one day are numbered by their order in the file; a second split is more likely a mistake. */
function followingOf(values: Values, place: number): Values | null {
  const isGiven = values.occurrence !== undefined;
  if (isGiven || values.action_type !== 'dividend' || place > OCCURRENCE_MAX) return null;
  return { ...values, occurrence: place };
}

/** What is special about corporate actions. */
export const actions: Particulars = {
  problemOf,
  findingOf,
  followingOf,
  complete(values) {
    const action = { occurrence: 1, ...values };
    // Vendors fill the currency in every row.
    return values.action_type === 'split' ? { ...action, currency: null } : action;
  },
};
