// News: the item (spec 2.5) and its endpoints, by range (spec 4.4) and latest (spec 4.5).
import { Enum, Number as NumberSchema, Object as ObjectSchema, String as StringSchema } from 'typebox';
import { endpoint } from './endpoint.ts';
import { nullable } from './envelope.ts';
import { listLimits } from './limits.ts';
import { dateTime, defaulted, fullSymbol, limit, oneOf, optional, pageKey, required } from './parameter.ts';

/** One news item of one instrument on the wire (spec 2.5, contract 8.3). */
export const newsRecord = ObjectSchema(
  {
    sentiment_label: nullable(
      Enum(['positive', 'neutral', 'negative'], { description: 'Where the tone was judged' }),
    ),
    sentiment_score: nullable(
      NumberSchema({ description: 'Where the tone was judged, by the measure of whoever judged it' }),
    ),
    asset_name: nullable(
      StringSchema({ description: 'Asset type of the instrument, null where the item is tied to none' }),
    ),
    country_iso_code: nullable(StringSchema({ description: 'Country of the instrument' })),
    symbol: nullable(StringSchema({ description: 'Symbol of the instrument' })),
    link_type: nullable(
      StringSchema({ description: '`SPECIFIC_ASSET` where the item is tied to an instrument' }),
    ),
    published_date: StringSchema({ format: 'date-time', description: 'When it was published, UTC' }),
    publisher: nullable(StringSchema({ description: 'Source of the item' })),
    title: StringSchema({ description: 'Headline' }),
    text_content: nullable(StringSchema({ description: 'Summary or opening paragraphs' })),
    publisher_url: StringSchema({ description: 'Address of the original' }),
  },
  {
    title: 'NewsItem',
    examples: [
      {
        sentiment_label: 'neutral',
        sentiment_score: 0.1,
        asset_name: 'stock',
        country_iso_code: 'US',
        symbol: 'AAPL',
        link_type: 'SPECIFIC_ASSET',
        published_date: '2025-03-03T14:30:00+00:00',
        publisher: 'Example Wire',
        title: 'A sample headline',
        text_content: 'The first paragraph.',
        publisher_url: 'https://news.example.com/1',
      },
    ],
  },
);

const shared = {
  full_symbol: optional(fullSymbol, 'one instrument, or a market with the symbol *'),
  sort: defaulted(oneOf(['asc', 'desc']), 'asc', 'the order of the items by their time'),
  limit: defaulted(limit(listLimits.news), listLimits.news.default, 'how many items to give'),
};

export const newsList = endpoint({
  path: '/api/v2/news/list',
  tag: 'news',
  summary: 'News published in a range',
  parameters: {
    from_date: required(dateTime, 'the first time of publication to give'),
    to_date: required(dateTime, 'the last time of publication to give'),
    ...shared,
    next_page_key: optional(pageKey, 'the key of the next page'),
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
