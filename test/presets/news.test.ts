// Answers of Massive and Alpaca with news, as they come: one row for each instrument of an article (contract
// 8.3, 11).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { rowsOf } from '../stores.ts';
import { Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

const flags = { dataset: 'news' };
const stored = (columns: string): unknown[][] =>
  rowsOf(vendor.url, `select ${columns} from news order by title, symbol`).map((row) => Object.values(row));

/** An article of Massive's documentation, shortened. */
const article = {
  id: '8ec638777ca03b553ae516761c2a22ba2fdd2f37befae3ab6fdab74e9e5193eb',
  publisher: {
    name: 'Investing.com',
    homepage_url: 'https://www.investing.com/',
    logo_url: 'https://s3.polygon.io/public/assets/news/logos/investing.png',
    favicon_url: 'https://s3.polygon.io/public/assets/news/favicons/investing.ico',
  },
  title: 'Markets are underestimating Fed cuts: UBS By Investing.com - Investing.com UK',
  author: 'Sam Boughedda',
  published_utc: '2024-06-24T18:33:53Z',
  article_url:
    'https://uk.investing.com/news/stock-market-news/markets-are-underestimating-fed-cuts-ubs-3559968',
  tickers: ['UBS', 'X:BTCUSD'],
  amp_url: 'https://m.uk.investing.com/news/3559968?ampMode=1',
  image_url: 'https://i-invdn-com.investing.com/news/LYNXNPEC4I0AL_L.jpg',
  description: 'UBS analysts warn that markets are underestimating the extent of future interest rate cuts.',
  keywords: ['Federal Reserve', 'interest rates'],
  insights: [
    {
      ticker: 'UBS',
      sentiment: 'positive',
      sentiment_reasoning: 'UBS analysts are providing a bullish outlook.',
    },
  ],
};
const answerOf = (...results: readonly object[]): object => ({
  results,
  status: 'OK',
  request_id: '831afdb0b8078549fed053476984947a',
  count: results.length,
  next_url: 'https://api.massive.com/v2/reference/news?cursor=eyJsaW1pdCI6MX0',
});

test('a ticker of an article of Massive has the sentiment towards it, and the asset type of its prefix (contract 8.3, 11)', async () => {
  const bare = { ...article, title: 'No ticker', tickers: [], insights: undefined, description: null };
  const content = JSON.stringify(answerOf(article, bare), null, 2);
  const report = await vendor.import('news.json', content, flags);
  assert.deepEqual([report.preset?.name, report.rowsNew, report.rowsRefused], ['massive-news', 3, 0]);
  assert.deepEqual(
    stored('asset_name, country_iso_code, symbol, sentiment_label, sentiment_score, link_type'),
    [
      ['crypto', 'GLOBAL', 'BTCUSD', null, null, 'SPECIFIC_ASSET'],
      ['stock', 'US', 'UBS', 'positive', null, 'SPECIFIC_ASSET'],
      [null, null, null, null, null, null],
    ],
  );
  const [, ubs, none] = stored('published_date, title, publisher, publisher_url, text_content');
  const ms = Date.parse(article.published_utc);
  assert.deepEqual(ubs, [ms, article.title, 'Investing.com', article.article_url, article.description]);
  assert.deepEqual(none, [ms, 'No ticker', 'Investing.com', article.article_url, null]);
});

test('pages one after the other, the same again, and an article with another sentiment (contract 11)', async () => {
  const later = { ...article, title: 'Later', insights: [] };
  const pages = [answerOf(article), answerOf(), answerOf(later)]
    .map((page) => JSON.stringify(page))
    .join('\n');
  assert.equal((await vendor.import('news.ndjson', pages, flags)).rowsNew, 4);
  const again = await vendor.import('news.ndjson', pages, flags, false);
  assert.deepEqual([again.rowsUnchanged, again.rowsNew, again.rowsReplaced], [4, 0, 0]);
  const negative = { ...article, insights: [{ ...article.insights[0], sentiment: 'negative' }] };
  const { rowsReplaced } = await vendor.import('more.json', JSON.stringify(answerOf(negative)), flags, false);
  assert.equal(rowsReplaced, 1);
});

test('a ticker with two sentiments, and one that has another word, are refused, and imported when corrected (contract 11)', async () => {
  const [insight] = article.insights;
  const odd = { ...article, insights: [insight, { ...insight, sentiment: 'negative' }] };
  const other = { ...article, title: 'Other', insights: [{ ...insight, sentiment: 'bullish' }] };
  const report = await vendor.import('news.json', JSON.stringify(answerOf(odd, other)), flags);
  assert.deepEqual(
    report.refused.map(({ row, column, reason }) => [row, column, reason]),
    [1, 3].map((row) => [row, 'results[].insights', 'must be one of positive, neutral, negative']),
  );
  const rows = readFileSync(report.rejectedFile!, 'utf8');
  assert.ok(rows.length < 2500, 'a refused row does not have the whole answer');
  const corrected = rows.replaceAll('bullish', 'neutral').replaceAll('negative', 'positive');
  const mended = await vendor.import('news.json.rejected.csv', corrected, flags, false);
  assert.deepEqual([mended.preset?.name, mended.rowsNew], ['massive-news', 2]);
  assert.deepEqual(
    stored('symbol, sentiment_label').filter(([symbol]) => symbol === 'UBS'),
    [
      ['UBS', 'positive'],
      ['UBS', 'neutral'],
    ],
  );
});

test('an article of Alpaca: stocks and pairs, the time of its creation, no sentiment (contract 8.3, 11)', async () => {
  const news = {
    id: 24843171,
    headline: 'Apple Leader in Phone Sales in China for Second Straight Month',
    author: 'Charles Gross',
    created_at: '2021-12-31T11:08:42Z',
    updated_at: '2021-12-31T11:08:43Z',
    summary: 'This headline-only article is meant to show you why a stock is moving.',
    content: '<p>This headline-only article</p>',
    images: [{ size: 'thumb', url: 'https://cdn.benzinga.com/files/a.jpg' }],
    symbols: ['AAPL', 'BTCUSD', 'ETH/USD', 'FUSD'],
    source: 'benzinga',
    url: 'https://www.benzinga.com/news/21/12/24843171/apple-leader',
  };
  const general = { ...news, id: 2, headline: 'General', symbols: [], summary: '' };
  const content = JSON.stringify({
    news: [news, general],
    next_page_token: 'MTY0MDk0ODkyMzAwMDAwMDAwMHwyNDg0MzE3MQ==',
  });
  const report = await vendor.import('news.json', content, flags);
  assert.deepEqual([report.preset?.name, report.rowsNew, report.rowsRefused], ['alpaca-news', 5, 0]);
  assert.deepEqual(stored('asset_name, country_iso_code, symbol, publisher, text_content, sentiment_label'), [
    ...[
      ['stock', 'US', 'AAPL'],
      ['crypto', 'GLOBAL', 'BTCUSD'],
      ['crypto', 'GLOBAL', 'ETH/USD'],
      ['stock', 'US', 'FUSD'],
    ].map((tie) => [...tie, 'benzinga', news.summary, null]),
    [null, null, null, 'benzinga', null, null],
  ]);
  assert.equal(stored('published_date')[0]?.toString(), String(Date.parse(news.created_at)));
});
