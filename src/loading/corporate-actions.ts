// Corporate actions: what a file may say of a dividend or a split (spec 2.4, contract 8.2, 11).
import { dividendFactor } from '../bars/adjust.ts';
import { corporateActions } from '../datasets/corporate-actions.ts';
import type { RowOf } from '../datasets/dataset.ts';
import type { RowProblem } from '../files/file-problem.ts';
import type { ImportReport } from '../history/import-report.ts';
import type { ImportRequest } from '../history/run.ts';
import type { FieldNames } from '../mapping/column-mapping.ts';
import {
  countryRule,
  currencyRule,
  dayRule,
  exchangeRule,
  type FieldRule,
  numberRule,
  symbolRule,
  wordRule,
} from '../mapping/field-rules.ts';
import type { Store } from '../store/store.ts';
import { importRows, type NamedOnDay, type RowImport, type Values } from './rows.ts';

const required = ['country_iso_code', 'symbol', 'action_type', 'ex_date'];

/** The fields of a corporate actions file (contract 11). */
export const corporateActionFields: FieldNames = {
  required,
  optional: [
    'asset_schema',
    ...Object.keys(corporateActions.columns).filter((column) => !required.includes(column)),
  ],
  flags: {
    asset_schema: '--schema',
    country_iso_code: '--country',
    symbol: '--symbol',
    exchange: '--exchange',
  },
};

const positive = numberRule((number) => number > 0, 'must be a positive number');

const shares = numberRule(
  (number) => number > 0 && Number.isSafeInteger(number),
  'must be a whole number of shares: 1 to 1.05 is 100 to 105',
);

/** No stock has more actions of one kind a day. */
const OCCURRENCE_MAX = 99;

const rules: Readonly<Record<string, FieldRule>> = {
  asset_schema: {
    parse: (text) => (text.toLowerCase() === 'stock' ? 'stock' : undefined),
    reason: 'must be stock: others have no corporate actions here',
  },
  country_iso_code: countryRule,
  symbol: symbolRule,
  action_type: wordRule(['dividend', 'split']),
  occurrence: numberRule(
    (number) => number >= 1 && number <= OCCURRENCE_MAX && Number.isInteger(number),
    `must be a whole number from 1 to ${OCCURRENCE_MAX}`,
  ),
  ex_date: dayRule,
  exchange: exchangeRule,
  adjustment_factor: positive,
  cash_amount: positive,
  currency: currencyRule,
  declaration_date: dayRule,
  record_date: dayRule,
  pay_date: dayRule,
  split_from: shares,
  split_to: shares,
  reference_price: positive,
};

/** What a kind of action must have, and what the other one has. */
const needed: Readonly<Record<string, readonly string[]>> = {
  dividend: ['cash_amount'],
  split: ['split_from', 'split_to'],
};

function problemOf(values: Values): RowProblem | null {
  const type = values.action_type as string;
  for (const [kind, fields] of Object.entries(needed)) {
    for (const field of fields) {
      if (kind === type && values[field] === undefined)
        return { column: field, reason: `is missing: a ${type} needs it` };
      if (kind !== type && values[field] !== undefined)
        return { column: field, reason: `must be empty on a ${type}: a day of both has a row for each` };
    }
  }
  return null;
}

type Action = RowOf<typeof corporateActions>;

const blank = Object.fromEntries(Object.keys(corporateActions.columns).map((column) => [column, null]));

/** The row that the values of its fields give; those that are missing are null. */
export function corporateActionRowOf(values: Values): Action {
  const row = { ...blank, occurrence: 1, ...values } as Action;
  // Vendors fill it in every row.
  return row.action_type === 'split' ? { ...row, currency: null } : row;
}

function findingOf(values: Values): string | null {
  const action = corporateActionRowOf(values);
  const { cash_amount: cash, reference_price: price, adjustment_factor: factor } = action;
  if (cash !== null && price !== null && factor === null && dividendFactor(cash, price) === null)
    return 'dividends no smaller than the price before them, which adjust nothing';
  return action.occurrence > 1 ? 'actions beside another one of the same stock, kind and day' : null;
}

/** Several dividends of one day are told apart by their order in the file; of splits a second one is more likely a mistake. */
function followingOf(values: Values, place: number): Values | null {
  const isTold = values.occurrence !== undefined;
  if (isTold || values.action_type !== 'dividend' || place > OCCURRENCE_MAX) return null;
  return { ...values, occurrence: place };
}

/** The symbol by which an action names its stock. */
export function symbolOfAction(values: Values): NamedOnDay {
  const { country_iso_code, symbol, ex_date: day } = corporateActionRowOf(values);
  return { field: 'symbol', name: { asset_schema: 'stock', country_iso_code, symbol }, day };
}

const kind: RowImport<typeof corporateActions> = {
  dataset: corporateActions,
  fields: corporateActionFields,
  rules,
  keyOf(values) {
    const { country_iso_code, symbol, ex_date, action_type, occurrence } = corporateActionRowOf(values);
    return { country_iso_code, symbol, ex_date, action_type, occurrence };
  },
  repeated: {
    column: 'ex_date',
    reason:
      'the file has an action of this kind and day already, with other values: where both are right, tell them apart by a column occurrence, 1 and 2',
  },
  followingOf,
  problemOf,
  findingOf,
  instrumentOf(values) {
    const { country_iso_code, symbol, exchange } = corporateActionRowOf(values);
    return { asset_schema: 'stock', country_iso_code, symbol, exchange };
  },
  symbolOf: symbolOfAction,
  rowOf: (values) => corporateActionRowOf(values),
};

/** Imports one file of corporate actions. @throws FileProblem when nothing of it can be imported */
export async function importCorporateActions(store: Store, request: ImportRequest): Promise<ImportReport> {
  const { newRows: _, ...report } = await importRows(store, request, kind);
  return report;
}
