// The fields of dataset files: the values that a cell may hold, and how a field is exported (contract 11).

import { numberOf } from '../../base/decimal.ts';
import { parseDay } from '../../base/instant.ts';
import {
  assetSchemas,
  parseAssetSchema,
  parseCountry,
  parseSymbol,
  symbolAllowed,
} from '../../contract/identifiers.ts';

/** The values that a cell of a field may hold. */
export type FieldRule = {
  /** The value of a text that is not empty; undefined for a refused text. */
  readonly parse: (text: string) => unknown;
  /** Why a text is refused: it follows the column's name. */
  readonly reason: string;
  /** All values, where they are few. */
  readonly words?: readonly string[];
};

/** An instant. A finer instant is cut down to the unit, or refused where the unit is a minute. */
export type InstantRule = { readonly unit: 'millisecond' | 'second' | 'minute' };

/** The values of a row of a file, by field, without the fields whose cell is empty. */
export type Values = Readonly<Record<string, unknown>>;

/** One field of a dataset's files. */
export type Field = {
  readonly rule: FieldRule | InstantRule;
  readonly isRequired?: true;
  /** Rows of one kind need it: a dividend its amount. */
  readonly isOfOneKind?: true;
  /** The flag that gives its value for a whole file, and selects rows by it. */
  readonly flag?: string;
  /** The exported cell of a stored row, where it is not the column of the same name. */
  readonly written?: {
    readonly kind: 'text' | 'integer';
    readonly of: (row: Values) => string | number | null;
  };
  /** The field is imported but never exported: another store has other values. */
  readonly isNeverWritten?: true;
};

/** The fields of a dataset's files, in the order of an exported file. */
export type Fields = Readonly<Record<string, Field>>;

/** A field that may be empty. */
export const optional = (rule: Field['rule'], more: Omit<Field, 'rule'> = {}): Field => ({ rule, ...more });

/** A field that every row needs. */
export const required = (rule: Field['rule'], more: Omit<Field, 'rule'> = {}): Field =>
  optional(rule, { isRequired: true, ...more });

/** A text that `holds`, unchanged. */
export const textThat = (holds: (text: string) => boolean, reason: string): FieldRule => ({
  parse: (text) => (holds(text) ? text : undefined),
  reason,
});

/** Any text. */
export const anyText = textThat(() => true, '');

/** Any text that is not blank, unchanged. */
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

/** An asset type other than option; `why` ends the reason of a refusal. */
export const underlyingSchemaRule = (why: string): FieldRule => ({
  parse(text) {
    const assetSchema = parseAssetSchema(text);
    return assetSchema === null || assetSchema === 'option' ? undefined : assetSchema;
  },
  reason: `must be stock, future, crypto or forex: ${why}`,
  words: assetSchemas.filter((schema) => schema !== 'option'),
});

/** The value of a parser that gives null for a refused text. */
export const parsedBy = (parse: (text: string) => unknown, reason: string): FieldRule => ({
  parse: (text) => parse(text) ?? undefined,
  reason,
});

export const countryRule = parsedBy(parseCountry, 'must be a two-letter code such as US, or GLOBAL');

export const symbolRule = parsedBy(parseSymbol, `must be ${symbolAllowed}`);

/** A day number. */
export const dayRule = parsedBy(parseDay, 'must be a date YYYY-MM-DD');

/** A date that is stored as text. */
export const dateTextRule = textThat((text) => parseDay(text) !== null, dayRule.reason);

export const exchangeRule: FieldRule = { parse: (text) => text.toUpperCase(), reason: '' };

/** A text of one form, in capitals. */
export const capitals = (form: RegExp, reason: string): FieldRule =>
  parsedBy((text) => (form.test(text) ? text.toUpperCase() : null), reason);

/** A field that is exported as a text made from the row. */
export const asText = (of: (row: Values) => string | null): Pick<Field, 'written'> => ({
  written: { kind: 'text', of },
});

/** Fields that most datasets have. */
export const assetSchemaField = required(assetSchemaRule, { flag: '--schema' });
export const countryField = required(countryRule, { flag: '--country' });
export const symbolField = required(symbolRule, { flag: '--symbol' });
