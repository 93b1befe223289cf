// The service that the page came from, and the key in this tab. The key is in the session storage and in
// headers, nowhere else.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { Bourse } from '../client/index.ts';

const KEY = 'bourse-key';

/** The address of the service, without a slash at its end. */
export const serviceUrl = new URL('.', document.baseURI).href.replace(/\/$/, '');

/** The key of this tab; else that of a demo, which the page brings. Null without one. */
export function storedKey(): string | null {
  const filledIn = document.querySelector<HTMLMetaElement>('meta[name=bourse-demo-key]')?.content;
  return sessionStorage.getItem(KEY) ?? filledIn ?? null;
}

/** Keeps a key until the tab is closed; null forgets it. */
export function storeKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, key);
}

/** The means that views work with. */
export type Connection = {
  readonly bourse: Bourse;
  /** The key, for the downloads that the client does not make. */
  readonly key: string;
  /** The service refused the key: asks the person for another one. */
  readonly refuse: (message: string) => void;
};

/**
 * A client with this key: it shows each failure at once, and the views try again. Null for a text that cannot
 * be a key.
 */
export function clientOf(key: string): Bourse | null {
  try {
    return new Bourse({ url: serviceUrl, key, retries: 0 });
  } catch {
    return null;
  }
}

export const ConnectionContext = createContext<Connection | null>(null);

/** The connection of a view; views are shown only with one. */
export function useConnection(): Connection {
  return useContext(ConnectionContext)!;
}
