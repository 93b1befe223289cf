// Massive (formerly Polygon.io) news: answers of /v2/reference/news, a row for each ticker of an article.
import { quoted } from '../../read/computed-column.ts';
import { type Cell, inputsOf } from '../cell.ts';
import { kinds } from './massive.ts';
import { fitsAnswer, type Preset } from './preset.ts';

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

const columns: Readonly<Record<string, Cell>> = {
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
    Object.values(columns).flatMap(inputsOf),
  ),
  mappingOf: () => ({ columns, values: {}, notation: 'cqs' }),
};
