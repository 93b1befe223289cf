// The search in the header: instruments by symbol or name, from anywhere by the key `/`.
import { type ComponentChild, h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AssetSchema, Row } from '../client/index.ts';
import { useAnswer, useConnection } from './asking.ts';
import { assets } from './home-view.ts';
import { hashOf } from './place.ts';

type Found = { readonly asset: AssetSchema; readonly symbol: string; readonly name: string | null };

/** Instruments of each kind, and of all, that the list has. */
const EACH_MAX = 6;
const FOUND_MAX = 12;
const TYPING_MS = 100;

const foundOf = (asset: AssetSchema, { country_iso_code, symbol, name }: Row<'instrumentSearch'>): Found => ({
  asset,
  symbol: `${country_iso_code}:${symbol}`,
  name,
});

/** Symbols that are or begin with the text come first. */
const rank = (text: string, { symbol }: Found): number => {
  const own = symbol.split(':')[1]!;
  const sought = text.toUpperCase();
  return own === sought ? 0 : own.startsWith(sought) ? 1 : 2;
};

/** What matches a text, while it is typed. */
function useFound(text: string): readonly Found[] | null {
  const { bourse } = useConnection();
  const { value = null } = useAnswer(
    async (asking) => {
      if (text === '') return null;
      await new Promise((resolve) => setTimeout(resolve, TYPING_MS));
      asking.signal.throwIfAborted();
      const search = async (asset: AssetSchema): Promise<Found[]> => {
        const rows = await bourse.search(asset, text, { limit: EACH_MAX, ...asking });
        return rows.map((row) => foundOf(asset, row));
      };
      const all = (await Promise.all(assets.map(search))).flat();
      return all.sort((one, other) => rank(text, one) - rank(text, other)).slice(0, FOUND_MAX);
    },
    [text],
  );
  return value;
}

/** The search box and its list. */
export function SearchBox(): ComponentChild {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const [isOpen, setIsOpen] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const found = useFound(text.trim());
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== '/' || /^(?:INPUT|SELECT|TEXTAREA)$/.test((event.target as Element).tagName)) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  const open = ({ asset, symbol }: Found): void => {
    setText('');
    setIsOpen(false);
    field.current?.blur();
    location.hash = hashOf([asset, symbol, 'DAY']);
  };
  const list = isOpen && text.trim() !== '' ? found : null;
  const at = Math.min(chosen, Math.max((list?.length ?? 0) - 1, 0));
  const onKey = (event: KeyboardEvent): void => {
    const count = list?.length ?? 0;
    if (event.key === 'Escape') {
      setText('');
      field.current?.blur();
    } else if (event.key === 'Enter' && count > 0) open(list![at]!);
    else if (event.key === 'ArrowDown' && count > 0) setChosen((at + 1) % count);
    else if (event.key === 'ArrowUp' && count > 0) setChosen((at + count - 1) % count);
    else return;
    event.preventDefault();
  };
  return h(
    'div',
    { class: 'search' },
    h('input', {
      ref: field,
      type: 'text',
      role: 'combobox',
      value: text,
      placeholder: 'Search symbols and names',
      'aria-label': 'Search instruments',
      'aria-expanded': list !== null,
      'aria-controls': 'search-list',
      'aria-activedescendant': list !== null && list.length > 0 ? `found-${at}` : undefined,
      'aria-autocomplete': 'list',
      autocomplete: 'off',
      spellcheck: false,
      onInput: ({ currentTarget }) => {
        setText(currentTarget.value);
        setChosen(0);
        setIsOpen(true);
      },
      onFocus: () => setIsOpen(true),
      onBlur: () => setIsOpen(false),
      onKeyDown: onKey,
    }),
    h('kbd', { 'aria-hidden': true }, '/'),
    h(
      'ul',
      {
        id: 'search-list',
        role: 'listbox',
        'aria-label': 'Instruments',
        hidden: list === null || list.length === 0,
      },
      (list ?? []).map((one, index) =>
        h(
          'li',
          {
            key: `${one.asset} ${one.symbol}`,
            id: `found-${index}`,
            role: 'option',
            'aria-selected': index === at,
            onMouseDown: (event: Event) => {
              event.preventDefault();
              open(one);
            },
            onMouseMove: () => setChosen(index),
          },
          h('b', null, one.symbol.split(':')[1]),
          h('span', { class: 'name' }, one.name),
          h('span', { class: 'quiet' }, `${one.asset} ${one.symbol.split(':')[0]}`),
        ),
      ),
    ),
    list !== null &&
      list.length === 0 &&
      h('p', { class: 'none', role: 'status' }, `Nothing is called ${text.trim()}`),
  );
}
