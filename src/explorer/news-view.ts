// News, the newest first: of one instrument or of all.
import { type ComponentChild, h } from 'preact';
import { useState } from 'preact/hooks';
import type { Row } from '../client/index.ts';
import { Empty, Failure, useAnswer } from './answer.ts';
import { useConnection } from './connection.ts';
import { dateText, dayOf } from './market-clock.ts';
import { hashOf, type Place } from './place.ts';
import { RequestPanel } from './request-panel.ts';
import { AsOf, asOfInstant } from './toolbar.ts';

type Item = Row<'newsList'>;

const PAGE_ITEMS = 50;
const DAY_MS = 86_400_000;

/** A link to a page of the web; null for anything that a browser would run or open otherwise. */
export const webAddress = (text: string): string | null =>
  /^https?:$/.test(URL.parse(text)?.protocol ?? '') ? text : null;

function NewsItem({ item }: { item: Item }): ComponentChild {
  const { published_date, title, text_content, publisher, publisher_url, sentiment_label } = item;
  const [isOpen, setIsOpen] = useState(false);
  const address = webAddress(publisher_url);
  const { asset_name, country_iso_code, symbol } = item;
  const name = symbol === null ? null : `${country_iso_code}:${symbol}`;
  const about: ComponentChild[] = [
    publisher,
    name === null ? null : h('a', { href: hashOf([asset_name!, name, 'DAY']) }, symbol),
    sentiment_label === null
      ? null
      : h(
          'span',
          { class: sentiment_label === 'positive' ? 'up' : sentiment_label === 'negative' ? 'down' : '' },
          sentiment_label,
        ),
    text_content
      ? h(
          'button',
          { type: 'button', class: 'link', 'aria-expanded': isOpen, onClick: () => setIsOpen(!isOpen) },
          isOpen ? 'less' : 'more',
        )
      : null,
  ];
  return h(
    'article',
    null,
    h('time', { dateTime: published_date, class: 'quiet' }, published_date.slice(11, 16)),
    h(
      'div',
      null,
      h(
        'h3',
        null,
        address === null
          ? title
          : h('a', { href: address, target: '_blank', rel: 'noopener noreferrer' }, title),
      ),
      h(
        'p',
        { class: 'quiet' },
        about.filter((part) => part).map((part, at) => [at === 0 ? null : ' · ', part]),
      ),
      isOpen ? h('p', { class: 'body' }, text_content) : null,
    ),
  );
}

/** A day and its items. */
const byDay = (items: readonly Item[]) => [
  ...Map.groupBy(items, ({ published_date }) => published_date.slice(0, 10)),
];

/** News of the place's instrument; of all where it has none. */
export function NewsView({ place }: { place: Place }): ComponentChild {
  const { bourse } = useConnection();
  const [count, setCount] = useState(PAGE_ITEMS);
  const [asset, symbol] = place.path.length > 1 ? place.path : [];
  const full_symbol = asset === undefined ? undefined : `${asset}:${symbol}`;
  const as_of = asOfInstant(place.query.as_of) || undefined;
  const range = {
    from_date: '1900-01-01',
    to_date: place.query.as_of ?? dayOf(Date.now() + DAY_MS),
    sort: 'desc',
    full_symbol,
    as_of,
  } as const;
  const { value, error, again } = useAnswer(
    async (signal) => {
      const { from_date, to_date, ...rest } = range;
      return bourse.news({ from: from_date, to: to_date, ...rest, limit: count, signal }).toArray();
    },
    [full_symbol, as_of, count],
  );
  return h(
    'section',
    { class: 'news', 'aria-label': 'News' },
    h('div', { class: 'toolbar' }, h(AsOf, { place }), h('span', { class: 'quiet' }, 'Times in UTC')),
    error === null ? null : h(Failure, { error, again }),
    value?.length === 0
      ? h(
          Empty,
          { title: 'No news is stored' },
          h('p', null, 'Import some: ', h('code', null, 'bourse import news FILE')),
        )
      : null,
    byDay(value ?? []).map(([day, items]) =>
      h(
        'section',
        { key: day },
        h('h2', null, dateText(Date.parse(day))),
        items.map((item, index) => h(NewsItem, { item, key: `${item.publisher_url} ${index}` })),
      ),
    ),
    value !== undefined && value.length >= count
      ? h('button', { type: 'button', onClick: () => setCount(count + 4 * PAGE_ITEMS) }, 'Older news')
      : null,
    h(RequestPanel, { asked: { name: 'newsList', values: range }, file: 'news' }),
  );
}
