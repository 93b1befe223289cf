// OHLC bars: the record (spec 2.10) and its endpoints, historical (spec 4.10) and latest (spec 4.11).
import { Number as NumberSchema, Object as ObjectSchema, Optional, String as StringSchema } from 'typebox';
import { endpoint } from './endpoint.ts';
import { nullable } from './envelope.ts';
import { listLimits } from './limits.ts';
import {
  assetSchema,
  countrySymbol,
  dateTime,
  defaulted,
  extension,
  flag,
  formats,
  interval,
  limit,
  oneOf,
  optional,
  pageKey,
  path,
} from './parameter.ts';

/** One bar on the wire (spec 2.10). `session_date` is there only when it was asked for (contract 9.5). */
export const barRecord = ObjectSchema({
  asset_schema: StringSchema({ description: 'Asset type in upper case' }),
  interval: StringSchema({ description: 'Interval code in upper case' }),
  country_iso_code: StringSchema(),
  exchange: nullable(StringSchema({ description: 'MIC, null where unknown' })),
  symbol: StringSchema(),
  datetime: StringSchema({ format: 'date-time', description: 'Open of the bar, UTC' }),
  close_datetime: StringSchema({ format: 'date-time', description: 'Nominal end of the bar, UTC' }),
  session_date: Optional(
    StringSchema({ format: 'date', description: 'Label date of the session; with session_date=true' }),
  ),
  open: NumberSchema(),
  high: NumberSchema(),
  low: NumberSchema(),
  close: NumberSchema(),
  volume: nullable(NumberSchema()),
  vwap: nullable(NumberSchema({ description: 'Volume weighted average price, when available' })),
});

const instrument = {
  schema_asset: path(assetSchema, 'the asset type'),
  country_symbol: path(countrySymbol, 'the country and the symbol'),
  interval: path(interval, 'the interval of the bars'),
};

const shared = {
  ...formats('json'),
  limit: defaulted(limit(listLimits.bars), listLimits.bars.default, 'how many bars to give'),
  is_eth: defaulted(flag, false, 'whether to include extended trading hours where the market has them'),
  session_date: extension(defaulted(flag, false, 'whether to add the label date of the session')),
};

export const historicalBars = endpoint({
  path: '/api/v2/{schema_asset}/bars/{country_symbol}/{interval}/from/{from_date}/to/{to_date}',
  tag: 'bars',
  summary: 'OHLC bars of one instrument whose opens lie in a range',
  parameters: {
    ...instrument,
    from_date: path(dateTime, 'the first open to give'),
    to_date: path(dateTime, 'the last open to give; a date alone covers that whole day'),
    ...shared,
    sort: defaulted(oneOf(['asc', 'desc']), 'asc', 'the order of the bars by their open'),
    next_page_key: optional(pageKey, 'the key of the next page'),
  },
  record: barRecord,
  shape: 'paged',
});

export const latestBars = endpoint({
  path: '/api/v2/{schema_asset}/bars/{country_symbol}/{interval}/latest',
  tag: 'bars',
  summary: 'The newest completed OHLC bars of one instrument, in ascending order',
  parameters: { ...instrument, ...shared },
  record: barRecord,
  shape: 'list',
});
