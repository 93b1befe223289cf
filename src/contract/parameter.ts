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
  /**
   * The parameter that this one is another name of, and its value there. Callers may send either; queries see
   * that parameter alone.
   */
  readonly aliasFor?: { readonly name: string; toValue(value: T): unknown };
};

/** A path parameter: always required. */
export const path = <T, S>(of: kind.Kind<T, S>, description: string) =>
  ({ ...of, in: 'path', description, required: true, bindsPage: true }) as const;

/** A query parameter that must be sent. */
export const required = <T, S>(of: kind.Kind<T, S>, description: string) =>
  ({ ...of, in: 'query', description, required: true, bindsPage: true }) as const;

/** A query parameter that may be left out, and is then undefined. */
export const optional = <T, S>(of: kind.Kind<T, S>, description: string) =>
  ({ ...of, in: 'query', description, required: false, bindsPage: true }) as const;

/** A query parameter with a default. */
export const defaulted = <T, S, D extends T>(of: kind.Kind<T, S>, value: D, description: string) =>
  ({ ...optional(of, description), default: value }) as const;

/** Marks a parameter as beyond the specification (contract 9). */
export const extension = <P extends Parameter>(parameter: P) => ({ ...parameter, extension: true }) as const;

/**
 * Marks a parameter on which page keys do not depend: it chooses no records, or the key itself holds its
 * value (contract 4.1).
 */
export const unbound = <P extends Parameter>(parameter: P): P => ({ ...parameter, bindsPage: false });

const csvSafe = 'whether to put an apostrophe before CSV text that a spreadsheet would run as a formula';

/** The parameters of an endpoint that also answers in CSV (contract 5.1). */
export function formats<const F extends 'json' | 'csv'>(format: F) {
  return {
    format: unbound(defaulted(kind.oneOf(['json', 'csv']), format, 'the format of the response')),
    csv_safe: extension(unbound(defaulted(kind.flag, false, csvSafe))),
  };
}

/** The same of an endpoint that the specification gives no `format` (contract 4.7). */
export const extraFormats = { ...formats('json'), format: extension(formats('json').format) };

/** `sort`: the direction of the order. */
export const sort = <const D extends 'asc' | 'desc'>(value: D, description: string) =>
  defaulted(kind.oneOf(['asc', 'desc']), value, description);

/** `sort` of an endpoint that the specification gives none (contract 4.7). */
export const extraSort = (description: string) => extension(sort('asc', description));

/** `limit`: how many records of a list to give. */
export const limit = (bounds: ListLimit, records: string) =>
  unbound(defaulted(kind.limit(bounds), bounds.default, `how many ${records} to return`));

export const nextPageKey = unbound(optional(kind.pageKey, 'the key of the next page'));

/** The moment of whose knowledge an answer is made; a page key holds that of its walk (contract 9.8). */
export const pastMoment = {
  as_of: extension(unbound(optional(kind.moment, 'use only data that were known at this time'))),
};

/**
 * Which state of the data answers: what was known at a moment (contract 9.8), of what was stored at a version
 * (contract 9.12).
 */
export const anotherTime = {
  ...pastMoment,
  data_version: extension(optional(kind.dataVersion, 'use the stored data of this version')),
};

/** The path parameters that name one instrument. */
export const instrument = {
  schema_asset: path(kind.assetSchema, 'the asset type'),
  country_symbol: path(kind.countrySymbol, 'the country and the symbol'),
};
