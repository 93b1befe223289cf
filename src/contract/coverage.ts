// Coverage: what is stored of which series (contract 9.9).
import { endpoint } from './endpoint.ts';
import { dateTime, integer, nullable, oneOf, record, text } from './fields.ts';
import * as kind from './kinds.ts';
import { limits, listLimits } from './limits.ts';
import { extraSort, formats, instrument, limit, nextPageKey, optional } from './parameter.ts';
import { priceBases } from './price-basis.ts';

/** One stored series on the wire. */
export const seriesRecord = record('Series', {
  asset_schema: [text('Asset type in upper case'), 'STOCK'],
  country_iso_code: [text('Country or `GLOBAL`'), 'US'],
  symbol: [text('Trading symbol'), 'AAPL'],
  interval: [text('Interval of the stored bars'), '1M'],
  bars: [integer('Stored bars'), 390],
  first_datetime: [dateTime('Open of the first stored bar, UTC'), '2025-03-03T14:30:00+00:00'],
  last_datetime: [dateTime('Open of the last stored bar, UTC'), '2025-03-03T20:59:00+00:00'],
  complete_through: [
    nullable(dateTime('The imports vouch for the series up to this instant, UTC; null where none does')),
    '2025-03-04T01:00:00+00:00',
  ],
  price_basis: [oneOf(priceBases, 'Adjustment that the prices had before the import'), 'raw'],
  runs: [integer('Imports that vouch for the series and were not undone'), 1],
});

export const seriesCoverage = endpoint({
  path: '/api/v2/{schema_asset}/coverage',
  tag: 'coverage',
  summary: 'The stored series of an asset type',
  parameters: {
    schema_asset: instrument.schema_asset,
    country_iso_code: optional(kind.country, 'the country'),
    query: optional(
      kind.text('APP', { min: 1, max: limits.searchCharactersMax }),
      'the beginning of the symbol',
    ),
    interval: optional(kind.interval, 'the interval of the stored bars'),
    sort: extraSort('the order of the series by symbol, country and interval'),
    limit: limit(listLimits.coverage, 'series'),
    ...formats('json'),
    next_page_key: nextPageKey,
  },
  record: seriesRecord,
  shape: 'paged',
  extension: true,
});
