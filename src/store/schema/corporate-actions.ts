// Dividends, splits and other corporate actions of stocks. A factor that no file gives is calculated when it
// is read (contract 8.2).
import { fractionNear, numberOf } from '../../base/decimal.ts';
import { actionKinds } from '../../contract/corporate-actions.ts';
import { currencyRule } from './currency.ts';
import { dataset, day, integer, orNull, real, text } from './dataset.ts';
import {
  asText,
  countryField,
  dayRule,
  exchangeRule,
  type FieldRule,
  numberRule,
  optional,
  required,
  symbolField,
  wordRule,
} from './field.ts';

const positive = numberRule((number) => number > 0, 'must be a positive number');

const shares = numberRule(
  (number) => number > 0 && Number.isSafeInteger(number),
  'must be a whole number of shares: 1 to 1.05 is 100 to 105',
);

/**
 * New shares for each old one, as whole numbers of shares: the fraction that the number is, or is rounded
 * from.
 */
const shareRatio: FieldRule = {
  parse(text) {
    const ratio = numberOf(text);
    if (ratio === null || !Number.isFinite(ratio) || ratio <= 0) return undefined;
    const { part, whole } = fractionNear(ratio);
    const [to, from] = [Number(part), Number(whole)];
    return Number.isSafeInteger(to) && Number.isSafeInteger(from) ? { from, to } : undefined;
  },
  reason: 'must be the new shares for each old one, a positive number such as 4 or 0.05',
};

/** True if a kind of action gives or takes shares. The others take cash, or its worth, from the price. */
export const isOfShares = (type: string): boolean => type === 'split' || type === 'stock_dividend';

/** The most actions of one kind of a stock in a day. */
export const OCCURRENCE_MAX = 99;

export const corporateActions = dataset({
  name: 'corporate_actions',
  columns: {
    country_iso_code: text,
    symbol: text,
    ex_date: day,
    /** One of `actionKinds`. */
    action_type: text,
    /** Its number among the actions of its kind and day, from 1 (docs/decisions/0018). */
    occurrence: integer,
    exchange: orNull(text),
    adjustment_factor: orNull(real),
    cash_amount: orNull(real),
    currency: orNull(text),
    declaration_date: orNull(day),
    record_date: orNull(day),
    pay_date: orNull(day),
    split_from: orNull(integer),
    split_to: orNull(integer),
    /** The raw close before the ex-date. */
    reference_price: orNull(real),
    /**
     * The amounts contain the splits after the ex-date up to this day; null where they are per share as
     * traded on it.
     */
    split_adjusted_on: orNull(day),
  },
  // The kind comes last: SQLite would sort rows where a column in the middle of the order must be equal.
  key: ['country_iso_code', 'symbol', 'ex_date', 'occurrence', 'action_type'],
  group: ['country_iso_code', 'symbol'],
  // A declaration is a date without a time: what is declared on a day is known on the next.
  knownBy: ({ country_iso_code, ex_date, declaration_date }, { dayIn }) => {
    const day = dayIn('stock', country_iso_code as string);
    if ((ex_date as number) <= day) return true;
    return declaration_date !== null && (declaration_date as number) < day;
  },
  parts: [{ kind: 'symbol', of: [{ is: 'stock' }, 'country_iso_code', 'symbol'] }],
  file: {
    fields: {
      country_iso_code: countryField,
      symbol: symbolField,
      action_type: required(wordRule(actionKinds)),
      ex_date: required(dayRule),
      asset_schema: optional(
        {
          parse: (text) => (text.toLowerCase() === 'stock' ? 'stock' : undefined),
          reason: 'must be stock: others have no corporate actions here',
        },
        { flag: '--schema', ...asText(() => 'stock') },
      ),
      occurrence: optional(
        numberRule(
          (number) => number >= 1 && number <= OCCURRENCE_MAX && Number.isInteger(number),
          `must be a whole number from 1 to ${OCCURRENCE_MAX}`,
        ),
      ),
      exchange: optional(exchangeRule, { flag: '--exchange' }),
      adjustment_factor: optional(positive),
      cash_amount: optional(positive, { isOfOneKind: true }),
      currency: optional(currencyRule, { flag: '--currency' }),
      declaration_date: optional(dayRule),
      record_date: optional(dayRule),
      pay_date: optional(dayRule),
      split_from: optional(shares, { isOfOneKind: true }),
      split_to: optional(shares, { isOfOneKind: true }),
      split_ratio: optional(shareRatio, { isOfOneKind: true, isNeverWritten: true }),
      reference_price: optional(positive),
      split_adjusted_on: optional(dayRule),
    },
    time: 'ex_date',
    subject: ['country_iso_code', 'symbol'],
    names: [{ assetSchema: 'stock', symbol: 'symbol', on: ['ex_date'], exchange: 'exchange' }],
    repeated: {
      column: 'ex_date',
      reason:
        'the file has an action of this kind and day already, with other values: where both are right, add a column occurrence with 1 and 2',
    },
    deletion: {
      about: 'Delete dividends and splits of one stock.',
      rows: 'actions',
      needs: ['--country', '--symbol'],
      flags: { '--country': 'its country, such as US', '--symbol': 'the stock' },
      selectors: {
        '--action-type': {
          column: 'action_type',
          takes: 'type',
          about: 'these alone, such as dividend or split',
        },
      },
      examples: [
        '--symbol AAPL --country US --from 2020-08-31 --to 2020-08-31 --dry-run',
        '--symbol AAPL --country US --action-type split',
      ],
    },
  },
});
