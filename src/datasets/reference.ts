// Instruments: what files say of them. What they do not say is null here and comes from the market when read (contract 11).
import { parseDay } from '../base/instant.ts';
import { parseFlag } from '../contract/flag.ts';
import { parseSymbol } from '../contract/identifiers.ts';
import {
  boolean,
  type Column,
  type ColumnKind,
  dataset,
  integer,
  json,
  orNull,
  type RowOf,
  real,
  text,
} from './dataset.ts';
import {
  anyText,
  assetSchemaRule,
  asText,
  countryRule,
  dateTextRule,
  dayText,
  exchangeRule,
  type Field,
  type FieldRule,
  type Fields,
  numberRule,
  optional,
  required,
  symbolRule,
  textThat,
} from './field.ts';

/** A stored instrument. */
export type Instrument = RowOf<typeof instruments>;

/** A symbol that an instrument had, with its first and last day. */
export type FormerSymbol = {
  readonly symbol: string;
  readonly from_day: number;
  readonly to_day: number;
};

/** What an instrument's columns hold. */
const columns = {
  asset_schema: text,
  country_iso_code: text,
  symbol: text,
  instrument_id: integer,
  asset_id: integer,
  name: orNull(text),
  exchange: orNull(text),
  currency: orNull(text),
  time_zone: orNull(text),
  open_time: orNull(text),
  close_time: orNull(text),
  trading_hours: orNull(json),
  status: orNull(text),
  calendar_key: orNull(text),
  session_template: orNull(text),
  support_dst: orNull(boolean),
  support_week_trading: orNull(boolean),
  underlying_name: orNull(text),
  is_indices: orNull(boolean),
  daily_minute_count: orNull(integer),
  contract_value: orNull(text),
  description: orNull(text),
  asset_subtype: orNull(text),
  industry: orNull(text),
  trading_codes: orNull(text),
  parent_schema_instrument_id: orNull(text),
  contract_type: orNull(text),
  price_precision: orNull(integer),
  quantity_precision: orNull(integer),
  min_initial_open_quantity: orNull(real),
  tick_size: orNull(real),
  lot_size: orNull(real),
  listing_date: orNull(text),
  base_currency: orNull(text),
  quote_currency: orNull(text),
  /** `FormerSymbol[]` (contract 9.6). */
  former_symbols: orNull(json),
} as const;

const hoursKeys = ['regular_trading', 'pre_market_trading', 'post_market_trading'];
const RANGE = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d-([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Trading hours as the record has them (spec 2.3): lists of ranges of clock times. */
function parseHours(text: string): unknown {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const isRanges = (ranges: unknown): boolean =>
    Array.isArray(ranges) && ranges.every((range) => typeof range === 'string' && RANGE.test(range));
  const isRight = Object.entries(value).every(([key, ranges]) => hoursKeys.includes(key) && isRanges(ranges));
  return isRight ? value : undefined;
}

const FORMER = /^([^:]+):(\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})$/;

/** Former symbols, each with its first and last day, separated by spaces (contract 9.6). */
function parseFormerSymbols(text: string): FormerSymbol[] | undefined {
  const found = text
    .trim()
    .split(/\s+/)
    .map((part) => {
      const [, name = '', from = '', to = ''] = FORMER.exec(part) ?? [];
      return { symbol: parseSymbol(name), from_day: parseDay(from), to_day: parseDay(to) };
    });
  const isRight = found.every(
    ({ symbol, from_day, to_day }) =>
      symbol !== null && from_day !== null && to_day !== null && from_day <= to_day,
  );
  return isRight ? (found as FormerSymbol[]) : undefined;
}

const formerText = (symbols: readonly FormerSymbol[] | null): string | null =>
  symbols
    ?.map(({ symbol, from_day, to_day }) => `${symbol}:${dayText(from_day)}..${dayText(to_day)}`)
    .join(' ') ?? null;

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const clock = textThat((text) => /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(text), 'must be a time HH:MM:SS');

/** What a cell may hold by the kind of its column alone. */
const rulesOfKinds: Readonly<Partial<Record<ColumnKind, FieldRule>>> = {
  text: anyText,
  boolean: { parse: parseFlag, reason: 'is not a boolean' },
  integer: numberRule(Number.isSafeInteger, 'is not a integer'),
  real: numberRule(() => true, 'is not a real'),
};

/** Fields that hold more than their column's kind. */
const particular: Readonly<Record<string, Field>> = {
  asset_schema: required(assetSchemaRule, { flag: '--schema' }),
  country_iso_code: required(countryRule, { flag: '--country' }),
  symbol: required(symbolRule, { flag: '--symbol' }),
  exchange: optional(exchangeRule, { flag: '--exchange' }),
  status: optional(
    textThat((text) => text === 'active' || text === 'inactive', 'must be active or inactive'),
  ),
  time_zone: optional(textThat(isTimeZone, 'is not a time zone')),
  listing_date: optional(dateTextRule),
  open_time: optional(clock),
  close_time: optional(clock),
  trading_hours: optional({
    parse: parseHours,
    reason: `must be JSON with lists of ranges such as 09:30:00-16:00:00 under ${hoursKeys.join(', ')}`,
  }),
  former_symbols: optional(
    {
      parse: parseFormerSymbols,
      reason:
        'must be symbols with their first and last day, such as FB:2012-05-18..2022-06-08, separated by spaces',
    },
    asText(({ former_symbols }) => formerText(former_symbols as FormerSymbol[] | null)),
  ),
  // A number of this store: another one gives its own.
  parent_schema_instrument_id: optional(anyText, { isNeverWritten: true }),
};

/** Identifiers are given out by the store alone. */
const identifiers = ['instrument_id', 'asset_id'];

/** The fields of an instrument: an option contract shares some of them. */
export const instrumentFields: Fields = Object.fromEntries(
  Object.entries<Column>(columns)
    .filter(([name]) => !identifiers.includes(name))
    .map(([name, { kind }]) => [name, particular[name] ?? optional(rulesOfKinds[kind]!)]),
);

export const instruments = dataset({
  name: 'instruments',
  columns,
  key: ['asset_schema', 'country_iso_code', 'symbol'],
  indexes: [['instrument_id']],
  file: {
    fields: instrumentFields,
    repeated: { column: 'symbol', reason: 'the file has this instrument already, with other values' },
  },
});

/** What an instrument is known by. */
export type InstrumentName = Pick<Instrument, 'asset_schema' | 'country_iso_code' | 'symbol'>;

/** What instruments are found by; made from their rows alone, and never written but with them (`store/instrument-terms.ts`). */
export const instrumentTerms = dataset({
  name: 'instrument_terms',
  columns: {
    asset_schema: text,
    country_iso_code: text,
    /** `symbol`, `former` or `name`. */
    kind: text,
    /** A symbol; of a name its folded words, beginning with each of them in turn. */
    term: text,
    symbol: text,
  },
  key: ['asset_schema', 'country_iso_code', 'kind', 'term', 'symbol'],
  indexes: [['asset_schema', 'kind', 'term', 'country_iso_code', 'symbol']],
});
