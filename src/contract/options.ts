// Options: the contract (spec 2.6), the expiration (spec 2.7), their search (spec 4.6) and list (spec 4.7).
import {
  anotherTime,
  endpoint,
  extension,
  extraFormats,
  extraSort,
  limit,
  nextPageKey,
  optional,
  path,
  unbound,
} from './endpoint.ts';
import {
  boolean,
  date,
  dateTime,
  integer,
  nullable,
  number,
  oneOf,
  optionalField,
  record,
  text,
} from './fields.ts';
import * as kind from './kinds.ts';
import { listLimits } from './limits.ts';
import { contractTerms } from './reference.ts';

const ofQuote = (description: string) =>
  [optionalField(nullable(number(`${description}; with quotes=true`)))] as const;

/** The quote of a contract, as a file said it, listed with `quotes=true` (contract 9.22). */
const quoteRecord = {
  bid: ofQuote('Bid'),
  ask: ofQuote('Ask'),
  last: ofQuote('Price of the last trade'),
  volume: ofQuote('Contracts traded that day'),
  open_interest: ofQuote('Open contracts'),
  implied_volatility: ofQuote('Implied volatility, 0.2 for 20 %'),
  delta: ofQuote('Delta'),
  gamma: ofQuote('Gamma'),
  theta: ofQuote('Theta'),
  vega: ofQuote('Vega'),
  rho: ofQuote('Rho'),
  quote_datetime: [optionalField(nullable(dateTime('The moment of these values, UTC; with quotes=true')))],
} as const;

/** The names of the fields that quotes have. */
export const quoteFields: readonly string[] = Object.keys(quoteRecord);

/** One option contract on the wire (spec 2.6, contract 8.4). */
export const optionContractRecord = record('OptionContract', {
  instrument_id: [integer('Identifier of the contract, stable for its life'), 2],
  asset_id: [integer('Identifier of the contract as an asset'), 2],
  symbol: [text('Root, date, C or P, and strike x 1000 in 8 digits'), 'AAPL251219C00250000'],
  country_iso_code: [text('Country of the contract'), 'US'],
  exchange: [nullable(text('MIC of the underlying, null if unknown')), 'XNAS'],
  underlying_name: [text('Symbol of the underlying'), 'AAPL'],
  calendar_key: [nullable(text('Calendar that the contract follows')), 'US_STOCK'],
  session_template: [nullable(text('Template of its sessions')), 'US_STOCK_RTH'],
  status: [oneOf(['active', 'inactive'], '`inactive` once it has expired'), 'active'],
  parent_schema_instrument_id: [text('`<schema>_<instrument_id>` of the underlying'), 'stock_1'],
  parent_asset_schema: [text('Asset type of the underlying, in lower case'), 'stock'],
  daily_minute_count: [nullable(integer('Minutes of a regular session')), 390],
  contract_value: [number('Units of the underlying in one contract'), 100],
  option_exchange: [nullable(text('Exchange of the contract, null if unknown')), null],
  strike_price: [number('Strike'), 250],
  expiration_date: [date('Last date of the contract'), '2025-12-19'],
  expiration_datetime: [dateTime('When it expires, UTC'), '2025-12-19T21:00:00+00:00'],
  option_type: [oneOf(['call', 'put'], 'Right to buy or to sell'), 'call'],
  exercise_style: [oneOf(['american', 'european'], 'When the option may be exercised'), 'american'],
  trading_codes: [nullable(text('Codes of the contract in other systems')), null],
  is_indices: [boolean('Whether the underlying is an index'), false],
  ...contractTerms(null, null, null),
  ...quoteRecord,
});

/** One expiration on the wire (spec 2.7). */
const expirationRecord = record('Expiration', {
  expiration_date: [date('Last date of the contracts'), '2025-12-19'],
  expiration_datetime: [dateTime('When they expire, UTC'), '2025-12-19T21:00:00+00:00'],
});

/** Fields that option search sorts by (contract 8.4). */
const optionSortFields = [
  'strike_price',
  'expiration_date',
  'expiration_datetime',
  'symbol',
  'instrument_id',
  'status',
  'exercise_style',
] as const;

const underlying = {
  schema_asset: path(kind.assetSchema, 'the asset type of the underlying'),
  country_symbol: path(kind.countrySymbol, 'the country and the symbol of the underlying'),
};

/**
 * Includes contracts that a corporate action adjusted (contract 8.5). Without a default, addresses of pages
 * are as before.
 */
const adjusted = extension(
  optional(
    kind.flag,
    'whether to include contracts that a corporate action adjusted (`AAPL7`); by default not',
  ),
);

export const optionSearch = endpoint({
  path: '/api/v2/option/search/{schema_asset}/{country_symbol}/{option_type}/moneyness/{moneyness}',
  tag: 'options',
  summary: 'Option contracts of one underlying, in or out of the money, grouped by expiration',
  parameters: {
    ...underlying,
    option_type: path(kind.oneOf(['call', 'put', 'any']), 'the type of the option; `any` for both'),
    moneyness: path(
      kind.oneOf(['in_the_money', 'out_of_the_money', 'any']),
      'the side of the reference price; `any` for all strikes, without a price',
    ),
    ref_asset_price: optional(
      kind.decimal,
      'the price of the underlying to compare strikes with; by default its latest price',
    ),
    strike_price: optional(kind.decimal, 'the strike'),
    expiration_date: optional(
      kind.date,
      'the expiration date, or the local date of the instant of expiration, such as Friday if the expiration date is a Saturday',
    ),
    strike_from: extension(optional(kind.decimal, 'the lowest strike')),
    strike_to: extension(optional(kind.decimal, 'the highest strike')),
    expiration_from: extension(optional(kind.date, 'the first expiration date, like `expiration_date`')),
    expiration_to: extension(optional(kind.date, 'the last expiration date, like `expiration_date`')),
    adjusted,
    // Without a default, addresses of pages are as before.
    quotes: extension(
      unbound(
        optional(
          kind.flag,
          'whether each contract has its newest quote, with volatility and greeks; by default not',
        ),
      ),
    ),
    limit: limit(listLimits.optionSearch, 'contracts'),
    sort_by: optional(
      kind.sortBy(optionSortFields, 'strike_price desc,expiration_date'),
      'the order of the contracts; by default the next expiration first, then the strikes nearest to the price',
    ),
    sort: extraSort('`desc` to reverse the complete order, also that of equal contracts'),
    ...extraFormats,
    ...anotherTime,
    next_page_key: nextPageKey,
  },
  record: optionContractRecord,
  shape: 'grouped',
  refusals: ['unknown_instrument', 'no_data'],
});

export const optionExpirations = endpoint({
  path: '/api/v2/option/expiration_date_list/{schema_asset}/{country_symbol}',
  tag: 'options',
  summary: 'The upcoming expirations of one underlying, nearest first',
  parameters: {
    ...underlying,
    adjusted,
    sort: extraSort('`desc` for the latest expiration first'),
    ...extraFormats,
    ...anotherTime,
  },
  record: expirationRecord,
  shape: 'array',
  refusals: ['unknown_instrument'],
});
