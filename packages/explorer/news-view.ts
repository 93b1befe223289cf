// News, the newest first: of one instrument or of all.
import { type ComponentChild, h } from 'preact';
import { useState } from 'preact/hooks';
import type { Row } from '../client/index.ts';
import { Empty, Failure, MomentField, useAnswer, useConnection, useMoment } from './asking.ts';
import { dateText, dayOf, plusDays } from './market-clock.ts';
import { hashOf, type Place } from './place.ts';
import { RequestPanel } from './request-panel.ts';

type Item = Row<'newsList'>;

const PAGE_ITEMS = 50;

/** A link to a page of the web; null for anything that a browser would run or open otherwise. */
const webAddress = (text: string): string | null =>
  /^https?:$/.test(URL.parse(text)?.protocol ?? '') ? text : null;

const directions: Readonly<Record<string, string>> = { positive: 'up', negative: 'down' };

function NewsItem({ item }: { item: Item }): ComponentChild {
  const { published_date, title, text_content, publisher, publisher_url, sentiment_label } = item;
  const [isOpen, setIsOpen] = useState(false);
  const address = webAddress(publisher_url);
  const { asset_name, country_iso_code, symbol } = item;
  const about: ComponentChild[] = [
    publisher,
    symbol !== null &&
      h('a', { href: hashOf([asset_name!, `${country_iso_code}:${symbol}`, 'DAY']) }, symbol),
    sentiment_label !== null && h('span', { class: directions[sentiment_label] ?? '' }, sentiment_label),
    text_content &&
      h(
        'button',
        { type: 'button', class: 'link', 'aria-expanded': isOpen, onClick: () => setIsOpen(!isOpen) },
        isOpen ? 'less' : 'more',
      ),
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
      isOpen && h('p', { class: 'body' }, text_content),
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
  const { day: lastDay } = useMoment();
  const [count, setCount] = useState(PAGE_ITEMS);
  const full_symbol = place.path.length > 1 ? `${place.path[0]}:${place.path[1]}` : undefined;
  const asked = {
    from: '1900-01-01',
    to: lastDay || plusDays(dayOf(Date.now()), 1),
    sort: 'desc',
    full_symbol,
  } as const;
  const { value, error, again } = useAnswer(
    async (asking) => bourse.news({ ...asked, limit: count, ...asking }).toArray(),
    [full_symbol, count],
  );
  return h(
    'section',
    { class: 'news', 'aria-label': 'News' },
    h('div', { class: 'toolbar' }, h(MomentField, null), h('span', { class: 'quiet' }, 'Times in UTC')),
    h(Failure, { error, again }),
    value?.length === 0 &&
      h(
        Empty,
        { title: 'No news is stored' },
        h('p', null, 'Import some: ', h('code', null, 'bourse import news FILE')),
      ),
    byDay(value ?? []).map(([day, items]) =>
      h(
        'section',
        { key: day },
        h('h2', null, dateText(Date.parse(day))),
        items.map((item, index) => h(NewsItem, { item, key: `${item.publisher_url} ${index}` })),
      ),
    ),
    value !== undefined &&
      value.length >= count &&
      h('button', { type: 'button', onClick: () => setCount(count + 4 * PAGE_ITEMS) }, 'Older news'),
    h(RequestPanel, { asked: { name: 'newsList', values: asked }, file: 'news' }),
  );
}
