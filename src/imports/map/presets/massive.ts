// Massive (formerly Polygon.io): flat files of one day of all tickers, minute or day aggregates; and news,
// answers of /v2/reference/news, a row for each ticker of an article.
import { type Sample, stemOf } from '../../read/sample.ts';
import { quoted } from '../../read/scan.ts';
import { type Cell, inputsOf } from '../cell.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import {
  contains,
  doubtOfDate,
  firstCells,
  fitsAnswer,
  forex,
  known,
  type Preset,
  rowsBelow,
  volumeOf,
} from './preset.ts';

/** Asset type and country by the prefix of a ticker. */
const kinds: Readonly<Record<string, { asset_schema: string; country_iso_code: string }>> = {
  'O:': { asset_schema: 'option', country_iso_code: 'US' },
  'X:': { asset_schema: 'crypto', country_iso_code: 'GLOBAL' },
  'C:': forex,
  'I:': { asset_schema: 'stock', country_iso_code: 'US' },
  '': { asset_schema: 'stock', country_iso_code: 'US' },
};

const DAY_NS = 86_400_000_000_000n;
const HOUR_NS = 3.6e12;

/** The interval by Massive's folder, else by the rows: bars of days all begin at midnight. */
function intervalOf({ name }: Sample, starts: readonly string[]): string | null {
  const folder = /(minute|day)_aggs/.exec(name)?.[1];
  if (folder !== undefined) return folder === 'day' ? 'DAY' : '1M';
  if (starts.length < 2 || !starts.every((ns) => /^\d{19}$/.test(ns))) return null;
  return starts.every(isMidnight) ? 'DAY' : '1M';
}

/** Midnight of New York, or of UTC. */
const isMidnight = (ns: string): boolean => [0, 4, 5].includes(Number(BigInt(ns) % DAY_NS) / HOUR_NS);

/** The doubt where a file's name has another day than its first bar. */
const doubtOf = (sample: Sample, start = ''): { doubt?: string } =>
  /^\d{19}$/.test(start)
    ? doubtOfDate(/^\d{4}-\d{2}-\d{2}$/.exec(stemOf(sample))?.[0], Number(start) / 1e6)
    : {};

function mappingOf(sample: Sample): ColumnMapping {
  const header = firstCells(sample);
  const cells = (column: string) => rowsBelow(sample).map((row) => row[header.indexOf(column)] ?? '');
  const starts = cells('window_start');
  const prefix = /^[A-Z]:/.exec(cells('ticker')[0] ?? '')?.[0] ?? '';
  return {
    columns: {
      ...volumeOf(sample),
      datetime: 'window_start',
      symbol:
        prefix === ''
          ? 'ticker'
          : {
              sql: `case when starts_with({ticker}, '${prefix}') then substr({ticker}, 3) end`,
              isStrict: true,
              reason: `does not begin with ${prefix} like the first one: put each asset type into its own file`,
            },
    },
    values: known({ ...kinds[prefix], interval: intervalOf(sample, starts) }),
    prices: 'raw',
    symbols: 'then',
    notation: 'cqs',
    ...doubtOf(sample, starts[0]),
  };
}

export const massive: Preset = {
  name: 'massive',
  says: 'Massive (Polygon.io) flat files, minute and day aggregates of stocks, options, indices, crypto, forex',
  dataset: 'bars',
  example: [
    'ticker,volume,open,close,high,low,window_start,transactions',
    'AAPL,4930,200.29,200.5,200.63,200.29,1744792500000000000,129',
  ],
  fits: contains('ticker', 'open', 'close', 'high', 'low', 'window_start'),
  mappingOf,
};

const LIST = 'results[]';
const TICKER = `${LIST}.tickers[]`;
const INSIGHTS = `${LIST}.insights`;

/**
 * A field of a ticker's asset type and country, by its prefix; the ticker without a prefix is the last one.
 */
const byPrefix = (field: 'asset_schema' | 'country_iso_code'): Cell => ({
  sql: `case ${Object.entries(kinds)
    .map(([prefix, kind]) => `when starts_with({${TICKER}}, ${quoted(prefix)}) then ${quoted(kind[field])}`)
    .join(' ')} end`,
});

/** The sentiments of an article towards the row's ticker: several that differ are no word, and refused. */
const sentiment = `nullif(array_to_string(list_sort(list_distinct(list_transform(
  list_filter(from_json({${INSIGHTS}}, '["JSON"]'), lambda one: (one ->> '$.ticker') = {${TICKER}}),
  lambda one: one ->> '$.sentiment'))), ' and '), '')`;

const newsColumns: Readonly<Record<string, Cell>> = {
  published_date: `${LIST}.published_utc`,
  title: `${LIST}.title`,
  publisher_url: `${LIST}.article_url`,
  publisher: `${LIST}.publisher.name`,
  text_content: `${LIST}.description`,
  asset_name: byPrefix('asset_schema'),
  country_iso_code: byPrefix('country_iso_code'),
  symbol: { column: TICKER, remove: '^[OXCI]:' },
  sentiment_label: { sql: sentiment },
};

export const massiveNews: Preset = {
  name: 'massive-news',
  says: 'Massive (Polygon.io) news, answers of /v2/reference/news, with their sentiment for each ticker',
  dataset: 'news',
  example: [
    '{"results":[{"id":"8ec6","publisher":{"name":"The Wire"},"title":"Rates stay","published_utc":"2025-04-16T13:30:00Z",',
    '"article_url":"https://wire.example/1","tickers":["AAPL"],"insights":[{"ticker":"AAPL","sentiment":"neutral"}]}],"count":1}',
  ],
  fits: fitsAnswer(
    'results',
    ['published_utc', 'article_url', 'tickers'],
    Object.values(newsColumns).flatMap(inputsOf),
  ),
  mappingOf: () => ({ columns: newsColumns, values: {}, notation: 'cqs' }),
};
