// Asking for what a view shows: waiting, answered or failed, and tried again by itself while the service is
// away.
import { type ComponentChild, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { BourseError } from '../client/index.ts';
import { useConnection } from './connection.ts';

/** `value` stays while the next answer is awaited. */
export type Asked<T> = {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly isWaiting: boolean;
  readonly again: () => void;
};

/** Time between two tries of a request while the service is away. */
export const TRY_AGAIN_MS = 2_000;

/** Errors that pass by themselves. */
const passing: ReadonlySet<string> = new Set(['unreachable', 'timed_out', 'unavailable', 'rate_limited']);

/** Errors that another key cures. */
const ofKey: ReadonlySet<string> = new Set(['missing_key', 'invalid_key']);

/** True if a failure may pass by itself. */
export const isPassing = (error: unknown): boolean =>
  error instanceof BourseError && passing.has(error.error);

/** True if a failure says that the key is wrong. */
export const isOfKey = (error: unknown): error is BourseError =>
  error instanceof BourseError && ofKey.has(error.error);

/**
 * Asks whenever one of `inputs` changes. An answer to an earlier question is dropped.
 */
export function useAnswer<T>(ask: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Asked<T> {
  const { refuse, bourse } = useConnection();
  const [tries, setTries] = useState(0);
  const [state, setState] = useState<Omit<Asked<T>, 'again'>>({
    value: undefined,
    error: null,
    isWaiting: true,
  });
  useEffect(() => {
    const ender = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    setState(({ value, error }) => ({ value, error, isWaiting: true }));
    ask(ender.signal).then(
      (value) => {
        if (!ender.signal.aborted) setState({ value, error: null, isWaiting: false });
      },
      (error: unknown) => {
        if (ender.signal.aborted) return;
        if (isOfKey(error)) refuse(error.message);
        if (isPassing(error)) timer = setTimeout(() => setTries((count) => count + 1), TRY_AGAIN_MS);
        setState(({ value }) => ({ value: isPassing(error) ? value : undefined, error, isWaiting: false }));
      },
    );
    return () => {
      ender.abort();
      clearTimeout(timer);
    };
  }, [...inputs, bourse, tries]);
  return { ...state, again: () => setTries((count) => count + 1) };
}

/** A failure: what went wrong, why, and what to do. */
export function Failure({ error, again }: { error: unknown; again?: () => void }): ComponentChild {
  const { message, hint } = error as { readonly message: string; readonly hint?: string };
  const isAway = isPassing(error);
  return h(
    'div',
    { class: 'notice failure', role: 'alert' },
    h('h1', null, isAway ? 'The service does not answer' : 'This cannot be shown'),
    h('p', null, isAway ? `${message}. Trying again …` : message),
    hint ? h('p', { class: 'quiet' }, hint) : null,
    again === undefined ? null : h('button', { type: 'button', onClick: again }, 'Try again'),
  );
}

/** Nothing is there: what that means, and what may help. */
export function Empty({
  title,
  children,
}: {
  title: string;
  children?: preact.ComponentChildren;
}): ComponentChild {
  return h('div', { class: 'notice' }, h('h1', null, title), h('div', { class: 'quiet' }, children));
}
