// Instruments. A column that no file gave is null, and its value comes from the market when it is read
// (contract 11).
import { formatDay, parseDay } from '../../base/instant.ts';
import { parseFlag } from '../../contract/file-words.ts';
import { parseSymbol } from '../../contract/identifiers.ts';
import {
  anyText,
  assetSchemaField,
  asText,
  type Column,
  type ColumnKind,
  columnsOf,
  countryField,
  dataset,
  dayRule,
  exchangeRule,
  type Field,
  type FieldRule,
  type Fields,
  numberRule,
  optional,
  parseDayCell,
  parsedBy,
  type RowOf,
  symbolField,
  textThat,
  type Values,
} from './dataset.ts';

/** A stored instrument. */
export type Instrument = RowOf<typeof instruments>;

/** A symbol that an instrument had, with its first and last day. */
export type FormerSymbol = { readonly symbol: string; readonly from_day: number; readonly to_day: number };

/** Columns that instruments and option contracts have. */
export const tradingColumns = {
  contract_type: 'text null',
  price_precision: 'integer null',
  quantity_precision: 'integer null',
  min_initial_open_quantity: 'real null',
  tick_size: 'real null',
  lot_size: 'real null',
  listing_date: 'text null',
} as const;

const columns = {
  asset_schema: 'text',
  country_iso_code: 'text',
  symbol: 'text',
  instrument_id: 'integer',
  asset_id: 'integer',
  name: 'text null',
  exchange: 'text null',
  currency: 'text null',
  time_zone: 'text null',
  open_time: 'text null',
  close_time: 'text null',
  trading_hours: 'json null',
  status: 'text null',
  calendar_key: 'text null',
  session_template: 'text null',
  support_dst: 'boolean null',
  support_week_trading: 'boolean null',
  underlying_name: 'text null',
  is_indices: 'boolean null',
  daily_minute_count: 'integer null',
  contract_value: 'text null',
  description: 'text null',
  asset_subtype: 'text null',
  industry: 'text null',
  trading_codes: 'text null',
  parent_schema_instrument_id: 'text null',
  ...tradingColumns,
  /** The last day of trading, `YYYY-MM-DD`: no bar comes after it (contract 3.9). It is not on the wire. */
  delisting_date: 'text null',
  base_currency: 'text null',
  quote_currency: 'text null',
  /** `FormerSymbol[]` (contract 9.6). */
  former_symbols: 'json null',
} as const;

const hoursKeys = ['regular_trading', 'pre_market_trading', 'post_market_trading'];
const CLOCK = '([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d';
const RANGE = new RegExp(`^${CLOCK}-${CLOCK}$`);

/** Trading hours in the form of the record (spec 2.3): lists of ranges of clock times. */
function parseHours(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const isRanges = (ranges: unknown): boolean =>
      Array.isArray(ranges) && ranges.every((range) => typeof range === 'string' && RANGE.test(range));
    const isRight = Object.entries(value).every(
      ([key, ranges]) => hoursKeys.includes(key) && isRanges(ranges),
    );
    return isRight ? value : undefined;
  } catch {
    return undefined;
  }
}

const FORMER = /^([^:]+):(\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})$/;

/** Former symbols, each with its first and last day, separated by spaces (contract 9.6). */
function parseFormerSymbols(text: string): FormerSymbol[] | undefined {
  const found: FormerSymbol[] = [];
  for (const part of text.trim().split(/\s+/)) {
    const [, name = '', from = '', to = ''] = FORMER.exec(part) ?? [];
    const [symbol, from_day, to_day] = [parseSymbol(name), parseDay(from), parseDay(to)];
    if (symbol === null || from_day === null || to_day === null || from_day > to_day) return undefined;
    found.push({ symbol, from_day, to_day });
  }
  return found;
}

const formerText = ({ symbol, from_day, to_day }: FormerSymbol): string =>
  `${symbol}:${formatDay(from_day)}..${formatDay(to_day)}`;

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const clock = textThat((text) => new RegExp(`^${CLOCK}$`).test(text), 'must be a time HH:MM:SS');

/** A date that is stored as text. */
const dateText = parsedBy((text) => {
  const day = parseDayCell(text);
  return day === null ? null : formatDay(day);
}, dayRule.reason);

/** The rule of a field by the kind of its column. */
const rulesOfKinds: Readonly<Partial<Record<ColumnKind, FieldRule>>> = {
  text: anyText,
  boolean: { parse: parseFlag, reason: 'is not a boolean' },
  integer: numberRule(Number.isSafeInteger, 'is not a whole number'),
  real: numberRule(() => true, 'is not a number'),
};

/** The fields that need another rule. */
const particular: Readonly<Record<string, Field>> = {
  asset_schema: assetSchemaField,
  country_iso_code: countryField,
  symbol: symbolField,
  exchange: optional(exchangeRule, { flag: '--exchange' }),
  currency: optional(anyText, { flag: '--currency' }),
  status: optional(
    textThat((text) => text === 'active' || text === 'inactive', 'must be active or inactive'),
  ),
  time_zone: optional(textThat(isTimeZone, 'is not a time zone')),
  listing_date: optional({ ...dateText, oddIsMissing: true }),
  delisting_date: optional(dateText),
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
    asText((row) => (row.former_symbols as FormerSymbol[] | null)?.map(formerText).join(' ') ?? null),
  ),
  // Each store gives its own numbers.
  parent_schema_instrument_id: optional(anyText, { isNeverWritten: true }),
};

/** The fields of an instrument: an option contract shares some of them. The store alone gives identifiers. */
export const instrumentFields: Fields = Object.fromEntries(
  Object.entries<Column>(columnsOf(columns))
    .filter(([name]) => name !== 'instrument_id' && name !== 'asset_id')
    .map(([name, { kind }]) => [name, particular[name] ?? optional(rulesOfKinds[kind]!)]),
);

/** True if an instrument was listed on a day, as far as it is known. */
export const isListedOn = ({ listing_date }: Values, day: number): boolean =>
  listing_date === null || parseDay(listing_date as string)! <= day;

/**
 * The symbol that an instrument had on a day: the former one that was given up first since, else the present
 * one.
 */
export function symbolOn(
  { symbol, former_symbols }: Pick<Instrument, 'symbol' | 'former_symbols'>,
  day: number,
): string {
  const since = ((former_symbols ?? []) as FormerSymbol[]).filter(({ to_day }) => to_day >= day);
  if (since.length === 0) return symbol;
  return since.reduce((one, other) => (other.to_day < one.to_day ? other : one)).symbol;
}

/** True if an instrument was delisted on a day or later, as far as it is known. */
export const isDelistedAfter = (
  { delisting_date }: Pick<Instrument, 'delisting_date'>,
  day: number,
): boolean => delisting_date !== null && parseDay(delisting_date)! >= day;

export const instruments = dataset({
  name: 'instruments',
  columns,
  key: ['asset_schema', 'country_iso_code', 'symbol'],
  indexes: [['instrument_id']],
  group: ['instrument_id'],
  knownBy: (row, { dayIn }) =>
    isListedOn(row, dayIn(row.asset_schema as string, row.country_iso_code as string)),
  parts: [
    { kind: 'symbol', of: ['asset_schema', 'country_iso_code', 'symbol'] },
    { kind: 'instrument', of: ['instrument_id'] },
  ],
  file: {
    fields: instrumentFields,
    repeated: { column: 'symbol', reason: 'the file has this instrument already, with other values' },
  },
});

/** The key of an instrument. */
export type InstrumentName = Pick<Instrument, 'asset_schema' | 'country_iso_code' | 'symbol'>;

/**
 * The terms that find instruments; made from the instruments' rows and written with them
 * (`store/instrument-terms.ts`).
 */
export const instrumentTerms = dataset({
  name: 'instrument_terms',
  columns: {
    asset_schema: 'text',
    country_iso_code: 'text',
    /** `symbol`, `former` or `name`. */
    kind: 'text',
    /** A symbol, or the folded words of a name from one of its words on, and around. */
    term: 'text',
    symbol: 'text',
  },
  key: ['asset_schema', 'country_iso_code', 'kind', 'term', 'symbol'],
  indexes: [['asset_schema', 'kind', 'term', 'country_iso_code', 'symbol']],
  parts: [{ kind: 'symbol', of: ['asset_schema', 'country_iso_code', 'term'], where: { kind: 'former' } }],
});
