// News: an item has one row for each of its instruments (contract 8.3).
import {
  anyNumber,
  anyText,
  assetSchemaRule,
  countryRule,
  dataset,
  optional,
  required,
  someText,
  symbolRule,
  textThat,
  wordRule,
} from './dataset.ts';

export const news = dataset({
  name: 'news',
  columns: {
    /** A hash of address, title and instrument: it identifies an item and ends every order (contract 4.5). */
    news_id: 'text',
    /** Whole seconds: answers show the value that ranges are compared with. */
    published_date: 'instant',
    asset_name: 'text null',
    country_iso_code: 'text null',
    symbol: 'text null',
    sentiment_label: 'text null',
    sentiment_score: 'real null',
    link_type: 'text null',
    publisher: 'text null',
    title: 'text',
    text_content: 'text null',
    publisher_url: 'text',
  },
  key: ['news_id'],
  indexes: [
    ['published_date', 'news_id'],
    ['asset_name', 'country_iso_code', 'published_date', 'news_id'],
    ['asset_name', 'country_iso_code', 'symbol', 'published_date', 'news_id'],
  ],
  keptAsTheyCome: true,
  knownBy: 'published_date',
  file: {
    fields: {
      published_date: required({ unit: 'second' }),
      title: required(someText),
      publisher_url: required(
        textThat(
          (text) => /^https?:\/\/\S+$/i.test(text),
          'must be an address that begins with https:// or http://',
        ),
      ),
      asset_name: optional(assetSchemaRule, { flag: '--schema' }),
      country_iso_code: optional(countryRule, { flag: '--country' }),
      symbol: optional(symbolRule, { flag: '--symbol' }),
      sentiment_label: optional(wordRule(['positive', 'neutral', 'negative'])),
      sentiment_score: optional(anyNumber),
      link_type: optional(someText),
      publisher: optional(someText),
      text_content: optional(anyText),
    },
    time: 'published_date',
    subject: ['asset_name', 'country_iso_code', 'symbol'],
    names: [{ assetSchema: { column: 'asset_name' }, symbol: 'symbol', on: ['published_date'] }],
    repeated: {
      column: 'title',
      reason: 'the file has this item of this instrument already, with other values',
    },
    deletion: {
      about: 'Delete the news of one instrument, of a market, or all news, published in a range.',
      rows: 'news',
      needs: [],
      flags: {
        '--country': 'its country, such as US; GLOBAL for crypto and forex',
        '--schema': 'its asset type; with --country alone a market',
        '--symbol': 'the instrument',
      },
      examples: [
        '--symbol AAPL --country US --from 2025-03-03T14:00:00Z --to 2025-03-03T15:00:00Z',
        '--to 2019-12-31 --dry-run',
      ],
    },
  },
});
