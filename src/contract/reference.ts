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
  contract_type: nullable(StringSchema()),
  price_precision: nullable(Integer()),
  quantity_precision: nullable(Integer()),
  min_initial_open_quantity: nullable(NumberSchema()),
  tick_size: nullable(NumberSchema()),
  lot_size: nullable(NumberSchema()),
  listing_date: nullable(StringSchema({ format: 'date' })),
};

/** One instrument on the wire (spec 2.3, contract 8.1). */
export const instrumentRecord = ObjectSchema({
  asset_schema: StringSchema({ description: 'Asset type in lower case' }),
  symbol: StringSchema(),
  name: nullable(StringSchema()),
  exchange: nullable(StringSchema()),
  country_iso_code: StringSchema(),
  currency: nullable(StringSchema()),
  time_zone: StringSchema(),
  open_time: nullable(StringSchema()),
  close_time: nullable(StringSchema()),
  trading_hours: Partial(
    ObjectSchema({ regular_trading: ranges, pre_market_trading: ranges, post_market_trading: ranges }),
  ),
  status: Enum(['active', 'inactive']),
  calendar_key: nullable(StringSchema()),
  session_template: nullable(StringSchema()),
  support_dst: BooleanSchema(),
  support_week_trading: BooleanSchema(),
  underlying_name: nullable(StringSchema()),
  instrument_id: Integer(),
  asset_id: Integer(),
  is_indices: BooleanSchema(),
  daily_minute_count: nullable(Integer()),
  contract_value: nullable(StringSchema()),
  description: nullable(StringSchema()),
  asset_subtype: nullable(StringSchema()),
  industry: nullable(StringSchema()),
  trading_codes: nullable(StringSchema()),
  parent_schema_instrument_id: nullable(StringSchema()),
  ...contractTerms,
  base_currency: Optional(nullable(StringSchema())),
  quote_currency: Optional(nullable(StringSchema())),
});

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
