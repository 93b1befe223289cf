// What a cell of a file may hold for a field of a dataset, and how the field is written to a file again (contract 11).
import { formatDay, parseDay } from '../base/instant.ts';
import { numberOf } from '../base/number.ts';
import {
  assetSchemas,
  parseAssetSchema,
  parseCountry,
  parseSymbol,
  symbolAllowed,
} from '../contract/identifiers.ts';

/** What a cell of a field may hold. */
export type FieldRule = {
  /** The value of a text that is not empty; undefined where it is refused. */
  readonly parse: (text: string) => unknown;
  /** Why a text is refused: it follows the column's name. */
  readonly reason: string;
  /** All values, where they are few. */
  readonly words?: readonly string[];
};

/** An instant; one that is finer than the unit is cut down to it, and to a minute refused. */
export type InstantRule = { readonly unit: 'millisecond' | 'second' | 'minute' };

/** The values that a row of a file gives, by field; fields whose cell is empty are left out. */
export type Values = Readonly<Record<string, unknown>>;

/** One field of a dataset's files. */
export type Field = {
  readonly rule: FieldRule | InstantRule;
  readonly isRequired?: true;
  /** The flag that gives it for a whole file, and selects rows by it. */
  readonly flag?: string;
  /** The cell of a stored row, where that is not the column of the same name. */
  readonly written?: {
    readonly kind: 'text' | 'integer';
    readonly of: (row: Values) => string | number | null;
  };
  /** What the store alone can know is read, and written to no file. */
  readonly isNeverWritten?: true;
};

/** The fields of a dataset's files, in the order of an exported file. */
export type Fields = Readonly<Record<string, Field>>;

/** A field that a row can do without. */
export const optional = (rule: Field['rule'], more: Omit<Field, 'rule'> = {}): Field => ({ rule, ...more });

/** A field that every row needs. */
export const required = (rule: Field['rule'], more: Omit<Field, 'rule' | 'isRequired'> = {}): Field => ({
  rule,
  isRequired: true,
  ...more,
});

/** A value that `holds`, as it stands. */
export const textThat = (holds: (text: string) => boolean, reason: string): FieldRule => ({
  parse: (text) => (holds(text) ? text : undefined),
  reason,
});

/** Any text. */
export const anyText = textThat(() => true, '');

/** Text as it stands; spaces alone are none. */
export const someText = textThat((text) => text.trim() !== '', 'is blank');

/** One of a few words, in any letter case. */
export const wordRule = (words: readonly string[]): FieldRule => ({
  parse: (text) => words.find((word) => word === text.toLowerCase()),
  reason: `must be one of ${words.join(', ')}`,
  words,
});

/** A finite number that `holds`. */
export const numberRule = (holds: (number: number) => boolean, reason: string): FieldRule => ({
  parse(text) {
    const number = numberOf(text);
    return number !== null && Number.isFinite(number) && holds(number) ? number : undefined;
  },
  reason,
});

export const anyNumber = numberRule(() => true, 'must be a number, such as 3.1');

export const assetSchemaRule: FieldRule = {
  parse: (text) => parseAssetSchema(text) ?? undefined,
  reason: 'must be stock, future, crypto, forex or option',
  words: assetSchemas,
};

/** The asset type of what is no option itself; `why` follows those that it may be. */
export const underlyingSchemaRule = (why: string): FieldRule => ({
  parse(text) {
    const assetSchema = parseAssetSchema(text);
    return assetSchema === null || assetSchema === 'option' ? undefined : assetSchema;
  },
  reason: `must be stock, future, crypto or forex: ${why}`,
  words: assetSchemas.filter((schema) => schema !== 'option'),
});

export const countryRule: FieldRule = {
  parse: (text) => parseCountry(text) ?? undefined,
  reason: 'must be a two-letter code such as US, or GLOBAL',
};

export const symbolRule: FieldRule = {
  parse: (text) => parseSymbol(text) ?? undefined,
  reason: `must be ${symbolAllowed}`,
};

/** A day number. */
export const dayRule: FieldRule = {
  parse: (text) => parseDay(text) ?? undefined,
  reason: 'must be a date YYYY-MM-DD',
};

/** A date that is kept as text. */
export const dateTextRule = textThat((text) => parseDay(text) !== null, dayRule.reason);

export const exchangeRule: FieldRule = { parse: (text) => text.toUpperCase(), reason: '' };

export const currencyRule: FieldRule = {
  parse: (text) => (/^[A-Za-z]{3}$/.test(text) ? text.toUpperCase() : undefined),
  reason: 'must be a currency code of three letters, such as USD',
};

/** A field that is written as text that is made of the row. */
export const asText = (of: (row: Values) => string | null): Pick<Field, 'written'> => ({
  written: { kind: 'text', of },
});

/** A day number as files have it. */
export const dayText = (day: unknown): string => formatDay(day as number);
