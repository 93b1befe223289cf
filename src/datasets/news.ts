// News, an item once for each instrument that it is tied to (contract 8.3).
import { dataset, instant, orNull, real, text } from './dataset.ts';

export const news = dataset({
  name: 'news',
  columns: {
    /** A hash of address, title and instrument: what an item is known by, and the end of every order (contract 4.5). */
    news_id: text,
    /** Whole seconds: what is shown is what ranges are compared with. */
    published_date: instant,
    asset_name: orNull(text),
    country_iso_code: orNull(text),
    symbol: orNull(text),
    sentiment_label: orNull(text),
    sentiment_score: orNull(real),
    link_type: orNull(text),
    publisher: orNull(text),
    title: text,
    text_content: orNull(text),
    publisher_url: text,
  },
  key: ['news_id'],
  indexes: [
    ['published_date', 'news_id'],
    ['asset_name', 'country_iso_code', 'published_date', 'news_id'],
    ['asset_name', 'country_iso_code', 'symbol', 'published_date', 'news_id'],
  ],
  keptAsTheyCome: true,
});
