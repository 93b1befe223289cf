// Alpaca news: answers of /v1beta1/news, a row for each symbol of an article.
import { type Cell, inputsOf } from '../cell.ts';
import { fitsAnswer, type Preset } from './preset.ts';

const LIST = 'news[]';
const SYMBOL = `${LIST}.symbols[]`;

/** Pairs are written BTCUSD or BTC/USD. No stock of the US has a symbol of six letters. */
const isPair = `(contains({${SYMBOL}}, '/') or regexp_matches({${SYMBOL}}, '^[A-Z0-9][A-Z0-9][A-Z0-9]+USD$'))`;

const columns: Readonly<Record<string, Cell>> = {
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
  fits: fitsAnswer('news', ['headline', 'created_at', 'symbols'], Object.values(columns).flatMap(inputsOf)),
  mappingOf: () => ({ columns, values: {} }),
};
