// OHLC bars: the record (spec 2.10) and its endpoints, historical (spec 4.10) and latest (spec 4.11).
import { Number as NumberSchema, Object as ObjectSchema, Optional, String as StringSchema } from 'typebox';
import { endpoint } from './endpoint.ts';
import { nullable } from './envelope.ts';
import { listLimits } from './limits.ts';
import {
  assetSchema,
  countrySymbol,
  date,
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
export const barRecord = ObjectSchema(
  {
    asset_schema: StringSchema({ description: 'Asset type in upper case' }),
    interval: StringSchema({ description: 'Interval code in upper case' }),
    country_iso_code: StringSchema({ description: 'Country of the instrument' }),
    exchange: nullable(StringSchema({ description: 'MIC, null where unknown' })),
    symbol: StringSchema({ description: 'Symbol of the instrument' }),
    datetime: StringSchema({ format: 'date-time', description: 'Open of the bar, UTC' }),
    close_datetime: StringSchema({ format: 'date-time', description: 'Nominal end of the bar, UTC' }),
    session_date: Optional(
      StringSchema({ format: 'date', description: 'Label date of the session; with session_date=true' }),
    ),
    open: NumberSchema({ description: 'First price' }),
    high: NumberSchema({ description: 'Highest price' }),
    low: NumberSchema({ description: 'Lowest price' }),
    close: NumberSchema({ description: 'Last price' }),
    volume: nullable(NumberSchema({ description: 'Volume, null where unknown' })),
    vwap: nullable(NumberSchema({ description: 'Volume weighted average price, when available' })),
  },
  {
    title: 'Bar',
    examples: [
      {
        asset_schema: 'STOCK',
        interval: '1M',
        country_iso_code: 'US',
        exchange: 'XNAS',
        symbol: 'AAPL',
        datetime: '2025-03-03T14:30:00+00:00',
        close_datetime: '2025-03-03T14:31:00+00:00',
        open: 241.79,
        high: 242.4,
        low: 241.5,
        close: 242.1,
        volume: 1048576,
        vwap: 241.98,
      },
    ],
  },
);

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
  adjust: extension(
    defaulted(oneOf(['none', 'split', 'dividend', 'all']), 'none', 'by what earlier prices are adjusted'),
  ),
  adjust_as_of: extension(
    optional(date, "the last ex-date that adjusts; without it today, in the market's time zone"),
  ),
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
  refusals: ['unknown_instrument'],
});

export const latestBars = endpoint({
  path: '/api/v2/{schema_asset}/bars/{country_symbol}/{interval}/latest',
  tag: 'bars',
  summary: 'The newest completed OHLC bars of one instrument, in ascending order',
  parameters: { ...instrument, ...shared },
  record: barRecord,
  shape: 'list',
  refusals: ['unknown_instrument'],
});
