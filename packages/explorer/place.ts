// Where a person is in the explorer: the part of the address behind `#`, which browsers send to nobody.
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** A view and its settings. `path` is empty for the overview; settings that have their default are absent. */
export type Place = {
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
};

/** The characters of a symbol that stay readable. */
const encoded = (text: string): string => encodeURIComponent(text).replaceAll('%3A', ':');

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The place that an address names. */
export function readPlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** The address of a place. Settings that are empty are left out. */
export function hashOf(path: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encoded).join('/')}${search === '' ? '' : `?${search}`}`;
}

/**
 * The same view with other settings, as a new step of the history. It is the view of the address: what is
 * drawn may be one change behind, and a second press would undo the first.
 */
export function setQuery(change: Readonly<Record<string, string>>): void {
  const { path, query } = readPlace(location.hash);
  location.hash = hashOf(path, { ...query, ...change });
}

/** The place, which changes with the address. */
export function usePlace(): Place {
  const [place, setPlace] = useState(() => readPlace(location.hash));
  useEffect(() => {
    const read = (): void => setPlace(readPlace(location.hash));
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
  return place;
}

/**
 * For an input that shows a value of the page's address: it is set where that value has changed, and at no
 * other time. A view is drawn whenever an answer comes, and with the attribute `value` that took away what
 * was typed so far.
 */
export function useTypedField(value: string): RefObject<HTMLInputElement | null> {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    field.current!.value = value;
  }, [value]);
  return field;
}
