// Options: the record of a contract (spec 2.6, contract 8.4), the search for contracts in or out of the money
// (spec 4.6) and the coming expirations (spec 4.7).
import { formatDay, formatInstant, formatInstantZ } from '../base/instant.ts';
import { fieldsOf, type ParametersOf } from '../contract/endpoint.ts';
import { Refusal } from '../contract/errors.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import {
  optionContractRecord,
  type optionExpirations,
  optionSearch,
  quoteFields,
} from '../contract/options.ts';
import { findMarket } from '../market/calendar/calendar.ts';
import { minutesOf, tradingHours } from '../market/calendar/session.ts';
import { latestPrice } from '../series/closes.ts';
import { rowsAmong } from '../store/all-rows.ts';
import { DamagedData, keyWords } from '../store/damage.ts';
import { always, isKnown, type Values } from '../store/schema/dataset.ts';
import { optionContracts, optionQuotes } from '../store/schema/options.ts';
import type { RankedRead, Reader } from '../store/store.ts';
import {
  adjustedContracts,
  type Contract,
  contractsOf,
  type Expiration,
  expirationFinder,
  groupsOf,
  isWithin,
  knownExpirations,
  optionTypes,
  orderOf,
  rankedContracts,
  seeing,
  seenContracts,
  seenExpirations,
} from './expirations.ts';
import { instrumentOf, shownSymbol } from './known-instrument.ts';
import { priceCheck } from './known-prices.ts';
import type { Found } from './lookup.ts';
import type { Place } from './pages/page-key.ts';
import { openWalk } from './pages/page-walk.ts';
import {
  type Allocate,
  type Answer,
  barsCounted,
  goodUntil,
  type Paging,
  type Query,
  type QueryContext,
} from './query.ts';
import { renderEnvelope, renderResult, writePaging } from './render/list.ts';
import { renderRecords, type WireRecord, writeJsonRecords } from './render/records.ts';

/** One contract of a search: its record, and the instant that it is grouped by. */
type GroupedContract = { readonly expiresMs: number; readonly record: WireRecord };

/** Fields of the underlying's market, for rows that lack them. */
function defaultsOf({ instrument, calendar }: Found, nowMs: number): WireRecord {
  const { asset_schema: assetSchema, country_iso_code: country, calendar_key: key } = instrument;
  const market = findMarket(assetSchema as AssetSchema, country, key);
  return {
    exchange: market?.exchange ?? null,
    calendar_key: market?.key ?? null,
    session_template: market?.sessionTemplate ?? null,
    daily_minute_count:
      market === null ? null : minutesOf(tradingHours(market, calendar.zone.dayAt(nowMs)).regular),
    is_indices: false,
  };
}

/** The fields of a search, and those of one without quotes (contract 9.22). */
const allFields = fieldsOf(optionContractRecord);
const withoutQuotes = allFields.filter((field) => !quoteFields.includes(field));

const noQuote: WireRecord = Object.fromEntries(quoteFields.map((field) => [field, null]));

/** The quotes of contracts, by symbol, as far as they were known at the moment of the request. */
async function quotesOf({ reader, moment }: QueryContext, rows: readonly Contract[]) {
  const quotes = new Map<string, WireRecord>();
  const [first] = rows;
  if (first === undefined) return quotes;
  const symbols = rows.map(({ symbol }) => symbol);
  const country = { country_iso_code: first.country_iso_code };
  for (const row of await rowsAmong(reader, optionQuotes, country, 'symbol', symbols)) {
    if (!isKnown(optionQuotes, row, moment)) continue;
    const { quote_datetime: at } = row;
    quotes.set(row.symbol, { ...row, quote_datetime: at === null ? null : formatInstant(at) });
  }
  return quotes;
}

/** The contracts of an underlying; `expirations` holds those of all rows. */
function contractRecords(
  rows: readonly Contract[],
  underlying: Found,
  expirations: readonly Expiration[],
  nowMs: number,
): GroupedContract[] {
  const defaults = Object.entries(defaultsOf(underlying, nowMs));
  const expirationOf = expirationFinder(expirations);
  return rows.map((row) => {
    const { expiresMs } = expirationOf(row)!;
    const record: Record<string, unknown> = {
      ...row,
      parent_schema_instrument_id: `${row.parent_asset_schema}_${underlying.instrument.instrument_id}`,
      expiration_date: formatDay(row.expiration_date),
      expiration_datetime: formatInstant(expiresMs),
    };
    for (const [field, value] of defaults) record[field] ??= value;
    return { expiresMs, record };
  });
}

/** Renders one page of contracts. */
function renderGrouped(
  contracts: readonly GroupedContract[],
  fields: readonly string[],
  paging: Paging,
  allocate: Allocate,
): Answer {
  const groups = Map.groupBy(contracts, ({ expiresMs }) => formatInstantZ(expiresMs));
  return renderEnvelope(paging, allocate, (to) => {
    to.text(`{"count":${contracts.length},`);
    const at = writePaging(to, paging);
    to.text(`"expiration_datetimes":${JSON.stringify([...groups.keys()])},"data":{`);
    let separator = '';
    for (const [expiration, members] of groups) {
      const records = members.map(({ record }) => record);
      to.text(`${separator}"${expiration}":[`);
      writeJsonRecords(to, optionContractRecord, records, fields);
      to.text(']');
      separator = ',';
    }
    to.text('}}');
    return at;
  });
}

type Parameters = ParametersOf<typeof optionSearch>;

/** The walk over the pages of a search. */
function walkOf(context: QueryContext, { instrument }: Found, parameters: Parameters) {
  const { sort_by: sortBy } = parameters;
  return openWalk(context, parameters, {
    schema_asset: instrument.asset_schema,
    country_symbol: `${instrument.country_iso_code}|${instrument.symbol}`,
    sort_by: sortBy && optionSearch.parameters.sort_by.print(sortBy),
  });
}

/**
 * Refuses a reference price that the underlying cannot have: only futures trade at zero and below. @throws
 * Refusal
 */
function checkPrice({ ref_asset_price: given, schema_asset: schema }: Parameters): void {
  if (given === undefined || given > 0 || schema === 'future') return;
  throw new Refusal('invalid_parameter', {
    message: `ref_asset_price must be above 0 for a ${schema}: only the price of a future can be zero or negative.`,
    param: 'ref_asset_price',
    got: String(given),
    allowed: 'a number above 0',
  });
}

/** Refuses a range whose end is before its start. @throws Refusal */
function checkRanges(parameters: Parameters): void {
  const { strike_from: low, strike_to: high, expiration_from: from, expiration_to: to } = parameters;
  if (low !== undefined && high !== undefined && low > high)
    throw new Refusal('invalid_parameter', {
      message: `strike_from is above strike_to: ${low} is more than ${high}.`,
      param: 'strike_from',
      got: String(low),
    });
  if (from !== undefined && to !== undefined && from > to)
    throw new Refusal('invalid_parameter', {
      message: `expiration_from is after expiration_to: ${formatDay(from)} is later than ${formatDay(to)}.`,
      param: 'expiration_from',
      got: formatDay(from),
    });
}

/** The latest price of an underlying at the moment of the request; null where it has none. */
async function knownPrice(context: QueryContext, found: Found): Promise<number | null> {
  const { reader, request } = context;
  const onUse = await priceCheck(context, found);
  return latestPrice(reader, found, request.nowMs, { onUse, onSkipped: barsCounted(context) });
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

type ContractsRead = RankedRead<typeof optionContracts>;

/**
 * Finds the rank that a read gives to a contract, as far as its groups and `where` go; undefined where it
 * does not give it.
 */
function rankFinder({ where, groups }: ContractsRead) {
  const places = Map.groupBy(groups, ({ at }) => at.join());
  return (row: Contract): number | undefined => {
    const known: Values = row;
    if (Object.entries(where).some(([column, value]) => known[column] !== value)) return undefined;
    return places
      .get([row.expiration_date, row.expiration_datetime].join())
      ?.find(({ from, below }) => from === undefined || isWithin(row.symbol, { from, below: below! }))?.rank;
  };
}

/**
 * The rows of contracts in the order in which an index has them. @throws DamagedData where a row is not what
 * the index says
 */
async function rowsOf(
  reader: Reader,
  reads: readonly ContractsRead[],
  ranked: readonly (readonly (string | number)[])[],
): Promise<Contract[]> {
  // Every order ends in the symbol.
  const symbols = ranked.map((values) => values.at(-1) as string);
  const [{ where, order }] = reads as [ContractsRead];
  const country = where.country_iso_code!;
  const found = await rowsAmong(reader, optionContracts, { country_iso_code: country }, 'symbol', symbols);
  const rows = new Map(found.map((row) => [row.symbol, row]));
  const finders = reads.map(rankFinder);
  const rankOf = (row: Contract): number | undefined =>
    finders.map((find) => find(row)).find((rank) => rank !== undefined);
  return ranked.map((values, index) => {
    const symbol = symbols[index]!;
    const row = rows.get(symbol);
    if (row !== undefined) {
      const rank = rankOf(row);
      const known: Values = { ...row, rank };
      const isInOrder = order.every(([column], at) => known[column] === values[at]);
      if (isInOrder && rank !== undefined) return row;
    }
    throw new DamagedData({
      dataset: optionContracts.name,
      place: keyWords(optionContracts, { country_iso_code: country, symbol }),
      problem: 'an index has it under another key',
    });
  });
}

/** The doubles next to a number, below and above it: the bounds of a read are excluded. */
function neighbour(value: number, isAbove: boolean): number {
  if (value === 0) return isAbove ? Number.MIN_VALUE : -Number.MIN_VALUE;
  const double = new DataView(new ArrayBuffer(8));
  double.setFloat64(0, value);
  double.setBigInt64(0, double.getBigInt64(0) + (value > 0 === isAbove ? 1n : -1n));
  return double.getFloat64(0);
}

/** The side of the price on which the requested strikes are (spec 4.6, rules 1 and 2). */
function sideOf(optionType: 'call' | 'put', moneyness: Parameters['moneyness']): 'below' | 'above' | 'any' {
  if (moneyness === 'any') return 'any';
  return (optionType === 'call') === (moneyness === 'in_the_money') ? 'below' : 'above';
}

/** The bounds of the strikes of one type; empty without any. */
function betweenOf(
  { strike_from: from, strike_to: to }: Parameters,
  side: ReturnType<typeof sideOf>,
  price: number | null,
): Pick<ContractsRead, 'between'> {
  const above = [
    ...(side === 'above' ? [price!] : []),
    ...(from === undefined ? [] : [neighbour(from, false)]),
  ];
  const below = [...(side === 'below' ? [price!] : []), ...(to === undefined ? [] : [neighbour(to, true)])];
  if (above.length + below.length === 0) return {};
  return {
    between: {
      column: 'strike_price',
      ...(above.length > 0 && { above: Math.max(...above) }),
      ...(below.length > 0 && { below: Math.min(...below) }),
    },
  };
}

/** The reads of one page's contracts, and of the next contract where one follows: one for each type. */
function readsOf(
  found: Found,
  parameters: Parameters,
  expirations: readonly Expiration[],
  moment: { readonly nowMs: number; readonly price: number | null },
  after: Place['position'] | null,
): ContractsRead[] {
  const { option_type, strike_price: strike, moneyness, sort_by = [], sort, limit } = parameters;
  const { expiration_date: day, expiration_from: first, expiration_to: last } = parameters;
  const isIn = (one: number): boolean =>
    (day ?? one) === one && (first ?? one) <= one && one <= (last ?? one);
  const isAsked = ({ day: own, expiresMs }: Expiration): boolean =>
    isIn(own) || isIn(found.calendar.zone.dayAt(expiresMs));
  const types = option_type === 'any' ? optionTypes : [option_type];
  return types.map((type) => {
    const side = sideOf(type, moneyness);
    return {
      where: { ...contractsOf(found, type), ...(strike !== undefined && { strike_price: strike }) },
      ...groupsOf(expirations.filter(isAsked), sort_by, moment.nowMs),
      ...betweenOf(parameters, side, moment.price),
      order: orderOf(sort_by, types.length > 1 ? 'any' : side, sort, types.length > 1),
      ...(after && { after }),
      limit: limit + 1,
    };
  });
}

/** The number of some contracts that reads match, on all their pages. */
function countOf(reads: readonly ContractsRead[], contracts: readonly Contract[]): number {
  const counts = reads.map((read) => {
    const rankOf = rankFinder(read);
    const { above = Number.NEGATIVE_INFINITY, below = Number.POSITIVE_INFINITY } = read.between ?? {};
    const isBetween = ({ strike_price: strike }: Contract): boolean => above < strike && strike < below;
    return contracts.filter((one) => isBetween(one) && rankOf(one) !== undefined).length;
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * The contracts of a page as the request sees them, without `hidden` ones, and the place of the last one
 * where more follow.
 */
async function pageOf(
  context: QueryContext,
  found: Found,
  reads: readonly ContractsRead[],
  { limit, hidden }: { readonly limit: number; readonly hidden: readonly Contract[] },
) {
  const { reader, moment } = context;
  const placeAt = (places: readonly Place['position'][]): Place['position'] | null =>
    places.length <= limit ? null : places[limit - 1]!;
  if (moment === always && hidden.length === 0) {
    const sorted = await rankedContracts(reader, reads);
    return { rows: await rowsOf(reader, reads, sorted.slice(0, limit)), position: placeAt(sorted) };
  }
  context.undated.add('status of contracts');
  const rowsAt = (places: readonly Place['position'][]) => rowsOf(reader, reads, places);
  const { places, rows } = await seenContracts(context, seeing(context, hidden), reads, rowsAt);
  const underlying_name = shownSymbol(context, found.instrument);
  const shown = rows.slice(0, limit).map((row) => ({ ...row, underlying_name }));
  return { rows: shown, position: placeAt(places) };
}

/** `GET …/option/search/…` */
const answerOptionSearch: Query<typeof optionSearch> = async (parameters, context) => {
  const { request } = context;
  const { schema_asset, country_symbol, limit } = parameters;
  checkPrice(parameters);
  checkRanges(parameters);
  const found = await instrumentOf(context, schema_asset, country_symbol);
  const { place, paging } = walkOf(context, found, parameters);
  const asked = async (): Promise<number[]> =>
    parameters.moneyness === 'any' ? [] : [await priceOf(context, found, parameters)];
  const pinned = place?.pinned ?? [request.nowMs, ...(await asked())];
  const [nowMs, price = null] = pinned as [number, number?];
  const { value: expirations } = await knownExpirations(context, found);
  const hidden = parameters.adjusted ? [] : await adjustedContracts(context, found);
  const after = place?.position ?? null;
  const reads = readsOf(found, parameters, expirations, { nowMs, price }, after);
  const { rows, position } = await pageOf(context, found, reads, { limit, hidden });
  const end = position === null ? null : { position, pinned };
  const contracts = contractRecords(rows, found, expirations, request.nowMs);
  const fields = parameters.quotes ? allFields : withoutQuotes;
  if (parameters.quotes) {
    const quotes = await quotesOf(context, rows);
    for (const { record } of contracts) Object.assign(record, quotes.get(record.symbol as string) ?? noQuote);
  }
  const records = contracts.map(({ record }) => record);
  const answer =
    parameters.format === 'csv'
      ? renderRecords(context, records, paging(end), fields)
      : renderGrouped(contracts, fields, paging(end), context.allocate);
  const leftOut = countOf(reads, hidden.filter(seeing(context, [])));
  if (answer.kind === 'refusal' || leftOut === 0) return answer;
  return { ...answer, headers: { ...answer.headers, 'X-Adjusted-Contracts': String(leftOut) } };
};

/** `GET …/option/expiration_date_list/…` */
const answerOptionExpirations: Query<typeof optionExpirations> = async (parameters, context) => {
  const { request, allocate } = context;
  const found = await instrumentOf(context, parameters.schema_asset, parameters.country_symbol);
  const { value: expirations, isCached } = await seenExpirations(
    context,
    found,
    parameters.adjusted === true,
  );
  // Contracts of one date can have the same instant, some from a file and others from the calendar.
  const coming = new Map<string, { expiration_date: string; expiration_datetime: string }>();
  const ahead = expirations.filter(({ expiresMs }) => expiresMs > request.nowMs);
  for (const { day, expiresMs } of ahead) {
    const record = { expiration_date: formatDay(day), expiration_datetime: formatInstant(expiresMs) };
    coming.set(Object.values(record).join(), record);
  }
  const records = [...coming.values()];
  if (parameters.sort === 'desc') records.reverse();
  const answer =
    parameters.format === 'csv'
      ? renderRecords(context, records, null)
      : renderResult(records, allocate, isCached ? 'cached' : null);
  return isCached ? goodUntil(answer, ahead[0]?.expiresMs ?? Number.POSITIVE_INFINITY) : answer;
};

/** The queries of these endpoints. */
export const optionQueries = { optionSearch: answerOptionSearch, optionExpirations: answerOptionExpirations };
