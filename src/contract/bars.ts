// OHLC bars: the record (spec 2.10) and its endpoints, historical (spec 4.10) and latest (spec 4.11).
import { Object as ObjectSchema, Optional } from 'typebox';
import { endpoint } from './endpoint.ts';
import { date, dateTime, nullable, number, text } from './fields.ts';
import * as kind from './kinds.ts';
import { listLimits } from './limits.ts';
import {
  defaulted,
  extension,
  formats,
  limit,
  nextPageKey,
  optional,
  path,
  sort,
  unbound,
} from './parameter.ts';

/** One bar on the wire (spec 2.10). `session_date` is present only with `session_date=true` (contract 9.5). */
export const barRecord = ObjectSchema(
  {
    asset_schema: text('Asset type in upper case'),
    interval: text('Interval code in upper case'),
    country_iso_code: text('Country of the instrument'),
    exchange: nullable(text('MIC, null where unknown')),
    symbol: text('Symbol of the instrument'),
    datetime: dateTime('Open of the bar, UTC'),
    close_datetime: dateTime('Nominal end of the bar, UTC'),
    session_date: Optional(date('Label date of the session; with session_date=true')),
    open: number('First price'),
    high: number('Highest price'),
    low: number('Lowest price'),
    close: number('Last price'),
    volume: nullable(number('Volume, null where unknown')),
    vwap: nullable(number('Volume weighted average price, when available')),
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
  schema_asset: path(kind.assetSchema, 'the asset type'),
  country_symbol: path(kind.countrySymbol, 'the country and the symbol'),
  interval: path(kind.interval, 'the interval of the bars'),
};

const shared = {
  ...formats('json'),
  limit: limit(listLimits.bars, 'bars'),
  is_eth: defaulted(kind.flag, false, 'whether to include extended trading hours where the market has them'),
  session_date: extension(
    unbound(defaulted(kind.flag, false, 'whether to add the label date of the session')),
  ),
  adjust: extension(
    defaulted(
      kind.oneOf(['none', 'split', 'dividend', 'all']),
      'none',
      'which corporate actions earlier prices are adjusted for',
    ),
  ),
  adjust_as_of: extension(
    unbound(
      optional(kind.date, "the last ex-date to adjust for; by default today in the market's time zone"),
    ),
  ),
};

export const historicalBars = endpoint({
  path: '/api/v2/{schema_asset}/bars/{country_symbol}/{interval}/from/{from_date}/to/{to_date}',
  tag: 'bars',
  summary: 'OHLC bars of one instrument that open in a range',
  parameters: {
    ...instrument,
    from_date: path(kind.dateTime, 'the first open to return'),
    to_date: path(kind.dateTime, 'the last open to return; a date alone covers that whole day'),
    ...shared,
    sort: sort('asc', 'the order of the bars by their open'),
    next_page_key: nextPageKey,
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
