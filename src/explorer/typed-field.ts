// A field that someone types in.
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

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
