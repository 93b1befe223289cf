// The address of each request, and the values that it is made of.
import { type Endpoints, paths } from './contract.ts';

/** Every endpoint, including those with streamed answers. */
export type AnyName = keyof Endpoints;

/** A parameter's value; one that is undefined is not sent. A list is sent with commas. */
export type Value = string | number | boolean | Date | readonly string[] | undefined;

const textOf = (value: Value): string => (value instanceof Date ? value.toISOString() : String(value));

/** Names that differ between a program and the wire. */
export const wireNames: Readonly<Record<string, string>> = { from: 'from_date', to: 'to_date' };

/**
 * Path and query of a request, relative to the address of the service.
 * @throws TypeError if a parameter of the path is missing; RangeError for an invalid Date
 */
export function address(name: AnyName, values: Readonly<Record<string, Value>>): string {
  const left = new Map<string, string>();
  for (const [key, value] of Object.entries(values))
    if (value !== undefined) left.set(wireNames[key] ?? key, textOf(value));
  const path = paths[name].replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = left.get(key);
    if (!value) throw new TypeError(`${name} needs ${key}`);
    left.delete(key);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams([...left]).toString();
  return query === '' ? path : `${path}?${query}`;
}
