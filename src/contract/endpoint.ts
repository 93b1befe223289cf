// The shape of one endpoint's declaration and of its parameters: a kind, its place, and whether it must be
// sent. Routes, checks, CSV columns, OpenAPI and the client derive from it.
import { type ErrorWord, Refusal } from './errors.ts';
import type { ObjectSchema, Schema, Static } from './fields.ts';
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

/** The scopes of keys: which endpoints a key may ask (contract 7.6). */
export const scopes = ['data', 'operate'] as const;
export type Scope = (typeof scopes)[number];

/** One declared endpoint, without what all endpoints share: `secret_key` and the envelope. */
export type Endpoint = {
  /** Path template with `{name}` segments, relative to the base address. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
  /**
   * One record, its fields in the order of the wire and of CSV columns (contract 5.1); with a title and an
   * example.
   */
  readonly record: Schema;
  /** How `result` holds the records (spec 2.2). */
  readonly shape: 'single' | 'array' | 'map' | 'list' | 'paged' | 'grouped';
  /** Further lists in `result`, beside its records. */
  readonly beside?: Readonly<Record<string, Schema>>;
  /** Refusals that depend on the data. Those that every request can get are not listed. */
  readonly refusals?: readonly ErrorWord[];
  /** Shorter keys are refused without a look-up (contract 7.2). */
  readonly keyCharactersMin?: number;
  /** The scope of the keys that may ask it; absent for `data`. */
  readonly scope?: Scope;
  /** Beyond the specification (contract 9). */
  readonly extension?: true;
  /**
   * Its answer is rows without an envelope, sent as they are read, without pages and without a tag (contract
   * 9.11).
   */
  readonly isStreamed?: true;
  /** The media types of its formats that are not text. */
  readonly binaryTypes?: readonly string[];
};

type ValueOf<P> = P extends { parse: (raw: string) => infer T }
  ? P extends { required: true } | { default: unknown }
    ? T
    : T | undefined
  : never;

/** The parsed parameters of an endpoint; the values of aliases are those of the parameters that they name. */
export type ParametersOf<E extends Endpoint> = {
  readonly [K in keyof E['parameters'] as E['parameters'][K] extends { aliasFor: unknown }
    ? never
    : K]: ValueOf<E['parameters'][K]>;
};

/** One record of an endpoint as it is on the wire. */
export type RecordOf<E extends Endpoint> = Static<E['record']>;

/** Declares an endpoint, keeping its exact types. */
export const endpoint = <const E extends Endpoint>(declaration: E): E => declaration;

/** The field names of an endpoint's record in the order of the wire. */
export const fieldsOf = (record: ObjectSchema): string[] => Object.keys(record.properties);

/**
 * Parses raw texts, already decoded, by an endpoint's declaration.
 * @throws Refusal of contract 4.4 and 6.3 that names the first parameter at fault.
 */
export function parseParameters<E extends Endpoint>(
  declaration: E,
  raw: ReadonlyMap<string, string>,
): ParametersOf<E> {
  const values: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(declaration.parameters)) {
    const value = parseOne(name, parameter, raw);
    const { aliasFor } = parameter;
    if (aliasFor === undefined) values[name] = value;
    else if (value !== undefined) {
      const meant = aliasFor.toValue(value);
      if (raw.has(aliasFor.name) && values[aliasFor.name] !== meant)
        throw contradiction(name, aliasFor.name, raw);
      values[aliasFor.name] = meant;
    }
  }
  return values as ParametersOf<E>;
}

function contradiction(name: string, other: string, raw: ReadonlyMap<string, string>): Refusal {
  const message = `${name} is another name of ${other}, and they differ: give one of them.`;
  return new Refusal('invalid_parameter', { message, param: name, got: raw.get(name)! });
}

function parseOne(name: string, parameter: Parameter, all: ReadonlyMap<string, string>): unknown {
  const raw = all.get(name);
  const { required, description, example, emptyAllowed = false } = parameter;
  if (raw === undefined && !required) return parameter.default;
  try {
    if (raw === undefined) throw refusal(`is required: ${description}, such as ${example}`);
    if (raw === '' && !emptyAllowed)
      throw refusal(`is empty: leave it out or give it a value such as ${example}`);
    return parameter.parse(raw, all);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const message = `${name} ${error.facts.message}.`;
    throw new Refusal(error.word, {
      ...error.facts,
      message,
      param: name,
      ...(raw !== undefined && { got: raw }),
    });
  }
}

const refusal = (message: string): Refusal => new Refusal('invalid_parameter', { message });
