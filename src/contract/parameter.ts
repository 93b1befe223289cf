// One parameter of an endpoint: a kind, its place, and whether it must be sent.
import * as kind from './kinds.ts';
import type { ListLimit } from './limits.ts';

/** A kind at its place in a request. */
export type Parameter<T = unknown> = kind.Kind<T> & {
  readonly in: 'path' | 'query';
  readonly description: string;
  readonly required: boolean;
  readonly default?: T;
  /** Whether page keys depend on the value (contract 4.1). They do, unless `unbound` says otherwise. */
  readonly bindsPage: boolean;
  /** Beyond the specification (contract 9). */
  readonly extension?: true;
};

/** A path parameter: always required. */
export function path<T>(of: kind.Kind<T>, description: string): Parameter<T> & { readonly required: true } {
  return { ...of, in: 'path', description, required: true, bindsPage: true };
}

/** A query parameter that must be sent. */
export function required<T>(
  of: kind.Kind<T>,
  description: string,
): Parameter<T> & { readonly required: true } {
  return { ...of, in: 'query', description, required: true, bindsPage: true };
}

/** A query parameter that may be left out, and is then undefined. */
export function optional<T>(
  of: kind.Kind<T>,
  description: string,
): Parameter<T> & { readonly required: false } {
  return { ...of, in: 'query', description, required: false, bindsPage: true };
}

/** A query parameter with a default. */
export function defaulted<T, D extends T>(
  of: kind.Kind<T>,
  value: D,
  description: string,
): Parameter<T> & { readonly required: false; readonly default: D } {
  return { ...of, in: 'query', description, required: false, default: value, bindsPage: true };
}

/** Marks a parameter as beyond the specification (contract 9). */
export function extension<P extends Parameter>(parameter: P): P & { readonly extension: true } {
  return { ...parameter, extension: true };
}

/** Marks a parameter on which page keys do not depend: it chooses no records, or the key itself holds its value (contract 4.1). */
export function unbound<P extends Parameter>(parameter: P): P {
  return { ...parameter, bindsPage: false };
}

const csvSafeDescription =
  'whether to put an apostrophe before CSV text that a spreadsheet would run as a formula';

/** The parameters of an endpoint that also answers in CSV (contract 5.1). */
export function formats<const F extends 'json' | 'csv'>(format: F) {
  return {
    format: unbound(defaulted(kind.oneOf(['json', 'csv']), format, 'the format of the response')),
    csv_safe: extension(unbound(defaulted(kind.flag, false, csvSafeDescription))),
  };
}

/** `sort`: the direction of the order. */
export const sort = <const D extends 'asc' | 'desc'>(value: D, description: string) =>
  defaulted(kind.oneOf(['asc', 'desc']), value, description);

/** `limit`: how many records of a list to give. */
export const limit = (bounds: ListLimit, records: string) =>
  unbound(defaulted(kind.limit(bounds), bounds.default, `how many ${records} to return`));

export const nextPageKey = unbound(optional(kind.pageKey, 'the key of the next page'));
