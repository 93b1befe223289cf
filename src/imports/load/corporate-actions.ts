// Corporate actions: which fields each kind needs, and how several of one day are numbered (spec 2.4,
// contract 8.2, 8.10).
import { type Fraction, fractionOf, plainDecimal } from '../../base/decimal.ts';
import { formatDay } from '../../base/instant.ts';
import type { ActionKind } from '../../contract/corporate-actions.ts';
import { findMarket } from '../../market/calendar/calendar.ts';
import { namedBy } from '../../runs/naming.ts';
import {
  type Action,
  dividendFactor,
  doubledDividends,
  FACTOR_DECIMALS,
  factorText,
  NO_FACTOR,
} from '../../series/adjust/factors.ts';
import { rowsAmong } from '../../store/all-rows.ts';
import { rowKeyOf } from '../../store/journal-entries.ts';
import {
  corporateActions,
  isOfShares,
  minorUnitWords,
  OCCURRENCE_MAX,
  possibleScales,
} from '../../store/schema/corporate-actions.ts';
import type { Values } from '../../store/schema/dataset.ts';
import type { RowReader } from '../../store/store.ts';
import type { Particulars } from './particulars.ts';
import type { RowProblem } from './refused-rows.ts';

/** The fields of which each kind needs one set. */
const needed: Readonly<Record<ActionKind, readonly (readonly string[])[]>> = {
  dividend: [['cash_amount']],
  special_dividend: [['cash_amount'], ['adjustment_factor']],
  spinoff: [['cash_amount'], ['adjustment_factor']],
  split: [['split_from', 'split_to'], ['split_ratio']],
  stock_dividend: [['split_from', 'split_to'], ['split_ratio'], ['adjustment_factor']],
};

const cashFields = ['cash_amount'];
const shareFields = ['split_from', 'split_to', 'split_ratio'];

function fieldProblem(values: Values): RowProblem | null {
  const type = values.action_type as ActionKind;
  const foreign = (isOfShares(type) ? cashFields : shareFields).find((field) => values[field] !== undefined);
  if (foreign !== undefined)
    return { column: foreign, reason: `must be empty on a ${type}: a day with both has a row for each` };
  const sets = needed[type];
  const begun = sets.filter((fields) => fields.some((field) => values[field] !== undefined));
  const missing = (begun.length === 0 ? [sets[0]!] : begun)
    .flat()
    .find((field) => values[field] === undefined);
  return missing === undefined ? null : { column: missing, reason: `is missing: a ${type} needs it` };
}

/** Shares before and after, as whole numbers; null where a row gives none. */
function sharesOf({ split_from, split_to, split_ratio }: Values) {
  if (split_from !== undefined) return { from: split_from as number, to: split_to as number };
  return (split_ratio as { readonly from: number; readonly to: number } | undefined) ?? null;
}

function sharesProblem(values: Values): RowProblem | null {
  const shares = sharesOf(values);
  if (shares === null) return null;
  const { from, to } = shares;
  const { split_from, split_ratio: ratio } = values as { split_from?: number; split_ratio?: typeof shares };
  if (split_from !== undefined && ratio !== undefined && from * ratio.to !== to * ratio.from)
    return {
      column: 'split_ratio',
      reason: `is ${ratio.to} to ${ratio.from}, but split_from ${from} and split_to ${to} are not: one of the two may be left out`,
    };
  if (values.action_type === 'stock_dividend' && to < from)
    return {
      column: 'split_ratio',
      reason: `turns ${from} shares into ${to}, but a stock dividend adds shares: 5 % more is 1.05`,
    };
  return null;
}

/** True if two fractions differ by more than a number. */
function isFar(one: Fraction, other: Fraction, by: Fraction): boolean {
  const apart = one.part * other.whole - other.part * one.whole;
  return (apart < 0n ? -apart : apart) * by.whole > by.part * one.whole * other.whole;
}

/**
 * The factors that the other fields of a row make, by what it may mean by them; none where they make none. It
 * means no scale by which the cash is all of the price; where each is one, the factor is 1.
 */
function factorsOf(values: Values): Fraction[] {
  const shares = sharesOf(values);
  if (shares !== null) return [fractionOf(shares.from, shares.to)];
  const { cash_amount: cash, reference_price: price } = values as Record<string, number | undefined>;
  if (cash === undefined || price === undefined) return [];
  const country = values.country_iso_code as string;
  const byMarket = findMarket('stock', country)?.currency ?? null;
  const scales = possibleScales((values.currency as string | undefined) ?? null, country, byMarket);
  const factors = scales.map((scale) => dividendFactor(cash, price, scale)).filter((one) => one !== null);
  return factors.length === 0 && scales.length > 0 ? [NO_FACTOR] : factors;
}

/**
 * A factor that contradicts its own row. Written with few digits it may be rounded, a whole number may not
 * (contract 8.2).
 */
function factorProblem(values: Values, written: (field: string) => string): RowProblem | null {
  const { adjustment_factor: factor } = values as { adjustment_factor?: number };
  if (factor === undefined) return null;
  const computed = factorsOf(values);
  const text = written('adjustment_factor');
  const decimals = (/^[\d.]+$/.test(text) ? text : plainDecimal(factor)).split('.')[1]?.length ?? 0;
  const unit =
    decimals === 0
      ? fractionOf(0, 1)
      : { part: 1n, whole: 10n ** BigInt(Math.min(decimals, FACTOR_DECIMALS)) };
  const given = fractionOf(factor, 1);
  if (computed.length === 0 || computed.some((one) => !isFar(given, one, unit))) return null;
  const by = isOfShares(values.action_type as string)
    ? 'the shares of the row'
    : 'cash_amount and reference_price of the row';
  return {
    column: 'adjustment_factor',
    reason: `is ${text}, but ${by} make it ${factorText(computed[0]!)}: correct one of them, or leave adjustment_factor out to have it computed`,
  };
}

const problemOf: NonNullable<Particulars['problemOf']> = (values, written) =>
  fieldProblem(values) ?? sharesProblem(values) ?? factorProblem(values, written);

function findingOf(action: Values): string[] {
  const { cash_amount: cash, reference_price: price, adjustment_factor: factor, currency } = action;
  const isKnown = cash !== undefined && price !== undefined && factor === undefined;
  const minor = typeof currency === 'string' ? minorUnitWords(currency) : null;
  return [
    ...(isKnown && factorsOf(action)[0] === NO_FACTOR
      ? ['dividends no smaller than the price before them, which adjust nothing']
      : []),
    ...((action.occurrence as number) > 1
      ? ['actions beside another one of the same stock, kind and day']
      : []),
    ...(minor === null ? [] : [minor]),
  ];
}

/**
 * Several dividends of one day are numbered by their order in the file; a second split is more likely a
 * mistake.
 */
function followingOf(values: Values, place: number): Values | null {
  const isGiven = values.occurrence !== undefined;
  if (isGiven || isOfShares(values.action_type as string) || place > OCCURRENCE_MAX) return null;
  return { ...values, occurrence: place };
}

/** Doubled dividends that a report names. */
const NAMED_MAX = 3;

const STOCKS_PER_READ = 64;

/** A stock of a file, with the keys of its actions there. */
type OfStock = { readonly country_iso_code: string; readonly symbol: string; readonly keys: Set<string> };

/** Dividends of a file that are stored beside one with another ex-date: words, and how many. */
async function doubled(
  stocks: Iterable<OfStock>,
  reader: RowReader,
): Promise<Readonly<Record<string, number>>> {
  const found: string[] = [];
  for (const [country_iso_code, some] of Map.groupBy(stocks, (stock) => stock.country_iso_code))
    for (let at = 0; at < some.length; at += STOCKS_PER_READ) {
      const these = some.slice(at, at + STOCKS_PER_READ);
      const symbols = these.map(({ symbol }) => symbol);
      const rows = await rowsAmong(reader, corporateActions, { country_iso_code }, 'symbol', symbols);
      rows.sort((one, other) => one.ex_date - other.ex_date || one.occurrence - other.occurrence);
      const actions = Map.groupBy(rows, ({ symbol }) => symbol);
      for (const { symbol, keys } of these)
        for (const pair of doubledDividends(actions.get(symbol) ?? []))
          if (pair.some((one) => keys.has(rowKeyOf(corporateActions, one))))
            found.push(
              `${country_iso_code}:${symbol} ${pair.map(({ ex_date }) => formatDay(ex_date)).join(' and ')}`,
            );
    }
  if (found.length === 0) return {};
  const more = found.length > NAMED_MAX ? ', …' : '';
  const named = found.slice(0, NAMED_MAX).join(', ');
  const words = `dividends that may be stored twice, because a corrected ex-date left the old one (doubled_dividend; ${named}${more}): delete the wrong ones with bourse delete corporate-actions`;
  return { [words]: found.length };
}

function complete(given: Values): Values {
  const { split_ratio: _, ...values } = given;
  if (!isOfShares(values.action_type as string)) return { occurrence: 1, ...values };
  const shares = sharesOf(given);
  // Vendors fill the currency in every row.
  return { occurrence: 1, ...values, split_from: shares?.from, split_to: shares?.to, currency: null };
}

/**
 * The rules for the actions of one file. On `splitAdjustedOn` its amounts contained the splits until then;
 * null where they are per share as traded. Amounts that a row has already are as old as they were when it
 * first had them.
 */
export function actionsOfFile(splitAdjustedOn: number | null): Particulars {
  const stocks = new Map<string, OfStock>();
  return {
    problemOf,
    followingOf,
    complete,
    findingOf(action) {
      const { country_iso_code, symbol } = action as Action;
      const name = `${country_iso_code}:${symbol}`;
      const stock = stocks.get(name) ?? { country_iso_code, symbol, keys: new Set() };
      stocks.set(name, stock);
      stock.keys.add(rowKeyOf(corporateActions, action));
      return findingOf(action);
    },
    findingsAfter: (reader) => doubled(stocks.values(), reader),
    ...(splitAdjustedOn !== null && {
      async rowOf(values, known, { named }) {
        const row = complete({ split_adjusted_on: splitAdjustedOn, ...values });
        for (const { name, exchange } of namedBy(corporateActions, row)) await named.of(name, {}, exchange);
        const isSame = Object.keys(corporateActions.columns).every(
          (column) => column === 'split_adjusted_on' || (row[column] ?? null) === known?.[column],
        );
        return isSame ? { ...row, split_adjusted_on: known!.split_adjusted_on ?? splitAdjustedOn } : row;
      },
    }),
  };
}
