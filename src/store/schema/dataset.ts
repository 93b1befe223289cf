// The form of a dataset's declaration, and of the fields of its files: it drives the dataset's table,
// import, export, deletion, content hash and counts (contract 11).

import { numberOf } from '../../base/decimal.ts';
import { parseDay } from '../../base/instant.ts';
import {
  assetSchemas,
  parseAssetSchema,
  parseCountry,
  parseSymbol,
  symbolAllowed,
} from '../../contract/identifiers.ts';

/**
 * The values of a column: `day` is a day number, `instant` epoch milliseconds (UTC), `json` any JSON value.
 */
export type ColumnKind = keyof ValuesByKind;

export type Column = { readonly kind: ColumnKind; readonly nullable?: true };

export type Dataset = {
  readonly name: string;
  readonly columns: Readonly<Record<string, Column>>;
  /** Columns that identify a row; the first one is the shard. Rows are upserted by them. */
  readonly key: readonly string[];
  /** Further orders of reads: each becomes an index. */
  readonly indexes?: readonly (readonly string[])[];
  /**
   * The first columns of the key or of an index: rows that are equal in them are read together
   * (`RowReader.group`). The engine keeps how many there are, so that a lost one is missed.
   */
  readonly group?: readonly string[];
  /** Rows are stored in the order of their arrival, not of the key: for large rows whose key is a hash. */
  readonly keptAsTheyCome?: true;
  /**
   * What its rows were before each write is kept (`store/former-rows.ts`), because the journal of runs does
   * not have it: together by the value of a column, or all together (`by` is null).
   */
  readonly keepsFormer?: { readonly by: string | null };
  /**
   * Its rows never change, and one is removed only together with what names it: who reads it by that depends
   * on that alone.
   */
  readonly neverChanges?: true;
  /**
   * The time at which a row became known (`past/known-reader.ts`); absent where all rows count as known.
   */
  readonly knownBy?: KnownBy;
  /** The parts of the data that its rows belong to, beside the dataset itself. */
  readonly parts?: readonly PartRule[];
  /** How its rows are imported and exported; absent for the service's own records. */
  readonly file?: FileDeclaration;
};

/** The moment that a request is answered as of: what became known later is not seen (contract 9.8). */
export type KnownMoment = {
  /** Epoch milliseconds, a whole second; infinite where everything that is stored is known. */
  readonly ms: number;
  /** The date of the moment in a market; as infinite. */
  readonly dayIn: (assetSchema: string, country: string) => number;
};

/** The moment of a request that asks for all that is stored. */
export const always: KnownMoment = { ms: Number.POSITIVE_INFINITY, dayIn: () => Number.POSITIVE_INFINITY };

/** The column of instants by which rows became known; or tells whether a row was known at a moment. */
type KnownBy = string | ((row: Values, moment: KnownMoment) => boolean);

/** True if a row was known at a moment, as far as the data tell it. */
export const isKnown = <D extends Dataset>({ knownBy }: D, row: RowOf<D>, moment: KnownMoment): boolean =>
  typeof knownBy === 'string'
    ? (row[knownBy] as number) <= moment.ms
    : knownBy === undefined || knownBy(row, moment);

/**
 * The parts that can change by themselves, so that cached values of others stay (docs/decisions/0029): an
 * instrument, the bars of a series, the rows under a symbol, the series that the runs of a market and
 * interval hold, those of one run, and the calendar overrides of a market.
 */
export type PartKind = 'instrument' | 'series' | 'symbol' | 'coverage' | 'run' | 'overrides';

/**
 * Rows with equal values in some columns belong to one part. Its number is that of the column, or a hash of
 * the values.
 */
export type PartRule = {
  readonly kind: PartKind;
  /** The columns, or values that all rows have. */
  readonly of: readonly (string | { readonly is: string })[];
  /** The rows that belong to a part, where not all do. */
  readonly where?: Readonly<Record<string, string>>;
};

/** The rules by which rows of a dataset are imported and exported (contract 10, 11). */
export type FileDeclaration = {
  readonly fields: Fields;
  /** The column with the time of a row: ranges select by it. */
  readonly time?: string;
  /** How a row names instruments; the first is the row's subject. */
  readonly names?: readonly Naming[];
  /**
   * The columns that name what a row is about: with `--replace` a file stands for all rows of that within
   * some days. Absent where files do not replace what their source brought before.
   */
  readonly subject?: readonly string[];
  /** Fields that are no columns of the dataset, but a row of another one, which goes with the row. */
  readonly beside?: Beside;
  /** The reason to refuse a row whose key an earlier row of the file has with other values. */
  readonly repeated: { readonly column: string; readonly reason: string };
  /** What `bourse delete` offers; absent where rows are deleted in another way. */
  readonly deletion?: DeletionDeclaration;
};

/**
 * Rows of another dataset under the keys of a dataset's rows: with each of these goes one at most, which a
 * file brings in further fields. Who removes the row removes it too. That of the newest moment is kept, by
 * the column `newest`; null is older than any.
 */
export type Beside = { readonly dataset: Dataset; readonly newest: string };

/** The columns by which a row names an instrument of its country. A row whose symbol is null names none. */
export type Naming = {
  /** The asset type, or its column. */
  readonly assetSchema: string | { readonly column: string };
  /** The column of the symbol. */
  readonly symbol: string;
  /**
   * Columns with the day of the symbol; the first that is not null counts (contract 9.6). Without any it is
   * the present symbol.
   */
  readonly on?: readonly string[];
  /** The column of the exchange that a new instrument gets. */
  readonly exchange?: string;
  /** A symbol `*` names the whole market. */
  readonly mayBeMarket?: true;
  /** The row is the instrument: they are made and deleted together. */
  readonly isOwn?: true;
};

/** A flag of `bourse delete` beside the flags of the fields. */
type Selector = {
  /** The column that it selects by; its field checks the value. */
  readonly column: string;
  /** The name of its value in the help. */
  readonly takes: string;
  readonly about: string;
  /** Chooses rows one by one, in place of `--symbol`, and without a range. */
  readonly isAlone?: true;
};

/** The help and the flags of `bourse delete` for a dataset. */
export type DeletionDeclaration = {
  readonly about: string;
  /** The word for the rows, in the plural. */
  readonly rows: string;
  /** Flags that must be given. */
  readonly needs: readonly string[];
  /** The help for flags of fields. */
  readonly flags: Readonly<Record<string, string>>;
  readonly selectors?: Readonly<Record<string, Selector>>;
  readonly examples: readonly string[];
};

type ValuesByKind = {
  text: string;
  integer: number;
  real: number;
  instant: number;
  day: number;
  boolean: boolean;
  json: unknown;
  bytes: Uint8Array;
};

type ValueOf<C extends Column> = ValuesByKind[C['kind']] | (C extends { nullable: true } ? null : never);

/** The name of a column of a dataset. */
export type ColumnOf<D extends Dataset> = keyof D['columns'] & string;

/** One stored row of a dataset. */
export type RowOf<D extends Dataset> = { readonly [K in keyof D['columns']]: ValueOf<D['columns'][K]> };

/** A column in a declaration: its kind, and `null` where it may be null. */
type ColumnWord = ColumnKind | `${ColumnKind} null`;

type ColumnOfWord<W extends ColumnWord> = W extends `${infer K extends ColumnKind} null`
  ? { readonly kind: K; readonly nullable: true }
  : { readonly kind: Extract<W, ColumnKind> };

type Columns<W extends Readonly<Record<string, ColumnWord>>> = {
  readonly [K in keyof W]: ColumnOfWord<W[K]>;
};

/** Declared columns by their names. */
export const columnsOf = <const W extends Readonly<Record<string, ColumnWord>>>(words: W): Columns<W> =>
  Object.fromEntries(
    Object.entries(words).map(([name, word]) => {
      const [kind, nullable] = word.split(' ');
      return [name, nullable ? { kind, nullable: true } : { kind }];
    }),
  ) as Columns<W>;

type Declaration = Omit<Dataset, 'columns'> & { readonly columns: Readonly<Record<string, ColumnWord>> };

/** Declares a dataset with its exact types. */
export const dataset = <const D extends Declaration>(
  declaration: D,
): Omit<D, 'columns'> & { readonly columns: Columns<D['columns']> } => ({
  ...declaration,
  columns: columnsOf(declaration.columns),
});

/** The name of a dataset on the command line (contract 10). */
export const spokenName = ({ name }: Dataset): string => name.replaceAll('_', '-');

/** The values that a cell of a field may hold. */
export type FieldRule = {
  /** The value of a text that is not empty; undefined for a refused text. */
  readonly parse: (text: string) => unknown;
  /** Why a text is refused: it follows the column's name. */
  readonly reason: string;
  /** All values, where they are few. */
  readonly words?: readonly string[];
  /** The text is stored with the blanks around it. */
  readonly isExact?: true;
  /** The values are numbers: all of a file have the same decimal mark. */
  readonly isNumber?: true;
  /**
   * Nothing else depends on the value: in a file that nobody described, an optional cell with another text is
   * left out and counted, and its row is stored.
   */
  readonly oddIsMissing?: true;
};

/** An instant. A finer instant is cut down to the unit, or refused where the unit is a minute. */
export type InstantRule = { readonly unit: 'millisecond' | 'second' | 'minute' };

/**
 * Values by column: of a row as it is stored, of which each may be anything, or of a row of a file, without
 * the fields whose cell is empty.
 */
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
export const anyText: FieldRule = { ...textThat(() => true, ''), isExact: true };

/** Any text that is not blank, unchanged. */
export const someText: FieldRule = {
  ...textThat((text) => text.trim() !== '', 'is blank'),
  isExact: true,
};

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
  isNumber: true,
});

export const anyNumber: FieldRule = {
  ...numberRule(() => true, 'must be a number, such as 3.1'),
  oddIsMissing: true,
};

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

/** The date of a cell, as programs write it that know only times: with its midnight, in any offset. */
const WRITTEN_DAY =
  /^(\d{4})([-./]?)(\d\d)\2(\d\d)(?:[Tt ]00:00(?::00(?:\.0+)?)?(?: ?(?:[Zz]|UTC|[+-]\d\d(?::?\d\d)?))?)?$/;

/** The day number of a cell with a date. */
export function parseDayCell(text: string): number | null {
  const [, year, , month, day] = WRITTEN_DAY.exec(text) ?? [];
  return year === undefined ? null : parseDay(`${year}-${month}-${day}`);
}

/** A day number. */
export const dayRule = parsedBy(parseDayCell, 'must be a date YYYY-MM-DD');

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
