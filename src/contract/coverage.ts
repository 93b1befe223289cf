// Coverage: what is stored of which series (contract 9.9).
import {
  anotherTime,
  endpoint,
  extraSort,
  formats,
  instrument,
  limit,
  nextPageKey,
  optional,
} from './endpoint.ts';
import { date, dateTime, integer, nullable, number, oneOf, record, text } from './fields.ts';
import { priceBases } from './file-words.ts';
import * as kind from './kinds.ts';
import { limits, listLimits } from './limits.ts';

/** One stored series on the wire. */
const seriesRecord = record('Series', {
  asset_schema: [text('Asset type in upper case'), 'STOCK'],
  country_iso_code: [text('Country or `GLOBAL`'), 'US'],
  symbol: [text('Trading symbol'), 'AAPL'],
  interval: [text('Interval of the stored bars'), '1M'],
  bars: [integer('Stored bars'), 390],
  first_datetime: [dateTime('Open of the first stored bar, UTC'), '2025-03-03T14:30:00+00:00'],
  last_datetime: [dateTime('Open of the last stored bar, UTC'), '2025-03-03T20:59:00+00:00'],
  complete_through: [
    nullable(dateTime('End of the time that its imports cover, UTC; null if they cover none')),
    '2025-03-04T01:00:00+00:00',
  ],
  price_basis: [oneOf(priceBases, 'Adjustment that the prices had before the import'), 'raw'],
  runs: [integer('Imports that have bars of the series; undone ones do not count'), 1],
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
    ...anotherTime,
  },
  record: seriesRecord,
  shape: 'paged',
  extension: true,
});

/** The possible conditions of a session of a series. */
export const sessionConditions = ['available', 'degraded', 'untraded', 'missing', 'pending'] as const;

/** One session of an instrument on the wire. */
const sessionRecord = record('Session', {
  session_date: [date('Label date of the session'), '2025-03-03'],
  interval: [text('Interval of the bars'), '1M'],
  source: [
    oneOf(['stored', 'derived'], 'Whether bars of the interval are stored, or derived from finer ones'),
    'stored',
  ],
  condition: [oneOf(sessionConditions, 'State of the session'), 'available'],
  bars: [integer('Bars of regular hours, as the bars endpoint returns them without is_eth'), 390],
  expected_bars: [integer('Number of bars that regular hours can have'), 390],
  first_datetime: [nullable(dateTime('Open of the first of the bars, UTC')), '2025-03-03T14:30:00+00:00'],
  last_datetime: [nullable(dateTime('Open of the last of the bars, UTC')), '2025-03-03T20:59:00+00:00'],
  longest_gap_minutes: [
    nullable(number('Longest time in regular hours without a bar; null for DAY, which has one bar')),
    0,
  ],
  run_id: [
    nullable(
      integer('The run that last changed the block of stored bars, or that covers the untraded session'),
    ),
    1,
  ],
  file: [nullable(text('The file of that run')), 'aapl.csv'],
  last_modified_date: [nullable(dateTime('When that run ended, UTC')), '2025-03-04T02:00:00+00:00'],
});

export const sessionCoverage = endpoint({
  path: '/api/v2/{schema_asset}/coverage/{country_symbol}',
  tag: 'coverage',
  summary: 'The sessions of an instrument: which have bars, and which lack some',
  parameters: {
    ...instrument,
    interval: optional(
      kind.interval,
      'the interval of the bars, up to DAY; by default the finest stored one',
    ),
    from_date: optional(kind.date, 'the label date of the first session'),
    to_date: optional(kind.date, 'the label date of the last session'),
    sort: extraSort('the order of the sessions'),
    limit: limit(listLimits.coverage, 'sessions'),
    ...formats('json'),
    next_page_key: nextPageKey,
    ...anotherTime,
  },
  record: sessionRecord,
  shape: 'paged',
  refusals: ['unknown_instrument'],
  extension: true,
});
