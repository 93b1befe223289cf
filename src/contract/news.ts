// News: the item (spec 2.5) and its endpoints, by range (spec 4.4) and latest (spec 4.5).
import { Enum, Number as NumberSchema, Object as ObjectSchema, String as StringSchema } from 'typebox';
import { endpoint } from './endpoint.ts';
import { nullable } from './envelope.ts';
import { listLimits } from './limits.ts';
import { dateTime, defaulted, fullSymbol, limit, oneOf, optional, pageKey, required } from './parameter.ts';

/** One news item of one instrument on the wire (spec 2.5, contract 8.3). */
export const newsRecord = ObjectSchema({
  sentiment_label: nullable(Enum(['positive', 'neutral', 'negative'])),
  sentiment_score: nullable(NumberSchema()),
  asset_name: nullable(StringSchema()),
  country_iso_code: nullable(StringSchema()),
  symbol: nullable(StringSchema()),
  link_type: nullable(StringSchema()),
  published_date: StringSchema({ format: 'date-time' }),
  publisher: nullable(StringSchema()),
  title: StringSchema(),
  text_content: nullable(StringSchema()),
  publisher_url: StringSchema(),
});

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
});

export const latestNews = endpoint({
  path: '/api/v2/news/latest',
  tag: 'news',
  summary: 'The newest news',
  parameters: shared,
  record: newsRecord,
  shape: 'list',
});
