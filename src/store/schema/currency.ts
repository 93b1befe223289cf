// Currencies of prices and cash, and the minor units in which some markets quote (contract 8.2).
import { parsedBy } from './field.ts';

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
