// Instrument reference: the record (spec 2.3), its endpoint (spec 4.2) and the search (contract 9.2).
import { Array as ArraySchema, Enum, Object as ObjectSchema, Optional, Partial } from 'typebox';
import { endpoint } from './endpoint.ts';
import { boolean, date, integer, nullable, number, text } from './fields.ts';
import * as kind from './kinds.ts';
import { limits, listLimits } from './limits.ts';
import { limit, optional, path, required } from './parameter.ts';

const ranges = ArraySchema(text('HH:MM:SS-HH:MM:SS'));

/** Fields that instrument and option contract records share, null where unknown (spec 2.3, 2.6). */
export const contractTerms = {
  contract_type: nullable(text('Kind of contract')),
  price_precision: nullable(integer('Decimals of prices')),
  quantity_precision: nullable(integer('Decimals of quantities')),
  min_initial_open_quantity: nullable(number('Smallest quantity that opens a position')),
  tick_size: nullable(number('Smallest step of prices')),
  lot_size: nullable(number('Shares or units of one lot')),
  listing_date: nullable(date('First date of trading')),
};

/** One instrument on the wire (spec 2.3, contract 8.1). */
export const instrumentRecord = ObjectSchema(
  {
    asset_schema: text('Asset type in lower case'),
    symbol: text('Trading symbol'),
    name: nullable(text('Full name')),
    exchange: nullable(text('MIC, `GLOBAL` for crypto and forex, null where unknown')),
    country_iso_code: text('Country or `GLOBAL`'),
    currency: nullable(text('Currency of the prices')),
    time_zone: text('Time zone of the exchange'),
    open_time: nullable(text('Open of the regular session, HH:MM:SS')),
    close_time: nullable(text('Close of the regular session, HH:MM:SS')),
    trading_hours: Partial(
      ObjectSchema({ regular_trading: ranges, pre_market_trading: ranges, post_market_trading: ranges }),
    ),
    status: Enum(['active', 'inactive'], { description: 'Whether it trades' }),
    calendar_key: nullable(text('Calendar that it follows')),
    session_template: nullable(text('Template of its sessions')),
    support_dst: boolean('Whether its time zone has daylight saving'),
    support_week_trading: boolean('Whether it trades at weekends'),
    underlying_name: nullable(text('Symbol of the underlying')),
    instrument_id: integer('Identifier, stable for the life of the instrument'),
    asset_id: integer('Identifier of the asset'),
    is_indices: boolean('Whether it is an index'),
    daily_minute_count: nullable(integer('Minutes of a regular session')),
    contract_value: nullable(text('Units of one contract')),
    description: nullable(text('Description of the instrument')),
    asset_subtype: nullable(text('Kind within the asset type, such as `ETF`')),
    industry: nullable(text('Industry of the company')),
    trading_codes: nullable(text('Codes in other systems')),
    parent_schema_instrument_id: nullable(text('`<schema>_<instrument_id>` of the underlying')),
    ...contractTerms,
    base_currency: Optional(nullable(text('Currency that is bought; forex and crypto only'))),
    quote_currency: Optional(nullable(text('Currency that it is priced in; forex and crypto only'))),
  },
  {
    title: 'Instrument',
    examples: [
      {
        asset_schema: 'stock',
        symbol: 'AAPL',
        name: 'Apple Inc.',
        exchange: 'XNAS',
        country_iso_code: 'US',
        currency: 'USD',
        time_zone: 'America/New_York',
        open_time: '09:30:00',
        close_time: '16:00:00',
        trading_hours: {
          regular_trading: ['09:30:00-16:00:00'],
          pre_market_trading: ['04:00:00-09:30:00'],
          post_market_trading: ['16:00:00-20:00:00'],
        },
        status: 'active',
        calendar_key: 'US_STOCK',
        session_template: 'US_STOCK_RTH',
        support_dst: true,
        support_week_trading: false,
        underlying_name: 'AAPL',
        instrument_id: 1,
        asset_id: 1,
        is_indices: false,
        daily_minute_count: 390,
        contract_value: '1',
        description: null,
        asset_subtype: null,
        industry: null,
        trading_codes: null,
        parent_schema_instrument_id: null,
        contract_type: null,
        price_precision: null,
        quantity_precision: null,
        min_initial_open_quantity: null,
        tick_size: 0.01,
        lot_size: 1,
        listing_date: '1980-12-12',
      },
    ],
  },
);

export const instrumentReference = endpoint({
  path: '/api/v2/{schema_asset}/reference/{country_symbol}',
  tag: 'reference',
  summary: 'The reference record of one instrument',
  parameters: {
    schema_asset: path(kind.assetSchema, 'the asset type'),
    country_symbol: path(kind.countrySymbol, 'the country and the symbol'),
  },
  record: instrumentRecord,
  shape: 'single',
  refusals: ['unknown_instrument'],
});

export const instrumentSearch = endpoint({
  path: '/api/v2/{schema_asset}/reference/search',
  tag: 'reference',
  summary: 'Instruments whose symbol or name matches a text',
  parameters: {
    schema_asset: path(kind.assetSchema, 'the asset type'),
    query: required(kind.text('APP', { min: 1, max: limits.searchCharactersMax }), 'the text to look for'),
    country_iso_code: optional(kind.country, 'the country'),
    limit: limit(listLimits.instrumentSearch, 'instruments'),
  },
  record: instrumentRecord,
  shape: 'list',
  extension: true,
});
