// Alpaca: historical bars of one symbol or several, the JSON of its API or the frame of its Python package;
// and news, a row for each symbol of an article.
import type { Sample } from '../../read/sample.ts';
import { type Cell, inputsOf } from '../cell.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import {
  cellsBelow,
  contains,
  digits,
  fitsAnswer,
  given,
  isMended,
  known,
  lower,
  minutesOf,
  type Preset,
} from './preset.ts';

/** `{"bars": [{"t": …}], "symbol": "AAPL"}`, or `{"bars": {"AAPL": [{"t": …}]}}`, and no other keys. */
const START =
  /^\s*\{(?:\s*"(?:symbol|next_page_token|currency)"\s*:\s*(?:null|"[^"]*")\s*,)*\s*"bars"\s*:\s*(?:\[|\{\s*"([^"]+)"\s*:\s*\[)\s*\{([^}]*)\}/;

const keys = ['t', 'o', 'h', 'l', 'c', 'v'];

/** Characters of a symbol that each of its bars repeats: more than any has. */
const SYMBOL_MAX = 1_000;

/** The bars of every page, with their symbol; a file may have several pages. */
const query = `select ${[...keys, 'vw'].map((key) => `bar->>'$.${key}' as ${key}`).join()}, symbol from (
  select left(coalesce(named, symbol->>'$'), ${SYMBOL_MAX}) as symbol,
    unnest(from_json(case when named is null then bars else json_extract(bars, '$."' || named || '"') end, '["JSON"]')) as bar
  from (select bars, symbol, unnest(case when json_type(bars) = 'OBJECT' then json_keys(bars) else [null] end) as named from {file}))`;

/** The asset types by the form of a symbol: the first that fits. */
const kinds = [
  { asset_schema: 'crypto', country_iso_code: 'GLOBAL', form: '/' },
  { asset_schema: 'option', country_iso_code: 'US', form: `^[A-Z]+${digits(6)}[CP]${digits(8)}$` },
  { asset_schema: 'stock', country_iso_code: 'US', form: '' },
];

/** The asset type of a column of symbols. */
const KIND = `case ${kinds.map(({ asset_schema, form }) => `when regexp_matches({symbol}, '${form}') then '${asset_schema}'`).join(' ')} end`;

/** The asset type of a file by its first symbol, and the symbols of that type. */
function market(symbol: string | undefined) {
  const kind = kinds.find(({ form }) => symbol !== undefined && new RegExp(form).test(symbol));
  if (kind === undefined) return { values: {}, cells: {} };
  const { asset_schema, country_iso_code } = kind;
  const ofKind: Cell = {
    sql: `case when ${KIND} = '${asset_schema}' then {symbol} end`,
    isStrict: true,
    reason: `is no ${asset_schema} like the first one: put each asset type into its own file`,
  };
  return { values: { asset_schema, country_iso_code }, cells: { symbol: ofKind } };
}

const columns = [...keys, 'vw', 'symbol'];

function mappingOf({ text }: Sample): ColumnMapping {
  const symbol = START.exec(text)?.[1] ?? /"symbol"\s*:\s*"([^"]+)"/.exec(text)?.[1];
  const { values, cells } = market(symbol);
  const times = [...text.matchAll(/"t"\s*:\s*"([^"]+)"/g)].map(([, at]) => Date.parse(at!) / 1000);
  return {
    header: columns,
    records: { keys: ['bars', 'symbol'], query },
    columns: { datetime: 't', open: 'o', high: 'h', low: 'l', close: 'c', volume: 'v', vwap: 'vw', ...cells },
    values: { ...values, ...known({ interval: minutesOf(times) }) },
    prices: 'raw',
    // The symbol of a contract is that of its time: it never changes.
    symbols: values.asset_schema === 'option' ? 'then' : 'now',
  };
}

export const alpaca: Preset = {
  name: 'alpaca',
  says: 'Alpaca historical bars, the JSON of its API, of one symbol or several',
  dataset: 'bars',
  example: [
    '{"bars":{"AAPL":[{"t":"2025-04-16T13:30:00Z","o":198.36,"h":198.9,"l":197.8,"c":198.11,"v":3120410,"n":29180,"vw":198.3}]},"next_page_token":null}',
  ],
  fits(sample) {
    if (isMended(sample, columns)) return 'surely';
    const [, , bar = ''] = START.exec(sample.text) ?? [];
    return keys.every((key) => bar.includes(`"${key}"`)) ? 'surely' : 'no';
  },
  mappingOf,
};

/**
 * Source: github.com/alpacahq/alpaca-py, alpaca/data/models/bars.py (the time is that of the open) and
 * base.py (the frame of `.df` has the index symbol, timestamp; columns without a value are left out). What
 * was asked for is not in it: bars count as raw, Alpaca's default.
 */
export const alpacaPy: Preset = {
  name: 'alpaca-py',
  says: 'Bars of the Python package alpaca-py: get_stock_bars(…).df.to_csv()',
  dataset: 'bars',
  example: [
    'symbol,timestamp,open,high,low,close,volume,trade_count,vwap',
    'AAPL,2025-04-16 13:30:00+00:00,198.36,198.9,197.8,198.11,3120410.0,29180.0,198.3',
  ],
  fits: contains('symbol', 'timestamp', ...Object.keys(lower), 'trade_count'),
  mappingOf(sample) {
    const { values, cells } = market(cellsBelow(sample, 'symbol')[0]);
    const times = cellsBelow(sample, 'timestamp').map((at) => Date.parse(at.replace(' ', 'T')) / 1000);
    return {
      columns: { ...lower, datetime: 'timestamp', ...given(sample, { vwap: 'vwap' }), ...cells },
      values: { ...values, ...known({ interval: minutesOf(times) }) },
      prices: 'raw',
      symbols: values.asset_schema === 'option' ? 'then' : 'now',
    };
  },
};

const LIST = 'news[]';
const SYMBOL = `${LIST}.symbols[]`;

/** Pairs are written BTCUSD or BTC/USD. No stock of the US has a symbol of six letters. */
const isPair = `(contains({${SYMBOL}}, '/') or regexp_matches({${SYMBOL}}, '^[A-Z0-9][A-Z0-9][A-Z0-9]+USD$'))`;

const newsColumns: Readonly<Record<string, Cell>> = {
  published_date: `${LIST}.created_at`,
  title: `${LIST}.headline`,
  publisher_url: `${LIST}.url`,
  publisher: `${LIST}.source`,
  text_content: `${LIST}.summary`,
  asset_name: { sql: `case when ${isPair} then 'crypto' when {${SYMBOL}} is not null then 'stock' end` },
  country_iso_code: { sql: `case when ${isPair} then 'GLOBAL' when {${SYMBOL}} is not null then 'US' end` },
  symbol: SYMBOL,
};

export const alpacaNews: Preset = {
  name: 'alpaca-news',
  says: 'Alpaca news, answers of /v1beta1/news',
  dataset: 'news',
  example: [
    '{"news":[{"id":24843171,"headline":"Rates stay","created_at":"2025-04-16T13:30:00Z","summary":"","url":"https://wire.example/1",',
    '"symbols":["AAPL"],"source":"benzinga"}],"next_page_token":null}',
  ],
  fits: fitsAnswer(
    'news',
    ['headline', 'created_at', 'symbols'],
    Object.values(newsColumns).flatMap(inputsOf),
  ),
  mappingOf: () => ({ columns: newsColumns, values: {} }),
};
