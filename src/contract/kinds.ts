// The kinds of parameter: a schema that documents, and a parser that turns the raw text into a value or a refusal.
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

/** One kind of parameter. `parse` reads decoded text; the message of its refusal continues a sentence that begins with the parameter's name. */
export type Kind<T> = {
  readonly schema: TSchema;
  readonly example: string;
  readonly parse: (raw: string) => T;
  /** The value as text, so that a next page's address can repeat it. */
  print(value: T): string;
  /** Whether the empty text is a value; otherwise it is refused (contract 4.4). */
  readonly emptyAllowed?: true;
};

/** Refuses a text; `parseParameters` adds the parameter's name and the text. */
function refuse(problem: string, allowed: readonly string[] | string): never {
  throw new Refusal('invalid_parameter', { message: problem, allowed });
}

const identity = (text: string): string => text;

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
      'must be a country and a symbol separated by a colon, such as US:AAPL',
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
      'must be asset type, country and symbol separated by colons, such as stock:US:AAPL or stock:US:*',
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

/** A field to sort by, and its direction. */
export type SortTerm<F extends string = string> = {
  readonly field: F;
  readonly direction: 'asc' | 'desc';
};

/** Fields to sort by, separated by commas, each optionally followed by `asc` or `desc`; a repeated field is ignored. */
export function sortBy<const F extends string>(
  fields: readonly F[],
  example: string,
): Kind<readonly SortTerm<F>[]> {
  const form = new RegExp(`^ *(${fields.join('|')})(?: +(asc|desc))? *$`, 'i');
  const refused = (): never =>
    refuse(
      `must name fields of ${fields.join(', ')}, separated by commas, each optionally followed by asc or desc, such as ${example}`,
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

/** A code that begins with a prefix, such as `HOLIDAY_CHRISTMAS`: any letter case in, upper case out. */
export function code(prefix: string, example: string): Kind<string> {
  const pattern = `^${prefix}[A-Za-z0-9_]+$`;
  const form = new RegExp(pattern, 'i');
  const beginning = prefix === '' ? '' : `${prefix}… in `;
  const allowed = `${beginning}letters, digits and underscores, at most ${limits.codeCharactersMax} characters`;
  return {
    schema: StringSchema({ pattern, maxLength: limits.codeCharactersMax }),
    example,
    parse: (raw) =>
      raw.length <= limits.codeCharactersMax && form.test(raw)
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
