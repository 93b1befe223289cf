// Corporate actions: the dividends and splits of one stock (spec 4.3, contract 8.2).
import { factorText } from '../bars/adjust.ts';
import { END_DAY, formatDay } from '../base/instant.ts';
import type { corporateActions as endpoint } from '../contract/corporate-actions.ts';
import type { CountrySymbol } from '../contract/identifiers.ts';
import { corporateActions } from '../datasets/corporate-actions.ts';
import { RawCloses } from '../series/closes.ts';
import { type Action, factorOf, referencePrice } from '../series/factors.ts';
import { answerPage, takeRows } from './dataset-page.ts';
import { asDeclared, isAhead, knownActions } from './known-actions.ts';
import { instrumentOrNull, isNobodys, shownSymbol, unknownSymbol } from './known-instrument.ts';
import type { DayRange, Found } from './lookup.ts';
import type { Query, QueryContext } from './query.ts';
import { dayBounds } from './range.ts';
import type { WireRecord } from './render/records.ts';
import { tellingHistory } from './symbol-history.ts';

/** The stock of a name; null where only corporate actions have the name. @throws Refusal `unknown_instrument` where nothing has it */
async function stockOf(context: QueryContext, named: CountrySymbol, days: DayRange): Promise<Found | null> {
  const found = await instrumentOrNull(context, 'stock', named, days);
  if (found !== null) return found;
  const where = { country_iso_code: named.country, symbol: named.symbol };
  const read = { where, order: [['ex_date', 'asc'] as const], limit: 1 };
  const isFree = await isNobodys(context, 'stock', named);
  const { rows } = isFree ? await takeRows(context, read, corporateActions, knownActions(context)) : none;
  if (rows.length === 0) throw await unknownSymbol(context, 'stock', named);
  return null;
}

const none = { rows: [] };

const dayOrNull = (day: number | null): string | null => (day === null ? null : formatDay(day));

/** An action on the wire; of one that is still to come nobody knows the close before it. */
async function recordOf(
  { asOf }: QueryContext,
  stored: Action,
  symbol: string,
  stock: Found | null,
  closes: RawCloses | null,
): Promise<WireRecord> {
  const isComing = asOf !== null && isAhead(asOf, stored);
  const action = isComing ? asDeclared(stored) : stored;
  const price = isComing ? null : await referencePrice(action, closes);
  return {
    ...action,
    symbol,
    asset_schema: 'STOCK',
    exchange: action.exchange ?? stock?.instrument.exchange ?? null,
    ex_date: formatDay(action.ex_date),
    ex_date__1: formatDay(action.ex_date),
    adjustment_factor: factorText(factorOf(action, price)),
    declaration_date: dayOrNull(action.declaration_date),
    record_date: dayOrNull(action.record_date),
    pay_date: dayOrNull(action.pay_date),
    reference_price: price,
  };
}

/** `GET …/stock/stock_corporate_action/list/{country_symbol}` */
export const answerCorporateActions: Query<typeof endpoint> = async (parameters, context) => {
  const { country_symbol: named, from_date: from, to_date: to, action_type: type } = parameters;
  const range = dayBounds(from, to);
  const days = { from, to: to ?? END_DAY };
  const stock = await stockOf(context, named, days);
  const closes = stock === null ? null : new RawCloses(context.reader, stock, context.request.nowMs);
  const { country_iso_code, symbol } = stock?.instrument ?? {
    country_iso_code: named.country,
    symbol: named.symbol,
  };
  const shown = stock === null ? symbol : shownSymbol(context, stock.instrument);
  const holds = knownActions(context);
  const answer = await answerPage(context, {
    endpoint: 'corporateActions',
    parameters,
    understood: { country_symbol: `${country_iso_code}|${symbol}` },
    dataset: corporateActions,
    where: { country_iso_code, symbol, ...(type !== undefined && { action_type: type }) },
    range,
    order: ['ex_date', 'occurrence', 'action_type'],
    direction: parameters.sort,
    ...(holds && { holds }),
    recordOf: (action) => recordOf(context, action, shown, stock, closes),
  });
  return tellingHistory(context, { assetSchema: 'stock', ...named, days }, shown, answer);
};
