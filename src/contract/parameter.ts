// Parameters: a schema that documents, and a parser that turns the raw text into a value or a refusal.
import {
  Boolean as BooleanSchema,
  Enum,
  Integer,
  Number as NumberSchema,
  String as StringSchema,
  type TSchema,
} from 'typebox';
import { MANTISSA_LIMIT, plainDecimal } from '../base/decimal.ts';
import { formatDay, type ParsedInstant, parseInstant } from '../base/instant.ts';
import { Refusal } from './errors.ts';
import { flagWords, parseFlag } from './flag.ts';
import {
  type AssetSchema,
  assetSchemas,
  type CountrySymbol,
  type FullSymbol,
  parseAssetSchema,
  parseCountry,
  parseCountrySymbol,
  parseFullSymbol,
  symbolAllowed,
} from './identifiers.ts';
import { type Interval, intervalsAllowed, namedIntervals, parseInterval } from './interval.ts';
import { type ListLimit, limits } from './limits.ts';

/** What a parameter's text may be. `parse` takes decoded text and throws a refusal whose message follows the name. */
export type Kind<T> = {
  readonly schema: TSchema;
  readonly example: string;
  readonly parse: (raw: string) => T;
  /** The value as text, so that a next page's address can repeat it. */
  print(value: T): string;
  /** Whether the empty text is a value; otherwise it is refused (contract 4.4). */
  readonly emptyAllowed?: true;
};

/** Where a parameter stands and whether it must be there. */
export type Parameter<T = unknown> = Kind<T> & {
  readonly in: 'path' | 'query';
  readonly description: string;
  readonly required: boolean;
  readonly default?: T;
  /** Beyond the specification (contract 9). */
  readonly extension?: true;
};

/** A refusal of one parameter's text; the door adds the parameter's name and what arrived. */
function refuse(problem: string, allowed: readonly string[] | string): never {
  throw new Refusal('invalid_parameter', { message: problem, allowed });
}

const identity = (text: string): string => text;

/** A path parameter: always required. */
export function path<T>(kind: Kind<T>, description: string): Parameter<T> & { readonly required: true } {
  return { ...kind, in: 'path', description, required: true };
}

/** A query parameter that must be sent. */
export function required<T>(kind: Kind<T>, description: string): Parameter<T> & { readonly required: true } {
  return { ...kind, in: 'query', description, required: true };
}

/** A query parameter that may be left out, and is then undefined. */
export function optional<T>(kind: Kind<T>, description: string): Parameter<T> & { readonly required: false } {
  return { ...kind, in: 'query', description, required: false };
}

/** A query parameter that may be left out, and then has a value of its own. */
export function defaulted<T, D extends T>(
  kind: Kind<T>,
  value: D,
  description: string,
): Parameter<T> & { readonly required: false; readonly default: D } {
  return { ...kind, in: 'query', description, required: false, default: value };
}

/** Marks a parameter as beyond the specification (contract 9). */
export function extension<P extends Parameter>(parameter: P): P & { readonly extension: true } {
  return { ...parameter, extension: true };
}

/** One of a few words, in any letter case (contract 1.6). */
export function oneOf<const W extends string>(words: readonly W[]): Kind<W> {
  return {
    schema: Enum([...words]),
    example: words[0]!,
    parse: (raw) =>
      words.find((word) => word === raw.toLowerCase()) ?? refuse(`must be one of ${words.join(', ')}`, words),
    print: identity,
  };
}

/** The parameters of an endpoint that has CSV: the format, and whether its text is made safe for spreadsheets (contract 5.1). */
export function formats<const F extends 'json' | 'csv'>(format: F) {
  return {
    format: defaulted(oneOf(['json', 'csv']), format, 'the format of the answer'),
    csv_safe: extension(
      defaulted(flag, false, 'whether to put an apostrophe before text of CSV that a spreadsheet would run'),
    ),
  };
}

export const assetSchema: Kind<AssetSchema> = {
  ...oneOf(assetSchemas),
  parse: (raw) => parseAssetSchema(raw) ?? refuse(`must be one of ${assetSchemas.join(', ')}`, assetSchemas),
};

export const country: Kind<string> = {
  schema: StringSchema({ pattern: '^([A-Za-z]{2}|[Gg][Ll][Oo][Bb][Aa][Ll])$' }),
  example: 'US',
  parse: (raw) =>
    parseCountry(raw) ??
    refuse('must be a two-letter country code such as US, or GLOBAL', 'US, UK, …, GLOBAL'),
  print: identity,
};

export const countrySymbol: Kind<CountrySymbol> = {
  schema: StringSchema({ pattern: '^[A-Za-z]+:.{1,40}$' }),
  example: 'US:AAPL',
  parse: (raw) =>
    parseCountrySymbol(raw) ??
    refuse(
      'must be a country and a symbol parted by a colon, such as US:AAPL',
      `country:symbol, the symbol ${symbolAllowed}`,
    ),
  print: (value) => `${value.country}:${value.symbol}`,
};

export const fullSymbol: Kind<FullSymbol> = {
  schema: StringSchema({ pattern: '^[A-Za-z]+:[A-Za-z]+:.{1,40}$' }),
  example: 'stock:US:AAPL',
  parse: (raw) =>
    parseFullSymbol(raw) ??
    refuse(
      'must be asset type, country and symbol parted by colons, such as stock:US:AAPL or stock:US:*',
      `type:country:symbol, the symbol * or ${symbolAllowed}`,
    ),
  print: (value) => `${value.assetSchema}:${value.country}:${value.symbol}`,
};

export const interval: Kind<Interval> = {
  schema: StringSchema({
    pattern: '^([1-9][0-9]{0,3}[Mm]|[Dd][Aa][Yy]|[Ww][Ee][Ee][Kk]|[Mm][Oo][Nn])$',
    examples: namedIntervals,
  }),
  example: '1M',
  parse: (raw) => {
    const parsed = parseInterval(raw);
    if (parsed !== null) return parsed;
    throw new Refusal('unknown_interval', {
      message: `must be one of ${intervalsAllowed}`,
      allowed: namedIntervals,
    });
  },
  print: identity,
};

const dateForms =
  'YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS, with an optional fraction and an optional Z or +hh:mm; years 1900 to 2200';

/** A date, or a date-time with or without an offset (contract 2.1). */
export const dateTime: Kind<ParsedInstant & { readonly text: string }> = {
  schema: StringSchema({ description: dateForms }),
  example: '2025-03-03',
  parse: (raw) => {
    const parsed = parseInstant(raw);
    return parsed === null
      ? refuse(`must be a real date or date-time: ${dateForms}`, dateForms)
      : { ...parsed, text: raw };
  },
  print: (value) => value.text,
};

/** A calendar date; the time of a date-time is dropped as written (contract 2.2). */
export const date: Kind<number> = {
  schema: StringSchema({ format: 'date' }),
  example: '2025-03-03',
  parse: (raw) => parseInstant(raw)?.day ?? refuse(`must be a real date: ${dateForms}`, dateForms),
  print: formatDay,
};

/** How many records to give: a plain decimal integer, never clamped (contract 4.4). */
export function limit(bounds: ListLimit): Kind<number> {
  const allowed = `1 to ${bounds.max}`;
  return {
    schema: Integer({ minimum: 1, maximum: bounds.max }),
    example: String(bounds.default),
    parse: (raw) => {
      const value = /^\d{1,6}$/.test(raw) ? Number(raw) : 0;
      return value >= 1 && value <= bounds.max
        ? value
        : refuse(`must be a whole number from ${allowed}`, allowed);
    },
    print: String,
  };
}

/** A yes or no: `true false 1 0 yes no` in any case (contract 3.5). */
export const flag: Kind<boolean> = {
  schema: BooleanSchema(),
  example: 'true',
  parse: (raw) => parseFlag(raw) ?? refuse('must be true or false', Object.keys(flagWords)),
  print: String,
};

/** A decimal number of at most 15 digits before and after its point. */
export const decimal: Kind<number> = {
  schema: NumberSchema(),
  example: '71.22',
  parse: (raw) => {
    const value = /^[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})$/.test(raw) ? Number(raw) : Number.NaN;
    return Math.abs(value) < MANTISSA_LIMIT
      ? value
      : refuse('must be a decimal number such as 71.22', 'a decimal number');
  },
  print: plainDecimal,
};

/** A field to sort by, and which way. */
export type SortTerm<F extends string = string> = {
  readonly field: F;
  readonly direction: 'asc' | 'desc';
};

/** Fields to sort by, parted by commas, each optionally followed by `asc` or `desc`; a field that comes again says nothing more. */
export function sortBy<const F extends string>(
  fields: readonly F[],
  example: string,
): Kind<readonly SortTerm<F>[]> {
  const form = new RegExp(`^ *(${fields.join('|')})(?: +(asc|desc))? *$`, 'i');
  const refused = (): never =>
    refuse(
      `must name fields of ${fields.join(', ')}, parted by commas, each optionally followed by asc or desc, such as ${example}`,
      fields,
    );
  return {
    schema: StringSchema({ maxLength: limits.sortByCharactersMax }),
    example,
    parse(raw) {
      if (raw.length > limits.sortByCharactersMax) return refused();
      const terms = new Map<string, SortTerm<F>>();
      for (const part of raw.split(',')) {
        const [, field, direction = 'asc'] = form.exec(part)?.map((word) => word?.toLowerCase()) ?? refused();
        if (!terms.has(field!)) terms.set(field!, { field: field as F, direction: direction as 'asc' });
      }
      return [...terms.values()];
    },
    print: (terms) => terms.map(({ field, direction }) => `${field} ${direction}`).join(),
  };
}

const CODE_CHARACTERS_MAX = 100;

/** A code in capitals, such as `HOLIDAY_CHRISTMAS`, with the beginning that all of its kind have; any case comes in. */
export function code(prefix: string, example: string): Kind<string> {
  const pattern = `^${prefix}[A-Za-z0-9_]+$`;
  const form = new RegExp(pattern, 'i');
  const beginning = prefix === '' ? '' : `${prefix}… in `;
  const allowed = `${beginning}letters, digits and underscores, at most ${CODE_CHARACTERS_MAX} characters`;
  return {
    schema: StringSchema({ pattern, maxLength: CODE_CHARACTERS_MAX }),
    example,
    parse: (raw) =>
      raw.length <= CODE_CHARACTERS_MAX && form.test(raw)
        ? raw.toUpperCase()
        : refuse(`must be a code such as ${example}`, allowed),
    print: identity,
  };
}

/** Free text of bounded length without control characters. */
export function text(
  example: string,
  characters: { readonly min: number; readonly max: number },
): Kind<string> {
  const allowed =
    characters.min === characters.max
      ? `${characters.min} characters`
      : `${characters.min} to ${characters.max} characters`;
  return {
    schema: StringSchema({ minLength: characters.min, maxLength: characters.max }),
    example,
    parse: (raw) =>
      raw.length >= characters.min && raw.length <= characters.max && !/\p{Cc}/u.test(raw)
        ? raw
        : refuse(`must be text of ${allowed}`, allowed),
    print: identity,
  };
}

/** An opaque page key as the service gave it; the empty text asks for the first page (contract 4.4). */
export const pageKey: Kind<string> = {
  schema: StringSchema({ maxLength: limits.pageKeyCharactersMax }),
  example: '',
  parse: (raw) => {
    if (/^[A-Za-z0-9_-]*$/.test(raw) && raw.length <= limits.pageKeyCharactersMax) return raw;
    throw new Refusal('invalid_page_key', { message: 'is not a page key of this service' });
  },
  print: identity,
  emptyAllowed: true,
};
