// Massive (formerly Polygon.io): flat files of one day of all tickers, minute or day aggregates; and news,
// answers of /v2/reference/news, a row for each ticker of an article.
import { type Sample, stemOf } from '../../read/sample.ts';
import { quoted } from '../../read/scan.ts';
import { type Cell, inputsOf } from '../cell.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import {
  cellsBelow,
  contains,
  doubtOfDate,
  fitsAnswer,
  forex,
  given,
  isMended,
  known,
  lower,
  minutesOf,
  type Preset,
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

/** The symbol of a ticker that has the prefix of the file's first one. */
const symbolCell = (prefix: string, ticker = 'ticker'): Cell =>
  prefix === ''
    ? ticker
    : {
        sql: `case when starts_with({${ticker}}, '${prefix}') then substr({${ticker}}, 3) end`,
        isStrict: true,
        reason: `does not begin with ${prefix} like the first one: put each asset type into its own file`,
      };

function mappingOf(sample: Sample): ColumnMapping {
  const starts = cellsBelow(sample, 'window_start');
  const prefix = /^[A-Z]:/.exec(cellsBelow(sample, 'ticker')[0] ?? '')?.[0] ?? '';
  return {
    columns: {
      ...given(sample, { volume: 'volume' }),
      datetime: 'window_start',
      symbol: symbolCell(prefix),
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

const BAR = 'results[]';

/**
 * The price basis of bars by Massive: only stocks have splits; bars of others are one series with those of
 * flat files.
 */
const basisOf = (prefix: string, text: string) =>
  prefix === '' && /"adjusted"\s*:\s*true/.test(text) ? 'split' : 'raw';

/** The columns of bars in an answer. */
const barColumns = (text: string): Record<string, string> => {
  const keyOf = (key: string) => (text.includes(`"${key}"`) ? `${BAR}.${key}` : null);
  return known({
    ...{ datetime: `${BAR}.t`, open: `${BAR}.o`, high: `${BAR}.h`, low: `${BAR}.l`, close: `${BAR}.c` },
    ...{ volume: keyOf('v'), vwap: keyOf('vw') },
  });
};

/**
 * Source: massive.com/docs/rest/stocks/aggregates/custom-bars.md and github.com/massive-com/client-python,
 * test_rest/mocks/v2/aggs: `t` is the start of the window in milliseconds, `adjusted` is for splits, true by
 * default.
 */
export const massiveAggregates: Preset = {
  name: 'massive-aggregates',
  says: 'Massive (Polygon.io) bars of one ticker, answers of /v2/aggs/ticker/…',
  dataset: 'bars',
  example: [
    '{"ticker":"AAPL","queryCount":1,"resultsCount":1,"adjusted":true,"results":[{"v":70790813,"vw":131.6292,"o":130.465,"c":130.15,"h":133.41,"l":129.89,"t":1673240400000,"n":645365}],"status":"OK"}',
  ],
  fits: (sample) =>
    sample.text.includes('"T"')
      ? 'no'
      : fitsAnswer(
          'results',
          ['ticker', 'resultsCount', 'adjusted', 't', 'o', 'h', 'l', 'c'],
          ['ticker', `${BAR}.t`, `${BAR}.o`],
        )(sample),
  mappingOf({ text }) {
    const prefix = /"ticker"\s*:\s*"([A-Z]:)?/.exec(text)?.[1] ?? '';
    const times = [...text.matchAll(/"t"\s*:\s*(\d+)/g)].map(([, at]) => Number(at) / 1000);
    return {
      columns: { ...barColumns(text), symbol: symbolCell(prefix) },
      values: known({ ...kinds[prefix], interval: minutesOf(times) }),
      prices: basisOf(prefix, text),
      symbols: 'now',
      notation: 'cqs',
    };
  },
};

const groupedKeys = ['t', 'o', 'h', 'l', 'c', 'v', 'vw'];
const groupedColumns = ['symbol', ...groupedKeys];

/** Keys that differ in case alone are told apart by paths of JSON, not by DuckDB's columns. */
const groupedQuery = `select bar->>'$.T' as symbol, ${groupedKeys.map((key) => `bar->>'$.${key}' as ${key}`).join()}
  from (select unnest(from_json(results, '["JSON"]')) as bar from {file})`;

/**
 * Source: client-python, test_rest/mocks/v2/aggs/grouped and prev.json: a day of each ticker, `T`; `t` is the end
 * of the window, at the close.
 */
export const massiveGrouped: Preset = {
  name: 'massive-grouped',
  says: 'Massive (Polygon.io) days of all tickers, answers of /v2/aggs/grouped/…, and of /prev',
  dataset: 'bars',
  example: [
    '{"queryCount":1,"resultsCount":1,"adjusted":true,"results":[{"T":"GIK","v":895345,"vw":9.9979,"o":9.99,"c":10.02,"h":10.02,"l":9.9,"t":1602705600000,"n":96}],"status":"OK"}',
  ],
  fits: (sample) =>
    isMended(sample, groupedColumns)
      ? 'surely'
      : fitsAnswer('results', ['resultsCount', 'adjusted', 'T', 't', 'o', 'h', 'l', 'c'], ['T'])(sample),
  mappingOf({ text }) {
    const prefix = /"T"\s*:\s*"([A-Z]:)/.exec(text)?.[1] ?? '';
    return {
      header: groupedColumns,
      records: { keys: ['results'], query: groupedQuery },
      columns: {
        ...{ datetime: 't', open: 'o', high: 'h', low: 'l', close: 'c', volume: 'v', vwap: 'vw' },
        symbol: symbolCell(prefix, 'symbol'),
      },
      values: { ...kinds[prefix], interval: 'DAY' },
      prices: basisOf(prefix, text),
      symbols: 'now',
      notation: 'cqs',
    };
  },
};

/**
 * Source: client-python, massive/rest/models/aggs.py, whose objects pandas writes as these columns, and
 * examples/rest/stocks-aggregates_bars_extra.py. The client asks for bars that are adjusted for splits
 * unless it is told not to.
 */
export const massiveFrame: Preset = {
  name: 'massive-frame',
  says: "Bars of one ticker by Massive's Python client: DataFrame(client.list_aggs(…)).to_csv()",
  dataset: 'bars',
  example: [
    ',open,high,low,close,volume,vwap,timestamp,transactions,otc',
    '0,130.465,133.41,129.89,130.15,70790813,131.6292,1673240400000,645365,',
  ],
  fits: contains('open', 'high', 'low', 'close', 'volume', 'vwap', 'timestamp', 'transactions', 'otc'),
  mappingOf: (sample) => ({
    columns: { ...lower, datetime: 'timestamp', vwap: 'vwap' },
    values: known({ interval: minutesOf(cellsBelow(sample, 'timestamp').map((ms) => Number(ms) / 1000)) }),
    prices: 'split',
    symbols: 'now',
    notation: 'cqs',
  }),
};
