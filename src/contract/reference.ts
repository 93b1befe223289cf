// Instrument reference: the record (spec 2.3), its endpoint (spec 4.2) and the search (contract 9.2).
import { anotherTime, endpoint, instrument, limit, optional, required } from './endpoint.ts';
import {
  boolean,
  date,
  integer,
  list,
  nullable,
  number,
  object,
  oneOf,
  optionalField,
  record,
  text,
} from './fields.ts';
import * as kind from './kinds.ts';
import { limits, listLimits } from './limits.ts';

const ranges = optionalField(list(text('HH:MM:SS-HH:MM:SS')));

/**
 * Fields that instrument and option contract records share, null if unknown (spec 2.3, 2.6); with the
 * values of their examples.
 */
export const contractTerms = (tick: number | null, lot: number | null, listed: string | null) =>
  ({
    contract_type: [nullable(text('Kind of contract')), null],
    price_precision: [nullable(integer('Decimals of prices')), null],
    quantity_precision: [nullable(integer('Decimals of quantities')), null],
    min_initial_open_quantity: [nullable(number('Smallest quantity that opens a position')), null],
    tick_size: [nullable(number('Smallest step of prices')), tick],
    lot_size: [nullable(number('Shares or units of one lot')), lot],
    listing_date: [nullable(date('First date of trading')), listed],
  }) as const;

/** One instrument on the wire (spec 2.3, contract 8.1). */
export const instrumentRecord = record('Instrument', {
  asset_schema: [text('Asset type in lower case'), 'stock'],
  symbol: [text('Trading symbol'), 'AAPL'],
  name: [nullable(text('Full name')), 'Apple Inc.'],
  exchange: [nullable(text('MIC, `GLOBAL` for crypto and forex, null if unknown')), 'XNAS'],
  country_iso_code: [text('Country or `GLOBAL`'), 'US'],
  currency: [nullable(text('Currency of the prices')), 'USD'],
  time_zone: [text('Time zone of the exchange'), 'America/New_York'],
  open_time: [nullable(text('Open of the regular session, HH:MM:SS')), '09:30:00'],
  close_time: [nullable(text('Close of the regular session, HH:MM:SS')), '16:00:00'],
  trading_hours: [
    object({ regular_trading: ranges, pre_market_trading: ranges, post_market_trading: ranges }),
    {
      regular_trading: ['09:30:00-16:00:00'],
      pre_market_trading: ['04:00:00-09:30:00'],
      post_market_trading: ['16:00:00-20:00:00'],
    },
  ],
  status: [oneOf(['active', 'inactive'], 'Whether it trades'), 'active'],
  calendar_key: [nullable(text('Calendar that it follows')), 'US_STOCK'],
  session_template: [nullable(text('Template of its sessions')), 'US_STOCK_RTH'],
  support_dst: [boolean('Whether its time zone has daylight saving'), true],
  support_week_trading: [boolean('Whether it trades at weekends'), false],
  underlying_name: [nullable(text('Symbol of the underlying')), 'AAPL'],
  instrument_id: [integer('Identifier, stable for the life of the instrument'), 1],
  asset_id: [integer('Identifier of the asset'), 1],
  is_indices: [boolean('Whether it is an index'), false],
  daily_minute_count: [nullable(integer('Minutes of a regular session')), 390],
  contract_value: [nullable(text('Units of one contract')), '1'],
  description: [nullable(text('Description of the instrument')), null],
  asset_subtype: [nullable(text('Kind within the asset type, such as `ETF`')), null],
  industry: [nullable(text('Industry of the company')), null],
  trading_codes: [nullable(text('Codes in other systems')), null],
  parent_schema_instrument_id: [nullable(text('`<schema>_<instrument_id>` of the underlying')), null],
  ...contractTerms(0.01, 1, '1980-12-12'),
  base_currency: [optionalField(nullable(text('Currency that is bought; forex and crypto only')))],
  quote_currency: [optionalField(nullable(text('Currency that it is priced in; forex and crypto only')))],
});

export const instrumentReference = endpoint({
  path: '/api/v2/{schema_asset}/reference/{country_symbol}',
  tag: 'reference',
  summary: 'The reference record of one instrument',
  parameters: { ...instrument, ...anotherTime },
  record: instrumentRecord,
  shape: 'single',
  refusals: ['unknown_instrument'],
});

export const instrumentSearch = endpoint({
  path: '/api/v2/{schema_asset}/reference/search',
  tag: 'reference',
  summary: 'Instruments whose symbol or name matches a text',
  parameters: {
    schema_asset: instrument.schema_asset,
    query: required(kind.text('APP', { min: 1, max: limits.searchCharactersMax }), 'the text to look for'),
    country_iso_code: optional(kind.country, 'the country'),
    limit: limit(listLimits.instrumentSearch, 'instruments'),
    ...anotherTime,
  },
  record: instrumentRecord,
  shape: 'list',
  extension: true,
});
