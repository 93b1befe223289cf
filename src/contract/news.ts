// News: the item (spec 2.5) and its endpoints, by range (spec 4.4) and latest (spec 4.5).
import {
  anotherTime,
  endpoint,
  extraFormats,
  limit,
  nextPageKey,
  optional,
  required,
  sort,
} from './endpoint.ts';
import { dateTime, nullable, number, oneOf, record, text } from './fields.ts';
import * as kind from './kinds.ts';
import { listLimits } from './limits.ts';

/** One news item of one instrument on the wire (spec 2.5, contract 8.3). */
const newsRecord = record('NewsItem', {
  sentiment_label: [
    nullable(oneOf(['positive', 'neutral', 'negative'], 'Tone of the item, null if it was not judged')),
    'neutral',
  ],
  sentiment_score: [
    nullable(number('Score of the tone on the scale of its source, null if it was not judged')),
    0.1,
  ],
  asset_name: [nullable(text('Asset type of the instrument, null if the item belongs to none')), 'stock'],
  country_iso_code: [nullable(text('Country of the instrument')), 'US'],
  symbol: [nullable(text('Symbol of the instrument')), 'AAPL'],
  link_type: [nullable(text('`SPECIFIC_ASSET` if the item belongs to an instrument')), 'SPECIFIC_ASSET'],
  published_date: [dateTime('When it was published, UTC'), '2025-03-03T14:30:00+00:00'],
  publisher: [nullable(text('Source of the item')), 'Example Wire'],
  title: [text('Headline'), 'A sample headline'],
  text_content: [nullable(text('Summary or opening paragraphs')), 'The first paragraph.'],
  publisher_url: [text('Address of the original'), 'https://news.example.com/1'],
});

const shared = {
  full_symbol: optional(kind.fullSymbol, 'one instrument, or a market with the symbol *'),
  sort: sort('asc', 'the order of the items by their time'),
  limit: limit(listLimits.news, 'items'),
  ...extraFormats,
  ...anotherTime,
};

export const newsList = endpoint({
  path: '/api/v2/news/list',
  tag: 'news',
  summary: 'News published in a range',
  parameters: {
    from_date: required(kind.dateTime, 'the first time of publication to return'),
    to_date: required(kind.dateTime, 'the last time of publication to return'),
    ...shared,
    next_page_key: nextPageKey,
  },
  record: newsRecord,
  shape: 'paged',
  refusals: ['unknown_instrument'],
});

export const latestNews = endpoint({
  path: '/api/v2/news/latest',
  tag: 'news',
  summary: 'The newest news',
  parameters: shared,
  record: newsRecord,
  shape: 'list',
  refusals: ['unknown_instrument'],
});
