// The explorer's start in a browser, and the whole page: header, key, and the view that the address names.
import { type ComponentChild, h, render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Bourse } from '../client/index.ts';
import { AtMoment, ConnectionContext, Empty, serviceUrl } from './asking.ts';
import { CalendarView } from './calendar-view.ts';
import { HolidaysView } from './holidays-view.ts';
import { assets, HomeView } from './home-view.ts';
import { InstrumentView } from './instrument-view.ts';
import { NewsView } from './news-view.ts';
import { hashOf, type Place, usePlace } from './place.ts';
import { SearchBox } from './search-box.ts';
import { restoreTheme, toggleTheme } from './theme.ts';

const KEY = 'bourse-key';

/**
 * The key of this tab; else that of a demo, which the page brings. Null without one. It is in the session
 * storage and in headers, nowhere else.
 */
function storedKey(): string | null {
  const filledIn = document.querySelector<HTMLMetaElement>('meta[name=bourse-demo-key]')?.content;
  return sessionStorage.getItem(KEY) ?? filledIn ?? null;
}

/** Keeps a key until the tab is closed; null forgets it. */
function storeKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, key);
}

const links = [
  ['Stored', '#/'],
  ['News', '#/news'],
  ['Calendar', '#/calendar'],
  ['Holidays', '#/holidays'],
] as const;

function Header(props: { place: Place; isOpen: boolean; forgetKey: () => void }): ComponentChild {
  const { place, isOpen, forgetKey } = props;
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
      isOpen &&
        links.map(([name, href]) =>
          h('a', { key: name, href, 'aria-current': href === here ? 'page' : undefined }, name),
        ),
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
      isOpen &&
        h('button', { type: 'button', class: 'text', onClick: forgetKey, title: 'Change the key' }, 'Key'),
    ),
  );
}

/**
 * A client with this key: it shows each failure at once, and the views try again. Null for a text that cannot
 * be a key.
 */
function clientOf(key: string): Bourse | null {
  try {
    return new Bourse({ url: serviceUrl, key, retries: 0 });
  } catch {
    return null;
  }
}

/** Asks for a key. `message` says why the last one was refused. */
function KeyForm(props: { message: string | null; onKey: (key: string) => void }): ComponentChild {
  const [problem, setProblem] = useState<string | null>(null);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).elements.namedItem('key') as HTMLInputElement;
    const key = field.value.trim();
    if (clientOf(key) === null)
      setProblem('A key has letters, digits and -._~+/ only: copy it whole, without spaces.');
    else props.onKey(key);
  };
  const shown = problem ?? props.message;
  return h(
    'main',
    { class: 'key' },
    h(
      'form',
      { onSubmit: submit },
      h('h1', null, 'Your key'),
      h(
        'p',
        { class: 'quiet' },
        'The service answers requests that have a key. Ask whoever runs it for one, made with ',
        h('code', null, 'bourse keys create NAME'),
        '.',
      ),
      h('label', { for: 'key' }, 'Key'),
      h('input', {
        id: 'key',
        name: 'key',
        type: 'password',
        autocomplete: 'off',
        spellcheck: false,
        required: true,
        'aria-describedby': 'key-problem',
        'aria-invalid': shown !== null,
        autoFocus: true,
      }),
      h('p', { id: 'key-problem', class: 'problem', role: 'alert' }, shown),
      h('button', { class: 'main', type: 'submit' }, 'Open'),
      h(
        'p',
        { class: 'quiet' },
        'It stays in this tab, is sent only to this service, and is forgotten when you close the tab.',
      ),
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
function App(): ComponentChild {
  const place = usePlace();
  const [key, setKey] = useState(storedKey);
  const [refusal, setRefusal] = useState<string | null>(null);
  const connection = useMemo(() => {
    const bourse = key === null ? null : clientOf(key);
    return bourse === null || key === null ? null : { bourse, key, refuse: setRefusal, names: new Map() };
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
    h(Header, { place, isOpen, forgetKey: () => change(null) }),
    isOpen ? h(AtMoment, { place }, h(View, { place })) : h(KeyForm, { message: refusal, onKey: change }),
  );
}

restoreTheme();
const root = document.querySelector('#explorer')!;
root.replaceChildren();
render(h(App, null), root);
