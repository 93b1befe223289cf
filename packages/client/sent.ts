// The arguments and results of the client's methods, and the address of each request.
import { type Endpoints, paths } from './contract.ts';
import type { Call } from './service.ts';

/** Every endpoint, including those with streamed answers. */
export type AnyName = keyof Endpoints;

/** The endpoints that answer in one piece. */
export type EndpointName = Exclude<AnyName, 'bulkBars'>;

/** The parameters that a program must give, some as arguments of a method. */
export type Needs<N extends AnyName> = Endpoints[N]['needs'];

type Takes<N extends AnyName> = Endpoints[N]['takes'];

/**
 * The options of an endpoint's method: its parameters except those in `Named`, which are
 * arguments; a signal; a timeout. A range is `from` and `to`; the other names are those of the API.
 */
export type OptionsOf<N extends AnyName, Named extends keyof Needs<N> = never> = {
  readonly [K in Exclude<keyof Needs<N>, Named>]: Needs<N>[K];
} & {
  readonly [K in keyof Takes<N>]?: Takes<N>[K] | undefined;
} & Call;

/** The options of bars in bulk: they must give a format. */
export type BulkOptions = OptionsOf<'bulkBars', 'schema_asset' | 'country_iso_code' | 'interval'>;

/** One record of an endpoint, as it is on the wire. */
export type Row<N extends AnyName> = Endpoints[N]['record'];

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
