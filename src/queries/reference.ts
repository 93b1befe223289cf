// Instruments: the record of one (spec 2.3, 4.2, contract 8.1), completed from its market, and the search by
// the beginning of a symbol or the words of a name (contract 9.2).
import { DAY_MS, dateOf, formatDay } from '../base/instant.ts';
import { type AssetSchema, type CountrySymbol, parseAskedSymbol } from '../contract/identifiers.ts';
import { instrumentRecord, type instrumentReference, type instrumentSearch } from '../contract/reference.ts';
import type { Market } from '../market/calendar/market.ts';
import { minutesOf, type TradingHours, tradingHours } from '../market/calendar/session.ts';
import { findZone, type Zone, zoneOf } from '../market/calendar/zone.ts';
import { marketOf } from '../series/calendars.ts';
import { type InstrumentSearch, rowsOfTerms, searchInstruments, wordsOf } from '../store/instrument-terms.ts';
import { unsignedPair } from '../store/schema/notations.ts';
import type { Instrument } from '../store/schema/reference.ts';
import { aliasedSymbol, instrumentOrNull, rowNamed, shownRow, unknownSymbol } from './known-instrument.ts';
import { goodUntil, type Query, type QueryContext } from './query.ts';
import { renderResult } from './render/list.ts';
import { inWireOrder, renderRecords, type WireRecord } from './render/records.ts';

/** Words of more characters are no symbol with spaces. */
const SPACED_MAX = 8;

/** A text as a symbol: `ABRpA` of CQS too, and `BRK B`. */
function symbolIn(text: string): string | null {
  if (text.includes(' ') && text.length > SPACED_MAX) return null;
  return parseAskedSymbol(text.replace(/(?<=[A-Z0-9])p(?=[A-Z]$)/, '.PR'));
}

/**
 * The stock, or currency pair, that a whole symbol names in another notation (contract 9.21). Separators of
 * pairs are searched anyway.
 */
async function aliasIn(
  context: QueryContext,
  assetSchema: AssetSchema,
  { country, symbol }: InstrumentSearch,
): Promise<Instrument | null> {
  if (symbol === null) return null;
  const isPair = unsignedPair({ asset_schema: assetSchema }, symbol) !== symbol;
  if (assetSchema !== 'stock' && !isPair) return null;
  const named = { country: country ?? (isPair ? 'GLOBAL' : 'US'), symbol };
  const own = await aliasedSymbol(context, assetSchema, named);
  const found =
    own === null ? null : await instrumentOrNull(context, assetSchema, { ...named, symbol: own }, null);
  return found && shownRow(context, found.instrument);
}

/** Fields of an instrument that have no history, for `X-As-Of-Limits`. */
const UNDATED_FIELDS = 'fields of instruments but symbol and status';

/** `GET …/reference/search` */
const answerInstrumentSearch: Query<typeof instrumentSearch> = async (parameters, context) => {
  const { schema_asset: assetSchema, query, country_iso_code: country, limit } = parameters;
  const search = {
    assetSchema,
    country: country ?? null,
    symbol: symbolIn(query.trim()),
    words: wordsOf(query),
    limit,
  };
  const { reader, known } = context;
  const stored = await rowsOfTerms(reader, await searchInstruments(known, search));
  const found = stored.map((row) => shownRow(context, row));
  const alias = await aliasIn(context, assetSchema, search);
  const others = alias === null ? found : found.filter((row) => row.instrument_id !== alias.instrument_id);
  const rows = (alias === null ? found : [alias, ...others]).slice(0, limit);
  context.undated.add(UNDATED_FIELDS);
  const { nowMs } = context.request;
  const records: WireRecord[] = [];
  let untilMs = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const market = await marketOf(reader, row);
    records.push(recordOf(row, market, nowMs));
    untilMs = Math.min(untilMs, endOfDay(zoneOfMarket(market), nowMs));
  }
  return goodUntil(renderRecords(context, records, null), untilMs);
};

/** Base and quote currency; null where the symbol does not say. */
type Pair = { readonly base: string | null; readonly quote: string | null };

const none: Pair = { base: null, quote: null };

/** Quote currencies of crypto pairs without a separator; longer ones first. */
const quotes = 'FDUSD USDT USDC BUSD TUSD USD EUR GBP JPY AUD CAD CHF BRL TRY KRW BTC ETH BNB'.split(' ');

/** The pair that a symbol of crypto or forex names. */
function pairOf(assetSchema: AssetSchema, symbol: string): Pair {
  const separated = /^([A-Z0-9]+)[-_/]([A-Z0-9]+)$/.exec(symbol);
  if (separated !== null) return { base: separated[1]!, quote: separated[2]! };
  if (assetSchema === 'forex')
    return /^[A-Z]{6}$/.test(symbol) ? { base: symbol.slice(0, 3), quote: symbol.slice(3) } : none;
  const quote = quotes.find((one) => symbol.endsWith(one) && symbol.length > one.length);
  return quote === undefined ? none : { base: symbol.slice(0, -quote.length), quote };
}

/** Units of one contract by asset type; null where it differs between contracts. */
const contractValues: Readonly<Record<AssetSchema, string | null>> = {
  stock: '1',
  crypto: '1',
  forex: '1',
  option: '100',
  future: null,
};

/** The keys of `trading_hours` and their segments. */
const hoursKeys = {
  regular_trading: 'regular',
  pre_market_trading: 'pre',
  post_market_trading: 'post',
} as const satisfies Record<string, keyof TradingHours>;

type GivenHours = { readonly [K in keyof typeof hoursKeys]?: readonly string[] };

const noHours: TradingHours = { pre: [], regular: [], post: [] };

/** Stocks have all three keys; others have the regular one and those of the file (spec 2.3, contract 8.1). */
function wireHours(assetSchema: AssetSchema, hours: TradingHours, given: GivenHours | null): GivenHours {
  const has = (key: keyof GivenHours): boolean =>
    assetSchema === 'stock' || key === 'regular_trading' || given?.[key] !== undefined;
  const keys = (Object.keys(hoursKeys) as (keyof GivenHours)[]).filter(has);
  return Object.fromEntries(
    keys.map((key) => [key, given === null ? hours[hoursKeys[key]] : (given[key] ?? [])]),
  );
}

/** A day's hours, with the first open, the last close and the minutes of the regular ones. */
function dayHours(trading: GivenHours, day: number | null) {
  const regular = trading.regular_trading ?? [];
  return {
    day,
    trading,
    open_time: regular[0]?.slice(0, 8) ?? null,
    close_time: regular.at(-1)?.slice(9) ?? null,
    daily_minute_count: regular.length === 0 ? null : minutesOf(regular),
  };
}

type DayHours = ReturnType<typeof dayHours>;

/**
 * The hours of each market on the last requested day: those of all its instruments without hours of their
 * own.
 */
const marketHours = new Map<string, DayHours>();

function hoursOf(assetSchema: AssetSchema, market: Market, day: number): DayHours {
  const name = `${assetSchema}|${market.key}`;
  const known = marketHours.get(name);
  if (known?.day === day) return known;
  const hours = dayHours(wireHours(assetSchema, tradingHours(market, day), null), day);
  marketHours.set(name, hours);
  return hours;
}

/** The hours of an instrument on the wire. */
function tradingOf(row: Instrument, market: Market | null, nowMs: number): DayHours {
  const assetSchema = row.asset_schema as AssetSchema;
  const given = row.trading_hours as GivenHours | null;
  if (given === null && market !== null)
    return hoursOf(assetSchema, market, zoneOf(market.zone).dayAt(nowMs));
  return dayHours(wireHours(assetSchema, noHours, given), null);
}

/** The currencies of crypto and forex; other records lack the fields (contract 8.1). */
function pairFields(row: Instrument) {
  if (row.asset_schema !== 'crypto' && row.asset_schema !== 'forex')
    return { base_currency: undefined, quote_currency: undefined };
  const { base, quote } = pairOf(row.asset_schema, row.symbol);
  return { base_currency: row.base_currency ?? base, quote_currency: row.quote_currency ?? quote };
}

const zoneOfMarket = (market: Market | null): Zone => zoneOf(market?.zone ?? 'UTC');

/** Whether an instrument's last day of trading is over in its market. */
const isDelisted = ({ delisting_date }: Instrument, market: Market | null, nowMs: number): boolean =>
  delisting_date !== null && delisting_date < formatDay(zoneOfMarket(market).dayAt(nowMs));

/** True if a market trades on a Saturday or a Sunday of its own dates. */
function tradesAtWeekends({ hours }: Market): boolean {
  return hours.at(-1)!.weekdays.some((weekday) => weekday > 5);
}

/** The record of an instrument: values from files, else those of its market on that day. */
function recordOf(row: Instrument, market: Market | null, nowMs: number): WireRecord {
  const assetSchema = row.asset_schema as AssetSchema;
  const zone = (row.time_zone === null ? null : findZone(row.time_zone)) ?? zoneOfMarket(market);
  const hours = tradingOf(row, market, nowMs);
  const pair = pairFields(row);
  return {
    ...row,
    ...pair,
    exchange: row.exchange ?? market?.exchange ?? null,
    currency: row.currency ?? market?.currency ?? pair.quote_currency ?? null,
    time_zone: zone.name,
    trading_hours: hours.trading,
    open_time: row.open_time ?? hours.open_time,
    close_time: row.close_time ?? hours.close_time,
    daily_minute_count: row.daily_minute_count ?? hours.daily_minute_count,
    status: row.status ?? (isDelisted(row, market, nowMs) ? 'inactive' : 'active'),
    calendar_key: row.calendar_key ?? market?.key ?? null,
    session_template: row.session_template ?? market?.sessionTemplate ?? null,
    support_dst: row.support_dst ?? zone.changesIn(dateOf(Math.floor(nowMs / DAY_MS)).year),
    support_week_trading: row.support_week_trading ?? (market !== null && tradesAtWeekends(market)),
    is_indices: row.is_indices ?? false,
    contract_value: row.contract_value ?? contractValues[assetSchema],
  };
}

/** A cached record, the zone of its market, and the days on which it was made. */
type CachedRecord = { readonly record: WireRecord; readonly zone: Zone; readonly made: string };

/**
 * Market hours are those of the market's day, daylight saving is that of the UTC year: a record lasts as long
 * as both.
 */
const daysAt = (zone: Zone, nowMs: number): string =>
  `${zone.dayAt(nowMs)} ${dateOf(Math.floor(nowMs / DAY_MS)).year}`;

/**
 * An instrument's record of the day, and whether it was cached; the value is null where no instrument has the
 * name.
 */
function findRecord(context: QueryContext, assetSchema: AssetSchema, { country, symbol }: CountrySymbol) {
  const { reader, lookup, request, moment } = context;
  const { nowMs } = request;
  const make = async (): Promise<CachedRecord | null> => {
    const stored = await rowNamed(context, assetSchema, { country, symbol });
    if (stored === null) return null;
    const row = shownRow(context, stored);
    const market = await marketOf(reader, row);
    const zone = zoneOfMarket(market);
    const record = inWireOrder(instrumentRecord, recordOf(row, market, nowMs));
    return { record, zone, made: daysAt(zone, nowMs) };
  };
  const name = `record|${assetSchema}:${country}:${symbol} as of ${moment.ms}`;
  return lookup.cached(reader, name, make, (kept) => kept !== null && kept.made === daysAt(kept.zone, nowMs));
}

/** When a record of now may change by itself: its market's day or the year ends (contract 8.1). */
function endOfDay(zone: Zone, nowMs: number): number {
  const utcMidnightMs = (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
  return Math.min(zone.instantOf(zone.dayAt(nowMs) + 1, 0), utcMidnightMs);
}

/** `GET …/reference/{country_symbol}` */
const answerInstrumentReference: Query<typeof instrumentReference> = async (parameters, context) => {
  const { schema_asset: assetSchema, country_symbol: named } = parameters;
  const { value, isCached } = await findRecord(context, assetSchema, named);
  if (value === null) throw await unknownSymbol(context, assetSchema, named);
  context.undated.add(UNDATED_FIELDS);
  const answer = renderResult(value.record, context.allocate, isCached ? 'cached' : null);
  return isCached ? goodUntil(answer, endOfDay(value.zone, context.request.nowMs)) : answer;
};

/** The queries of these endpoints. */
export const referenceQueries = {
  instrumentSearch: answerInstrumentSearch,
  instrumentReference: answerInstrumentReference,
};
