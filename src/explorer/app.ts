// The whole page: header, key, and the view that the address names.
import { type ComponentChild, h } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Empty } from './answer.ts';
import { CalendarView } from './calendar-view.ts';
import { ConnectionContext, clientOf, storedKey, storeKey } from './connection.ts';
import { HolidaysView } from './holidays-view.ts';
import { assets, HomeView } from './home-view.ts';
import { InstrumentView } from './instrument-view.ts';
import { KeyForm } from './key-form.ts';
import { NewsView } from './news-view.ts';
import { hashOf, type Place, usePlace } from './place.ts';
import { SearchBox } from './search-box.ts';
import { toggleTheme } from './theme.ts';

const links = [
  ['Stored', '#/'],
  ['News', '#/news'],
  ['Calendar', '#/calendar'],
  ['Holidays', '#/holidays'],
] as const;

function Header({
  place,
  isOpen,
  onForget,
}: {
  place: Place;
  isOpen: boolean;
  onForget: () => void;
}): ComponentChild {
  const here = hashOf(place.path.slice(0, 1));
  return h(
    'header',
    null,
    h(
      'a',
      { class: 'brand', href: '#/' },
      h('img', { src: 'explorer/icon.svg', alt: '', width: 22, height: 22 }),
      'Bourse',
    ),
    isOpen ? h(SearchBox, null) : h('span', { class: 'gap' }),
    h(
      'nav',
      { 'aria-label': 'Views' },
      isOpen
        ? links.map(([name, href]) =>
            h('a', { key: name, href, 'aria-current': href === here ? 'page' : undefined }, name),
          )
        : null,
      h('a', { href: 'docs' }, 'Docs'),
      h(
        'button',
        {
          type: 'button',
          class: 'icon',
          onClick: toggleTheme,
          'aria-label': 'Light or dark',
          title: 'Light or dark',
        },
        '◐',
      ),
      isOpen
        ? h(
            'button',
            {
              type: 'button',
              class: 'text',
              onClick: onForget,
              title: 'Change the key',
            },
            'Key',
          )
        : null,
    ),
  );
}

function View({ place }: { place: Place }): ComponentChild {
  const [first] = place.path;
  if (first === undefined) return h(HomeView, { place });
  if (first === 'news') return h('main', { class: 'list' }, h('h1', null, 'News'), h(NewsView, { place }));
  if (first === 'calendar') return h(CalendarView, { place });
  if (first === 'holidays') return h(HolidaysView, { place });
  if (assets.some((asset) => asset === first)) return h(InstrumentView, { place });
  return h(
    'main',
    null,
    h(Empty, { title: 'There is no such view' }, h('a', { href: '#/' }, 'What is stored')),
  );
}

const titleOf = ({ path }: Place): string => [...path.slice(1), ...path.slice(0, 1), 'Bourse'].join(' · ');

/** The explorer. */
export function App(): ComponentChild {
  const place = usePlace();
  const [key, setKey] = useState(storedKey);
  const [refusal, setRefusal] = useState<string | null>(null);
  const connection = useMemo(() => {
    const bourse = key === null ? null : clientOf(key);
    return bourse === null || key === null ? null : { bourse, key, refuse: setRefusal };
  }, [key]);
  useEffect(() => {
    document.title = titleOf(place);
  }, [place]);
  const change = (next: string | null): void => {
    storeKey(next);
    setKey(next);
    setRefusal(null);
  };
  const isOpen = connection !== null && refusal === null;
  return h(
    ConnectionContext.Provider,
    { value: connection },
    h(Header, { place, isOpen, onForget: () => change(null) }),
    isOpen ? h(View, { place }) : h(KeyForm, { message: refusal, onKey: change }),
  );
}
