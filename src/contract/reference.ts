// Instrument reference: the record (spec 2.3), its endpoint (spec 4.2) and the search (contract 9.2).
import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Enum,
  Integer,
  Number as NumberSchema,
  Object as ObjectSchema,
  Optional,
  Partial,
  String as StringSchema,
} from 'typebox';
import { endpoint } from './endpoint.ts';
import { nullable } from './envelope.ts';
import { listLimits } from './limits.ts';
import {
  assetSchema,
  country,
  countrySymbol,
  defaulted,
  limit,
  optional,
  path,
  required,
  text,
} from './parameter.ts';

const ranges = ArraySchema(StringSchema({ description: 'HH:MM:SS-HH:MM:SS' }));

/** Fields that instrument and option contract records share, null where unknown (spec 2.3, 2.6). */
export const contractTerms = {
  contract_type: nullable(StringSchema({ description: 'Kind of contract' })),
  price_precision: nullable(Integer({ description: 'Decimals of prices' })),
  quantity_precision: nullable(Integer({ description: 'Decimals of quantities' })),
  min_initial_open_quantity: nullable(
    NumberSchema({ description: 'Smallest quantity that opens a position' }),
  ),
  tick_size: nullable(NumberSchema({ description: 'Smallest step of prices' })),
  lot_size: nullable(NumberSchema({ description: 'Shares or units of one lot' })),
  listing_date: nullable(StringSchema({ format: 'date', description: 'First date of trading' })),
};

/** One instrument on the wire (spec 2.3, contract 8.1). */
export const instrumentRecord = ObjectSchema(
  {
    asset_schema: StringSchema({ description: 'Asset type in lower case' }),
    symbol: StringSchema({ description: 'Trading symbol' }),
    name: nullable(StringSchema({ description: 'Full name' })),
    exchange: nullable(
      StringSchema({ description: 'MIC, `GLOBAL` for crypto and forex, null where unknown' }),
    ),
    country_iso_code: StringSchema({ description: 'Country or `GLOBAL`' }),
    currency: nullable(StringSchema({ description: 'Currency of the prices' })),
    time_zone: StringSchema({ description: 'Time zone of the exchange' }),
    open_time: nullable(StringSchema({ description: 'Open of the regular session, HH:MM:SS' })),
    close_time: nullable(StringSchema({ description: 'Close of the regular session, HH:MM:SS' })),
    trading_hours: Partial(
      ObjectSchema({ regular_trading: ranges, pre_market_trading: ranges, post_market_trading: ranges }),
    ),
    status: Enum(['active', 'inactive'], { description: 'Whether it trades' }),
    calendar_key: nullable(StringSchema({ description: 'Calendar that it follows' })),
    session_template: nullable(StringSchema({ description: 'Template of its sessions' })),
    support_dst: BooleanSchema({ description: 'Whether its time zone has daylight saving' }),
    support_week_trading: BooleanSchema({ description: 'Whether it trades at weekends' }),
    underlying_name: nullable(StringSchema({ description: 'Symbol of the underlying' })),
    instrument_id: Integer({ description: 'Identifier, stable for the life of the instrument' }),
    asset_id: Integer({ description: 'Identifier of the asset' }),
    is_indices: BooleanSchema({ description: 'Whether it is an index' }),
    daily_minute_count: nullable(Integer({ description: 'Minutes of a regular session' })),
    contract_value: nullable(StringSchema({ description: 'Units of one contract' })),
    description: nullable(StringSchema({ description: 'What it is' })),
    asset_subtype: nullable(StringSchema({ description: 'Kind within the asset type, such as `ETF`' })),
    industry: nullable(StringSchema({ description: 'Industry of the company' })),
    trading_codes: nullable(StringSchema({ description: 'Codes elsewhere' })),
    parent_schema_instrument_id: nullable(
      StringSchema({ description: '`<schema>_<instrument_id>` of the underlying' }),
    ),
    ...contractTerms,
    base_currency: Optional(
      nullable(StringSchema({ description: 'Currency that is bought; forex and crypto only' })),
    ),
    quote_currency: Optional(
      nullable(StringSchema({ description: 'Currency that it is priced in; forex and crypto only' })),
    ),
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
    schema_asset: path(assetSchema, 'the asset type'),
    country_symbol: path(countrySymbol, 'the country and the symbol'),
  },
  record: instrumentRecord,
  shape: 'single',
  refusals: ['unknown_instrument'],
});

export const instrumentSearch = endpoint({
  path: '/api/v2/{schema_asset}/reference/search',
  tag: 'reference',
  summary: 'Instruments whose symbol begins with, or whose name has words like, a text',
  parameters: {
    schema_asset: path(assetSchema, 'the asset type'),
    query: required(text('APP', { min: 1, max: 100 }), 'the text to look for'),
    country_iso_code: optional(country, 'the country'),
    limit: defaulted(
      limit(listLimits.instrumentSearch),
      listLimits.instrumentSearch.default,
      'how many instruments to give',
    ),
  },
  record: instrumentRecord,
  shape: 'list',
  extension: true,
});
