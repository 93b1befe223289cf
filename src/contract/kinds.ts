// The kinds of parameter: a schema that documents, and a parser that turns the raw text into a value or a
// refusal.
import { MANTISSA_LIMIT, plainDecimal } from '../base/decimal.ts';
import { formatDay, formatInstantZ, type ParsedInstant, parseInstant, SECOND_MS } from '../base/instant.ts';
import { Refusal } from './errors.ts';
import { dataVersion as dataVersionField, type Schema } from './fields.ts';
import { flagWords, parseFlag } from './file-words.ts';
import {
  assetSchemas,
  type CountrySymbol,
  type FullSymbol,
  parseAskedSymbol,
  parseAssetSchema,
  parseCountry,
  parseCountrySymbol,
  parseFullSymbol,
  symbolAllowed,
} from './identifiers.ts';
import {
  type Interval,
  type IntervalCode,
  intervalsAllowed,
  namedIntervals,
  parseInterval,
} from './interval.ts';
import { type ListLimit, limits } from './limits.ts';

/**
 * One kind of parameter. `parse` reads decoded text, beside those of the other parameters; the message of its
 * refusal continues a sentence that begins with the parameter's name.
 * `Sent` is the type of what a program gives to a client for it.
 */
export type Kind<T, Sent = T> = {
  /** In the type system alone. */
  readonly sent?: Sent;
  readonly schema: Schema;
  readonly example: string;
  readonly parse: (raw: string, others?: ReadonlyMap<string, string>) => T;
  /** The value as text, so that a next page's address can repeat it. */
  print(value: T): string;
  /** Whether the empty text is a value; otherwise it is refused (contract 4.4). */
  readonly emptyAllowed?: true;
  /**
   * Whether the text may have unencoded slashes in a path, and so be several of its segments (contract 1.7).
   */
  readonly slashesAllowed?: true;
};

/** The value that a program gives to a client for a parameter: text, or a value that has the text. */
export type SentOf<K> = K extends Kind<unknown, infer Sent> ? Sent : never;

/**
 * A kind whose texts `read` understands. It returns null or undefined for any other text; that is refused
 * with `problem` and `allowed`.
 */
function kindOf<T, Sent = T>(
  schema: Schema,
  example: string,
  read: (raw: string) => T | null | undefined,
  problem: string,
  allowed: readonly string[] | string,
  print: (value: T) => string = String,
): Kind<T, Sent> {
  const parse = (raw: string): T => read(raw) ?? refuse(problem, allowed);
  return { schema, example, parse, print };
}

/** Refuses a text; `parseParameters` adds the parameter's name and the text. */
function refuse(message: string, allowed: readonly string[] | string): never {
  throw new Refusal('invalid_parameter', { message, allowed });
}

/** One of a few words, in any letter case (contract 1.6). */
export function oneOf<const W extends string>(
  words: readonly W[],
  read = (raw: string) => words.find((word) => word === raw.toLowerCase()) ?? null,
): Kind<W> {
  return kindOf({ enum: words }, words[0]!, read, `must be one of ${words.join(', ')}`, words);
}

export const assetSchema = oneOf(assetSchemas, parseAssetSchema);

export const country = kindOf(
  { type: 'string', pattern: '^([A-Za-z]{2}|[Gg][Ll][Oo][Bb][Aa][Ll])$' },
  'US',
  parseCountry,
  'must be a two-letter country code such as US, or GLOBAL',
  'US, UK, …, GLOBAL',
);

export const countrySymbol: Kind<CountrySymbol, string> = {
  ...kindOf(
    { type: 'string', pattern: '^[A-Za-z]+:.{1,40}$' },
    'US:AAPL',
    parseCountrySymbol,
    'must be a country and a symbol separated by a colon, such as US:AAPL',
    `country:symbol, the symbol ${symbolAllowed}`,
    (value) => `${value.country}:${value.symbol}`,
  ),
  slashesAllowed: true,
};

/** Symbols separated by commas: ascending, each once. */
export const symbolList: Kind<readonly string[]> = kindOf(
  { type: 'string', pattern: '^[^,]{1,40}(,[^,]{1,40})*$' },
  'AAPL,MSFT',
  (raw) => {
    const symbols = raw.split(',').map(parseAskedSymbol);
    return symbols.includes(null) ? null : [...new Set(symbols as string[])].sort();
  },
  'must be symbols separated by commas, such as AAPL,MSFT',
  `symbols separated by commas, each ${symbolAllowed}`,
  (symbols) => symbols.join(),
);

/** Countries and symbols separated by commas, in the order asked, each once (contract 9.15). */
export const countrySymbolList: Kind<readonly CountrySymbol[], readonly string[]> = kindOf(
  { type: 'string', pattern: '^[A-Za-z]+:[^,]{1,40}(,[A-Za-z]+:[^,]{1,40})*$' },
  'US:AAPL,US:MSFT',
  (raw) => {
    const named = new Map<string, CountrySymbol>();
    for (const [at, text] of raw.split(',').entries()) {
      const one = parseCountrySymbol(text);
      if (one === null)
        refuse(
          `must be countries and symbols separated by commas, such as US:AAPL,US:MSFT: number ${at + 1} is not one`,
          `country:symbol separated by commas, each symbol ${symbolAllowed}`,
        );
      named.set(countrySymbol.print(one), one);
    }
    const { symbolsMax: max } = limits;
    if (named.size > max)
      refuse(`names ${named.size} symbols: one request may name ${max}`, `1 to ${max} symbols`);
    return [...named.values()];
  },
  '',
  '',
  (symbols) => symbols.map((one) => countrySymbol.print(one)).join(),
);

export const fullSymbol: Kind<FullSymbol, string> = kindOf(
  { type: 'string', pattern: '^[A-Za-z]+:[A-Za-z]+:.{1,40}$' },
  'stock:US:AAPL',
  parseFullSymbol,
  'must be asset type, country and symbol separated by colons, such as stock:US:AAPL or stock:US:*',
  `type:country:symbol, the symbol * or ${symbolAllowed}`,
  (value) => `${value.assetSchema}:${value.country}:${value.symbol}`,
);

export const interval: Kind<Interval, IntervalCode> = {
  schema: {
    type: 'string',
    pattern: '^([1-9][0-9]{0,3}[Mm]|[Dd][Aa][Yy]|[Ww][Ee][Ee][Kk]|[Mm][Oo][Nn])$',
    examples: namedIntervals,
  },
  example: '1M',
  parse: (raw) => {
    const parsed = parseInterval(raw);
    if (parsed !== null) return parsed;
    const message = `must be one of ${intervalsAllowed}`;
    throw new Refusal('unknown_interval', { message, allowed: namedIntervals });
  },
  print: String,
};

/** Some of a record's fields, each once, in the order asked (contract 9.16). */
export function columnList<const F extends string>(
  fields: readonly F[],
  example: string,
): Kind<readonly F[]> {
  const names: readonly string[] = fields;
  const read = (raw: string): readonly F[] | null => {
    const asked = raw.toLowerCase().split(',');
    const isRight = asked.every((one) => names.includes(one)) && new Set(asked).size === asked.length;
    return isRight ? (asked as readonly string[] as readonly F[]) : null;
  };
  return kindOf(
    { type: 'string', pattern: '^[A-Za-z_]+(,[A-Za-z_]+)*$' },
    example,
    read,
    `must be names of columns, each once, separated by commas: ${fields.join(', ')}`,
    fields,
    (columns) => columns.join(),
  );
}

/** Names that the platform has beside those of the IANA database: its `BST` is Dhaka, its `AST` Anchorage. */
const noZone = /^(?:SystemV\/.*|(?!(?:CET|EET|EST|GMT|HST|MET|MST|PRC|ROC|ROK|UCT|UTC|WET)$)[A-Z]{3})$/i;

/**
 * A time zone by its IANA name, in any letter case; an offset is none (contract 9.16). A raw plus of
 * `Etc/GMT+5` has arrived as a space.
 */
export const timeZone = kindOf(
  { type: 'string' },
  'America/New_York',
  (raw) => {
    const name = raw.replace(' ', '+');
    if (!/^[A-Za-z][\w+/-]*$/.test(name) || noZone.test(name)) return null;
    try {
      return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  },
  'must be a time zone by its IANA name, such as America/New_York',
  'names of the IANA time zone database',
);

const dateForms =
  'YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS, seconds and their fraction optional, with an optional Z or +hh:mm; years 1900 to 2200';

/** A date, or a date-time with or without an offset (contract 2.1). */
export const dateTime: Kind<ParsedInstant & { readonly text: string }, string | Date> = kindOf(
  { type: 'string', description: dateForms },
  '2025-03-03',
  (raw) => {
    const parsed = parseInstant(raw);
    return parsed && { ...parsed, text: raw };
  },
  `must be a real date or date-time: ${dateForms}`,
  dateForms,
  (value) => value.text,
);

const momentForms =
  'YYYY-MM-DDTHH:MM:SS, seconds and their fraction optional, with an optional Z or +hh:mm; years 1900 to 2200';

/**
 * A moment, epoch milliseconds cut to whole seconds. A date alone is none: it does not say which moment of
 * its day (contract 9.8).
 */
export const moment: Kind<number, string | Date> = kindOf(
  { type: 'string', description: momentForms },
  '2025-03-03T16:00:00Z',
  (raw) => {
    const parsed = parseInstant(raw);
    return parsed?.kind === 'time' ? Math.floor(parsed.ms / SECOND_MS) * SECOND_MS : null;
  },
  `must be a moment, with a time: ${momentForms}`,
  momentForms,
  formatInstantZ,
);

/** A calendar date; the time of a date-time is dropped as written (contract 2.2). */
export const date: Kind<number, string | Date> = kindOf(
  { type: 'string', format: 'date' },
  '2025-03-03',
  (raw) => parseInstant(raw)?.day,
  `must be a real date: ${dateForms}`,
  dateForms,
  formatDay,
);

/** The number of records to give: a plain decimal integer, never clamped (contract 4.4). */
export function limit({ max, default: usual }: ListLimit): Kind<number> {
  const read = (raw: string) =>
    /^\d{1,6}$/.test(raw) && Number(raw) >= 1 && Number(raw) <= max ? Number(raw) : null;
  const schema = { type: 'integer', minimum: 1, maximum: max };
  return kindOf(schema, String(usual), read, `must be a whole number from 1 to ${max}`, `1 to ${max}`);
}

/** A yes or no: `true false 1 0 yes no` in any case (contract 3.5). */
export const flag = kindOf(
  { type: 'boolean' },
  'true',
  parseFlag,
  'must be true or false',
  Object.keys(flagWords),
);

/** At most 15 digits before and after the point. */
const DECIMAL = /^[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})$/;

/** An exponent as programs write it, with or without its sign; a `+` in a query may arrive as a space. */
const EXPONENT = /e[+ -]?0?\d{1,2}$/i;

/** A decimal number, also with an exponent (contract 9.21). */
export const decimal = kindOf(
  { type: 'number' },
  '71.22',
  (raw) => {
    const value = DECIMAL.test(raw.replace(EXPONENT, '')) ? Number(raw.replace(' ', '+')) : Number.NaN;
    return Math.abs(value) < MANTISSA_LIMIT ? value : null;
  },
  'must be a decimal number such as 71.22',
  'a decimal number',
  // A number of more digits behind the point is understood with its exponent alone.
  (value) => (DECIMAL.test(plainDecimal(value)) ? plainDecimal(value) : String(value)),
);

/** A field to sort by, and its direction. */
export type SortTerm<F extends string = string> = {
  readonly field: F;
  readonly direction: 'asc' | 'desc';
};

/**
 * Fields to sort by, separated by commas, each optionally followed by `asc` or `desc`; a repeated field is
 * ignored.
 */
export function sortBy<const F extends string>(
  fields: readonly F[],
  example: string,
): Kind<readonly SortTerm<F>[], string> {
  const form = new RegExp(`^ *(${fields.join('|')})(?: +(asc|desc))? *$`, 'i');
  const read = (raw: string): readonly SortTerm<F>[] | null => {
    if (raw.length > limits.sortByCharactersMax) return null;
    const terms = new Map<string, SortTerm<F>>();
    for (const part of raw.split(',')) {
      const [, field, direction = 'asc'] = form.exec(part)?.map((word) => word?.toLowerCase()) ?? [];
      if (field === undefined) return null;
      if (!terms.has(field)) terms.set(field, { field: field as F, direction: direction as 'asc' });
    }
    return [...terms.values()];
  };
  return kindOf(
    { type: 'string', maxLength: limits.sortByCharactersMax },
    example,
    read,
    `must name fields of ${fields.join(', ')}, separated by commas, each optionally followed by asc or desc, such as ${example}`,
    fields,
    (terms) => terms.map(({ field, direction }) => `${field} ${direction}`).join(),
  );
}

/** A code that begins with a prefix, such as `HOLIDAY_CHRISTMAS`: any letter case in, upper case out. */
export function code(prefix: string, example: string): Kind<string> {
  const pattern = `^${prefix}[A-Za-z0-9_]+$`;
  const form = new RegExp(pattern, 'i');
  const maxLength = limits.codeCharactersMax;
  return kindOf(
    { type: 'string', pattern, maxLength },
    example,
    (raw) => (raw.length <= maxLength && form.test(raw) ? raw.toUpperCase() : null),
    `must be a code such as ${example}`,
    `${prefix && `${prefix}… in `}letters, digits and underscores, at most ${maxLength} characters`,
  );
}

/** Free text of bounded length, in characters as JSON Schema counts them, without control characters. */
export function text(example: string, { min, max }: { readonly min: number; readonly max: number }) {
  const allowed = min === max ? `${min} characters` : `${min} to ${max} characters`;
  const fits = (raw: string): boolean => {
    const { length } = Array.from(raw);
    return length >= min && length <= max && !/\p{Cc}/u.test(raw);
  };
  return kindOf(
    { type: 'string', minLength: min, maxLength: max },
    example,
    (raw) => (fits(raw) ? raw : null),
    `must be text of ${allowed}`,
    allowed,
  );
}

/** A version of the stored data, as `X-Data-Version` tells it (contract 9.12). */
export const dataVersion: Kind<number> = kindOf(
  dataVersionField(),
  '40',
  (raw) => (/^\d{1,15}$/.test(raw) ? Number(raw) : null),
  'must be a version from X-Data-Version',
  'whole numbers from 0 to the newest version',
);

/** An opaque page key as the service gave it; the empty text asks for the first page (contract 4.4). */
export const pageKey: Kind<string> = {
  schema: { type: 'string', maxLength: limits.pageKeyCharactersMax },
  example: '',
  parse: (raw) => {
    if (/^[A-Za-z0-9_-]*$/.test(raw) && raw.length <= limits.pageKeyCharactersMax) return raw;
    throw new Refusal('invalid_page_key', { message: 'is not a page key of this service' });
  },
  print: String,
  emptyAllowed: true,
};
