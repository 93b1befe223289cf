// Dividends, splits and other corporate actions of stocks. A factor that no file gives is calculated when it
// is read (contract 8.2).
import { type Fraction, fractionOf, numberOf, plainDecimal, simplestWithin } from '../../base/decimal.ts';
import { actionKinds } from '../../contract/corporate-actions.ts';
import {
  asText,
  countryField,
  dataset,
  dayRule,
  exchangeRule,
  type FieldRule,
  numberRule,
  optional,
  parsedBy,
  required,
  symbolField,
  wordRule,
} from './dataset.ts';

/**
 * Minor units: each is a hundredth of a currency. Case counts only where it tells pence (GBp) from pounds
 * (GBP).
 */
const minorUnits: Readonly<Record<string, string>> = {
  GBp: 'GBP',
  GBX: 'GBP',
  ZAc: 'ZAR',
  ZAC: 'ZAR',
  ILA: 'ILS',
};

/** The countries whose stock markets quote in them. */
const minorMarkets: ReadonlySet<string> = new Set(['UK', 'ZA', 'IL']);

/**
 * A code as it is stored: in capitals, but for the minor units that are known by their case. Null for what is
 * none.
 */
const parseCurrency = (text: string): string | null => {
  if (!/^[A-Z]{3}$/i.test(text)) return null;
  return Object.hasOwn(minorUnits, text) ? text : text.toUpperCase();
};

export const currencyRule = parsedBy(
  parseCurrency,
  'must be a currency code of three letters, such as USD, or GBp for pence',
);

/** An amount's unit: the currency, and how many units make one of it. */
type Unit = { readonly currency: string; readonly parts: number };

/** The unit of a code as files write it. */
export function unitOf(code: string): Unit {
  const currency = minorUnits[code.trim()] ?? minorUnits[code.trim().toUpperCase()];
  return currency === undefined
    ? { currency: code.trim().toUpperCase(), parts: 1 }
    : { currency, parts: 100 };
}

/** The reason why cash and price cannot be compared: their currencies differ, or no file gave the price's. */
export type Incomparable = 'differs' | 'unproven';

/**
 * The currency of a stock's prices: the one that a file gave, and the market's default; null if there is
 * none.
 */
type Quoted = {
  readonly country: string;
  readonly given: string | null;
  readonly byMarket: string | null;
};

/**
 * By what an amount of cash is multiplied, so that it is in the unit of the prices. Cash without a currency
 * is in theirs. A default proves nothing where the market quotes in a minor unit.
 */
export function cashScale(cash: string | null, { country, given, byMarket }: Quoted): number | Incomparable {
  if (given === null && minorMarkets.has(country)) return 'unproven';
  const quoted = given ?? byMarket;
  if (cash === null || quoted === null || cash === quoted) return 1;
  const [of, to] = [unitOf(cash), unitOf(quoted)];
  return of.currency === to.currency ? to.parts / of.parts : 'differs';
}

const HUNDREDTHS = [1, 100, 0.01];

/**
 * As `cashScale`, of a row of a file alone: what it may be, whatever the stock's prices are quoted in; none
 * where cash and price cannot be compared.
 */
export function possibleScales(
  cash: string | null,
  country: string,
  byMarket: string | null,
): readonly number[] {
  if (cash === null) return minorMarkets.has(country) ? HUNDREDTHS : [1];
  const { currency } = unitOf(cash);
  if (Object.values(minorUnits).includes(currency)) return HUNDREDTHS;
  return byMarket === null || byMarket === currency ? [1] : [];
}

/** The words of a report about cash in a minor unit, before a count. Null for other currencies. */
export function minorUnitWords(cash: string): string | null {
  const { currency, parts } = unitOf(cash);
  return parts === 1 ? null : `cash in ${cash}, a hundredth of ${currency}`;
}

const positive = numberRule((number) => number > 0, 'must be a positive number');

const shares = numberRule(
  (number) => number > 0 && Number.isSafeInteger(number),
  'must be a whole number of shares: 1 to 1.05 is 100 to 105',
);

/** New shares and old ones: `4:1`, `4/1`, `4-for-1`. */
const RATIO = /^(\d+(?:\.\d+)?) ?(?::|\/|-?for-?) ?(\d+(?:\.\d+)?)$/i;

/** A decimal of so many decimals may be a rounded fraction of small numbers: 0.3333 is 1/3, 0.05 is 1/20. */
const ROUNDED_DECIMALS = 4;

const SMALL_NUMBER = 50;

/** The fraction that a positive decimal is, or the one of small numbers that it is rounded from. */
function fractionNear(value: number): Fraction {
  const decimals = plainDecimal(value).split('.')[1]?.length ?? 0;
  const half = 0.5 * 10 ** -decimals;
  if (decimals >= ROUNDED_DECIMALS && value > half) {
    const [part, whole] = simplestWithin(value - half, value + half);
    if (part <= SMALL_NUMBER && whole <= SMALL_NUMBER) return { part: BigInt(part), whole: BigInt(whole) };
  }
  return lowestTerms(fractionOf(value, 1));
}

/** The same fraction of the smallest whole numbers. */
function lowestTerms({ part, whole }: Fraction): Fraction {
  let [divisor, rest] = [part, whole];
  while (rest > 0n) [divisor, rest] = [rest, divisor % rest];
  return { part: part / divisor, whole: whole / divisor };
}

/**
 * New shares for each old one, as whole numbers of shares: the fraction that the number is, or is rounded
 * from.
 */
const shareRatio: FieldRule = {
  parse(text) {
    const [, ...both] = RATIO.exec(text) ?? [];
    const [ratio = numberOf(text), old] = both.map(Number);
    if (ratio === null || !Number.isFinite(ratio) || ratio <= 0 || old === 0) return undefined;
    const { part, whole } = old === undefined ? fractionNear(ratio) : lowestTerms(fractionOf(ratio, old));
    const [to, from] = [Number(part), Number(whole)];
    return Number.isSafeInteger(to) && Number.isSafeInteger(from) ? { from, to } : undefined;
  },
  reason:
    'must be the new shares for each old one, a positive number such as 4 or 0.05, or both: 4:1, 4-for-1',
};

/** A date that adjusts nothing. */
const otherDay: FieldRule = { ...dayRule, oddIsMissing: true };

/** True if a kind of action gives or takes shares. The others take cash, or its worth, from the price. */
export const isOfShares = (type: string): boolean => type === 'split' || type === 'stock_dividend';

/** The most actions of one kind of a stock in a day. */
export const OCCURRENCE_MAX = 99;

export const corporateActions = dataset({
  name: 'corporate_actions',
  columns: {
    country_iso_code: 'text',
    symbol: 'text',
    ex_date: 'day',
    /** One of `actionKinds`. */
    action_type: 'text',
    /** Its number among the actions of its kind and day, from 1 (docs/decisions/0018). */
    occurrence: 'integer',
    exchange: 'text null',
    adjustment_factor: 'real null',
    cash_amount: 'real null',
    currency: 'text null',
    declaration_date: 'day null',
    record_date: 'day null',
    pay_date: 'day null',
    split_from: 'integer null',
    split_to: 'integer null',
    /** The raw close before the ex-date. */
    reference_price: 'real null',
    /**
     * The amounts contain the splits after the ex-date up to this day; null where they are per share as
     * traded on it.
     */
    split_adjusted_on: 'day null',
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
      action_type: required(wordRule(actionKinds), { flag: '--action-type' }),
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
      declaration_date: optional(otherDay),
      record_date: optional(otherDay),
      pay_date: optional(otherDay),
      split_from: optional(shares, { isOfOneKind: true }),
      split_to: optional(shares, { isOfOneKind: true }),
      split_ratio: optional(shareRatio, { isOfOneKind: true, isNeverWritten: true }),
      reference_price: optional({ ...positive, oddIsMissing: true }),
      split_adjusted_on: optional(dayRule),
    },
    time: 'ex_date',
    subject: ['country_iso_code', 'symbol'],
    names: [{ assetSchema: 'stock', symbol: 'symbol', on: ['ex_date'], exchange: 'exchange' }],
    repeated: {
      column: 'ex_date',
      reason:
        'the file has an action of this kind and day already, with other values: if both are right, add a column occurrence with 1 and 2',
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
          about: 'only this kind, such as dividend or split',
        },
      },
      examples: [
        '--symbol AAPL --country US --from 2020-08-31 --to 2020-08-31 --dry-run',
        '--symbol AAPL --country US --action-type split',
      ],
    },
  },
});
