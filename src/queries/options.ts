// Options: the search for contracts in or out of the money (spec 4.6) and the coming expirations (spec 4.7).
import { formatDay, formatInstant } from '../base/instant.ts';
import type { ParametersOf } from '../contract/endpoint.ts';
import { Refusal } from '../contract/errors.ts';
import { optionExpirations, optionSearch } from '../contract/options.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { optionContracts } from '../datasets/options.ts';
import { latestPrice } from '../series/latest-price.ts';
import { DamagedData, keyWords } from '../store/damage.ts';
import type { RankedRead, Reader } from '../store/store.ts';
import { contractsOf, type Expiration } from './expirations.ts';
import { knownExpirations, listedContracts } from './known-contracts.ts';
import { instrumentOf, shownSymbol } from './known-instrument.ts';
import { priceCheck } from './known-prices.ts';
import type { Found } from './lookup.ts';
import { contractRecords } from './option-contract.ts';
import { orderOf, ranksOf } from './option-order.ts';
import type { Place } from './page-key.ts';
import { openWalk } from './page-walk.ts';
import { goodUntil, type Query, type QueryContext } from './query.ts';
import { renderGrouped } from './render/grouped.ts';
import { renderRecords } from './render/records.ts';
import { renderResult } from './render/result.ts';

type Parameters = ParametersOf<typeof optionSearch>;
type Row = RowOf<typeof optionContracts>;

/** The walk over the pages of a search. */
function walkOf(context: QueryContext, { instrument }: Found, parameters: Parameters) {
  const { sort_by: sortBy } = parameters;
  return openWalk(context, 'optionSearch', parameters, {
    schema_asset: instrument.asset_schema,
    country_symbol: `${instrument.country_iso_code}|${instrument.symbol}`,
    sort_by: sortBy && optionSearch.parameters.sort_by.print(sortBy),
  });
}

/** Refuses a reference price that the underlying cannot have: only futures trade at zero and below. @throws Refusal */
function checkPrice({ ref_asset_price: given, schema_asset: schema }: Parameters): void {
  if (given === undefined || given > 0 || schema === 'future') return;
  throw new Refusal('invalid_parameter', {
    message: `ref_asset_price must be above 0 for a ${schema}: only the price of a future can be zero or negative.`,
    param: 'ref_asset_price',
    got: String(given),
    allowed: 'a number above 0',
  });
}

/** The latest price of an underlying at the moment of the request; null where it has none. */
async function knownPrice({ reader, request, asOf }: QueryContext, found: Found): Promise<number | null> {
  const onUse = asOf === null ? null : await priceCheck({ reader }, asOf, found);
  return latestPrice(reader, found, request.nowMs, onUse);
}

/** The price to compare strikes with. @throws Refusal `no_data` where there is none */
async function priceOf(context: QueryContext, found: Found, parameters: Parameters): Promise<number> {
  const { ref_asset_price: given, country_symbol: named } = parameters;
  const price = given ?? (await knownPrice(context, found));
  if (price !== null) return price;
  throw new Refusal('no_data', {
    message: `ref_asset_price is needed: this service has no price of ${named.country}:${named.symbol} to compare strikes with.`,
    param: 'ref_asset_price',
    hint: 'Send the price of the underlying as ref_asset_price, or import its bars.',
  });
}

/** The rows of contracts in the order in which an index has them. @throws DamagedData where a row is not what the index says */
async function rowsOf(
  reader: Reader,
  { where, order, groups }: ContractsRead,
  ranked: readonly (readonly (string | number)[])[],
): Promise<Row[]> {
  // Every order ends in the symbol.
  const symbols = ranked.map((values) => values.at(-1) as string);
  const country = where.country_iso_code!;
  const found = await reader.among(optionContracts, { country_iso_code: country }, 'symbol', symbols);
  const rows = new Map(found.map((row) => [row.symbol, row]));
  const ranks = new Map(groups.map(({ at, rank }) => [at.join(), rank]));
  return ranked.map((values, index) => {
    const symbol = symbols[index]!;
    const row = rows.get(symbol);
    if (row !== undefined) {
      const rank = ranks.get([row.expiration_date, row.expiration_datetime].join());
      const known: Readonly<Record<string, unknown>> = { ...row, rank };
      const isInOrder = order.every(([column], at) => known[column] === values[at]);
      const isAsked = Object.entries(where).every(([column, value]) => known[column] === value);
      if (isInOrder && isAsked && rank !== undefined) return row;
    }
    const place = keyWords(optionContracts, { country_iso_code: country, symbol });
    throw new DamagedData({
      dataset: optionContracts.name,
      place,
      problem: 'an index has it under another key',
    });
  });
}

type ContractsRead = RankedRead<typeof optionContracts>;

/** The read of one page's contracts, and of the next contract where one follows. */
function readOf(
  found: Found,
  parameters: Parameters,
  expirations: readonly Expiration[],
  moment: { readonly nowMs: number; readonly price: number },
  after: Place['position'] | null,
): ContractsRead {
  const { option_type, strike_price: strike, expiration_date: day, sort_by = [], sort, limit } = parameters;
  // The side of the price on which the requested strikes are (spec 4.6, rules 1 and 2).
  const side = (option_type === 'call') === (parameters.moneyness === 'in_the_money') ? 'below' : 'above';
  const asked = day === undefined ? expirations : expirations.filter((one) => one.day === day);
  return {
    where: { ...contractsOf(found, option_type), ...(strike !== undefined && { strike_price: strike }) },
    groupBy: ['expiration_date', 'expiration_datetime'],
    groups: ranksOf(asked, sort_by, moment.nowMs),
    between: { column: 'strike_price', [side]: moment.price },
    order: orderOf(sort_by, side, sort),
    ...(after && { after }),
    limit: limit + 1,
  };
}

/** The contracts of a page as the request sees them, and the place of the last one where more follow. */
async function pageOf(context: QueryContext, found: Found, read: ContractsRead, limit: number) {
  const { reader, asOf } = context;
  const placeAt = (places: readonly Place['position'][]): Place['position'] | null =>
    places.length <= limit ? null : places[limit - 1]!;
  if (asOf === null) {
    const sorted = await reader.ranked(optionContracts, read);
    return { rows: await rowsOf(reader, read, sorted.slice(0, limit)), position: placeAt(sorted) };
  }
  asOf.limits.add('status of contracts');
  const rowsAt = (places: readonly Place['position'][]) => rowsOf(reader, read, places);
  const { places, rows } = await listedContracts(context, asOf, found, read, rowsAt);
  const underlying_name = shownSymbol(context, found.instrument);
  const shown = rows.slice(0, limit).map((row) => ({ ...row, underlying_name }));
  return { rows: shown, position: placeAt(places) };
}

/** `GET …/option/search/…` */
export const answerOptionSearch: Query<typeof optionSearch> = async (parameters, context) => {
  const { request } = context;
  const { schema_asset, country_symbol, limit } = parameters;
  checkPrice(parameters);
  const found = await instrumentOf(context, schema_asset, country_symbol);
  const { place, paging } = walkOf(context, found, parameters);
  const [nowMs, price] = (place?.pinned ?? [request.nowMs, await priceOf(context, found, parameters)]) as [
    number,
    number,
  ];
  const { value: expirations } = await knownExpirations(context, found);
  const after = place?.position ?? null;
  const read = readOf(found, parameters, expirations, { nowMs, price }, after);
  const { rows, position } = await pageOf(context, found, read, limit);
  const end = position === null ? null : { position, pinned: [nowMs, price] };
  const contracts = contractRecords(rows, found, expirations, request.nowMs);
  if (parameters.format !== 'csv') return renderGrouped(contracts, paging(end), context.allocate);
  const records = contracts.map(({ record }) => record);
  return renderRecords(context, optionSearch, records, 'csv', paging(end));
};

/** `GET …/option/expiration_date_list/…` */
export const answerOptionExpirations: Query<typeof optionExpirations> = async (parameters, context) => {
  const { request, allocate } = context;
  const found = await instrumentOf(context, parameters.schema_asset, parameters.country_symbol);
  const { value: expirations, isCached } = await knownExpirations(context, found);
  // Contracts of one date can have the same instant, some from a file and others from the calendar.
  const coming = new Map<string, { expiration_date: string; expiration_datetime: string }>();
  const ahead = expirations.filter(({ expiresMs }) => expiresMs >= request.nowMs);
  for (const { day, expiresMs } of ahead) {
    const record = { expiration_date: formatDay(day), expiration_datetime: formatInstant(expiresMs) };
    coming.set(Object.values(record).join(), record);
  }
  const records = [...coming.values()];
  if (parameters.sort === 'desc') records.reverse();
  const answer =
    parameters.format === 'csv'
      ? renderRecords(context, optionExpirations, records, 'csv', null)
      : renderResult(records, allocate, isCached ? 'cached' : null);
  return isCached
    ? goodUntil(answer, ahead[0] === undefined ? Number.POSITIVE_INFINITY : ahead[0].expiresMs + 1)
    : answer;
};
