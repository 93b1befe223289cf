// Asking the service: with which key, as of which moment, and what a view shows until there is an answer, or
// in place of one. A request is tried again by itself while the service is away.
import { type ComponentChild, type ComponentChildren, createContext, h } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { type Bourse, BourseError } from '../client/index.ts';
import { dayOf, plusDays } from './market-clock.ts';
import { hashOf, type Place, setQuery, useTypedField } from './place.ts';

/** The address of the service, without a slash at its end. */
export const serviceUrl = new URL('.', document.baseURI).href.replace(/\/$/, '');

/** The means that views work with. */
type Connection = {
  readonly bourse: Bourse;
  /** The key, for the downloads that the client does not make. */
  readonly key: string;
  /** The service refused the key: asks the person for another one. */
  readonly refuse: (message: string) => void;
  /** Names of instruments that the overview has asked for. */
  readonly names: Map<string, string>;
};

export const ConnectionContext = createContext<Connection | null>(null);

/** The connection of a view; views are shown only with one. */
export function useConnection(): Connection {
  return useContext(ConnectionContext)!;
}

const DayContext = createContext('');

/** Shows a view as of the moment that its address names. */
export function AtMoment({
  place,
  children,
}: {
  place: Place;
  children?: ComponentChildren;
}): ComponentChild {
  return h(DayContext.Provider, { value: place.query.as_of ?? '' }, children);
}

/** Each request of a view has this beside its own parameters. */
export type Asking = { readonly signal: AbortSignal; readonly as_of?: string };

/**
 * The moment as of which a view shows what was known: the end of a day in UTC, which is empty for now; what
 * requests say of it; its instant.
 */
export function useMoment(): {
  readonly day: string;
  readonly known: Omit<Asking, 'signal'>;
  readonly ms: number;
} {
  const day = useContext(DayContext);
  if (day === '') return { day, known: {}, ms: Date.now() };
  const as_of = `${day}T23:59:59Z`;
  return { day, known: { as_of }, ms: Date.parse(as_of) };
}

/** The address of a view at the end of a day; empty for now. */
export const hashAt = (day: string, path: readonly string[], query: Place['query'] = {}): string =>
  hashOf(path, { ...query, as_of: day });

/** The control of the moment. */
export function MomentField(): ComponentChild {
  const { day } = useMoment();
  const field = useTypedField(day);
  return h(
    'div',
    { class: day === '' ? 'as-of' : 'as-of chosen' },
    h(
      'label',
      { title: 'Show only what was known at the end of this day (UTC)' },
      'As of',
      h('input', {
        type: 'date',
        ref: field,
        min: '1900-01-01',
        max: plusDays(dayOf(Date.now()), -1),
        onChange: ({ currentTarget: { value, validity } }) => {
          if (validity.valid) setQuery({ as_of: value });
        },
      }),
    ),
    day !== '' && h('button', { type: 'button', onClick: () => setQuery({ as_of: '' }) }, 'Now'),
  );
}

/** `value` stays while the next answer is awaited. */
type Asked<T> = {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly again: () => void;
};

/** Time between two tries of a request while the service is away. */
export const TRY_AGAIN_MS = 2_000;

/** Errors that pass by themselves. */
const passing: ReadonlySet<string> = new Set(['unreachable', 'timed_out', 'unavailable', 'rate_limited']);

/** Errors that another key cures. */
const ofKey: ReadonlySet<string> = new Set(['missing_key', 'invalid_key', 'forbidden']);

/** True if a failure may pass by itself. */
export const isPassing = (error: unknown): boolean =>
  error instanceof BourseError && passing.has(error.error);

/** True if a failure says that the key is wrong. */
export const isOfKey = (error: unknown): error is BourseError =>
  error instanceof BourseError && ofKey.has(error.error);

/**
 * Asks whenever one of `inputs` changes, or the moment. An answer to an earlier question is dropped.
 */
export function useAnswer<T>(ask: (asking: Asking) => Promise<T>, inputs: readonly unknown[]): Asked<T> {
  const { refuse, bourse } = useConnection();
  const { day, known } = useMoment();
  const [tries, setTries] = useState(0);
  const [state, setState] = useState<Omit<Asked<T>, 'again'>>({ value: undefined, error: null });
  useEffect(() => {
    const ender = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    ask({ signal: ender.signal, ...known }).then(
      (value) => {
        if (!ender.signal.aborted) setState({ value, error: null });
      },
      (error: unknown) => {
        if (ender.signal.aborted) return;
        if (isOfKey(error)) refuse(error.message);
        if (isPassing(error)) timer = setTimeout(() => setTries((count) => count + 1), TRY_AGAIN_MS);
        setState(({ value }) => ({ value: isPassing(error) ? value : undefined, error }));
      },
    );
    return () => {
      ender.abort();
      clearTimeout(timer);
    };
  }, [...inputs, bourse, day, tries]);
  return { ...state, again: () => setTries((count) => count + 1) };
}

/** A failure: what went wrong, why, and what to do. Nothing for none. */
export function Failure({ error, again }: { error: unknown; again?: () => void }): ComponentChild {
  if (error === null) return null;
  const { message, hint } = error as { readonly message: string; readonly hint?: string };
  const isAway = isPassing(error);
  return h(
    'div',
    { class: 'notice failure', role: 'alert' },
    h('h1', null, isAway ? 'The service does not answer' : 'This cannot be shown'),
    h('p', null, isAway ? `${message}. Trying again …` : message),
    hint && h('p', { class: 'quiet' }, hint),
    again !== undefined && h('button', { type: 'button', onClick: again }, 'Try again'),
  );
}

/** Nothing is there: what that means, and what may help. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): ComponentChild {
  return h('div', { class: 'notice' }, h('h1', null, title), h('div', { class: 'quiet' }, children));
}
