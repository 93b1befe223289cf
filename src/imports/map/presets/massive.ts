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
  minutesOf,
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

/** The symbol of a ticker that has the prefix of the file's first one. */
const symbolCell = (prefix: string): Cell =>
  prefix === ''
    ? 'ticker'
    : {
        sql: `case when starts_with({ticker}, '${prefix}') then substr({ticker}, 3) end`,
        isStrict: true,
        reason: `does not begin with ${prefix} like the first one: put each asset type into its own file`,
      };

function mappingOf(sample: Sample): ColumnMapping {
  const header = firstCells(sample);
  const cells = (column: string) => rowsBelow(sample).map((row) => row[header.indexOf(column)] ?? '');
  const starts = cells('window_start');
  const prefix = /^[A-Z]:/.exec(cells('ticker')[0] ?? '')?.[0] ?? '';
  return {
    columns: {
      ...volumeOf(sample),
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

/** Makes the preset of answers whose `results` are a list of objects with some keys. */
const answers = (
  preset: Pick<Preset, 'name' | 'says' | 'dataset' | 'example'>,
  keys: readonly string[],
  columns: Readonly<Record<string, Cell>>,
  values: Readonly<Record<string, string>>,
): Preset => ({
  ...preset,
  fits: fitsAnswer('results', keys, Object.values(columns).flatMap(inputsOf)),
  mappingOf: ({ text }) => ({
    // A key that no object of an answer has gives no column.
    columns: Object.fromEntries(
      Object.entries(columns).filter(([, cell]) =>
        inputsOf(cell).every((path) => text.includes(`"${path.slice(LIST.length + 1)}"`)),
      ),
    ),
    values,
    notation: 'cqs',
  }),
});

/** Source: massive.com/docs, /v3/reference/dividends. */
export const massiveDividends = answers(
  {
    name: 'massive-dividends',
    says: 'Massive (Polygon.io) dividends, answers of /v3/reference/dividends',
    dataset: 'corporate-actions',
    example: [
      '{"results":[{"cash_amount":0.25,"currency":"USD","declaration_date":"2024-10-31","dividend_type":"CD","ex_dividend_date":"2024-11-08","frequency":4,"id":"E416","pay_date":"2024-11-14","record_date":"2024-11-11","ticker":"AAPL"}],"status":"OK"}',
    ],
  },
  ['cash_amount', 'ex_dividend_date', 'dividend_type', 'ticker'],
  {
    symbol: `${LIST}.ticker`,
    ex_date: `${LIST}.ex_dividend_date`,
    cash_amount: `${LIST}.cash_amount`,
    currency: `${LIST}.currency`,
    declaration_date: `${LIST}.declaration_date`,
    record_date: `${LIST}.record_date`,
    pay_date: `${LIST}.pay_date`,
  },
  { country_iso_code: 'US', action_type: 'dividend' },
);

/** Source: massive.com/docs, /v3/reference/splits. */
export const massiveSplits = answers(
  {
    name: 'massive-splits',
    says: 'Massive (Polygon.io) splits, answers of /v3/reference/splits',
    dataset: 'corporate-actions',
    example: [
      '{"results":[{"execution_date":"2020-08-31","id":"E36","split_from":1,"split_to":4,"ticker":"AAPL"}],"status":"OK"}',
    ],
  },
  ['execution_date', 'split_from', 'split_to', 'ticker'],
  {
    symbol: `${LIST}.ticker`,
    ex_date: `${LIST}.execution_date`,
    split_from: `${LIST}.split_from`,
    split_to: `${LIST}.split_to`,
  },
  { country_iso_code: 'US', action_type: 'split' },
);

/** Source: massive.com/docs, /v3/reference/options/contracts. */
export const massiveContracts = answers(
  {
    name: 'massive-contracts',
    says: 'Massive (Polygon.io) option contracts, answers of /v3/reference/options/contracts',
    dataset: 'option-contracts',
    example: [
      '{"results":[{"cfi":"OCASPS","contract_type":"call","exercise_style":"american","expiration_date":"2026-01-16","primary_exchange":"BATO","shares_per_contract":100,"strike_price":200,"ticker":"O:AAPL260116C00200000","underlying_ticker":"AAPL"}],"status":"OK"}',
    ],
  },
  ['contract_type', 'expiration_date', 'shares_per_contract', 'underlying_ticker'],
  {
    symbol: `${LIST}.ticker`,
    underlying_name: { column: `${LIST}.underlying_ticker`, remove: '^I:' },
    expiration_date: `${LIST}.expiration_date`,
    option_type: `${LIST}.contract_type`,
    strike_price: `${LIST}.strike_price`,
    exercise_style: `${LIST}.exercise_style`,
    contract_value: `${LIST}.shares_per_contract`,
  },
  { country_iso_code: 'US', parent_asset_schema: 'stock' },
);

const BAR = 'results[]';

/** Source: massive.com/docs, /v2/aggs/ticker/…: `t` is the open in milliseconds; `adjusted` is for splits. */
export const massiveAggregates: Preset = {
  name: 'massive-aggregates',
  says: 'Massive (Polygon.io) bars of one ticker, answers of /v2/aggs/ticker/…',
  dataset: 'bars',
  example: [
    '{"ticker":"AAPL","queryCount":1,"resultsCount":1,"adjusted":true,"results":[{"v":70790813,"vw":131.6292,"o":130.465,"c":130.15,"h":133.41,"l":129.89,"t":1673240400000,"n":645365}],"status":"OK"}',
  ],
  fits: fitsAnswer(
    'results',
    ['ticker', 'resultsCount', 'adjusted', 't', 'o', 'h', 'l', 'c'],
    ['ticker', `${BAR}.t`, `${BAR}.o`],
  ),
  mappingOf({ text }) {
    const prefix = /"ticker"\s*:\s*"([A-Z]:)?/.exec(text)?.[1] ?? '';
    const times = [...text.matchAll(/"t"\s*:\s*(\d+)/g)].map(([, at]) => Number(at) / 1000);
    const given = (key: string) => (text.includes(`"${key}"`) ? `${BAR}.${key}` : null);
    return {
      columns: {
        ...known({
          ...{ datetime: `${BAR}.t`, open: `${BAR}.o`, high: `${BAR}.h`, low: `${BAR}.l`, close: `${BAR}.c` },
          ...{ volume: given('v'), vwap: given('vw') },
        }),
        symbol: symbolCell(prefix),
      },
      values: known({ ...kinds[prefix], interval: minutesOf(times) }),
      // Only stocks have splits: bars of others are one series with those of flat files.
      prices: prefix === '' && /"adjusted"\s*:\s*true/.test(text) ? 'split' : 'raw',
      symbols: 'now',
      notation: 'cqs',
    };
  },
};
