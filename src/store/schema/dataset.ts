// The form of a dataset's declaration. It drives the dataset's table, import, export, deletion, content hash
// and counts.
import type { Fields, Values } from './field.ts';

/**
 * The values of a column: `day` is a day number, `instant` epoch milliseconds (UTC), `json` any JSON value.
 */
export type ColumnKind = keyof KindValues;

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
   * How it is known when a row became known (`past/known-reader.ts`); absent where all rows count as known.
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
  /** The reason to refuse a row whose key an earlier row of the file has with other values. */
  readonly repeated: { readonly column: string; readonly reason: string };
  /** What `bourse delete` offers; absent where rows are deleted in another way. */
  readonly deletion?: DeletionDeclaration;
};

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

type KindValues = {
  text: string;
  integer: number;
  real: number;
  instant: number;
  day: number;
  boolean: boolean;
  json: unknown;
  bytes: Uint8Array;
};

type ValueOf<C extends Column> = KindValues[C['kind']] | (C extends { nullable: true } ? null : never);

/** The name of a column of a dataset. */
export type ColumnOf<D extends Dataset> = keyof D['columns'] & string;

/** One stored row of a dataset. */
export type RowOf<D extends Dataset> = { readonly [K in keyof D['columns']]: ValueOf<D['columns'][K]> };

/** Declares a dataset with its exact types. */
export const dataset = <const D extends Dataset>(declaration: D): D => declaration;

/** The name of a dataset on the command line (contract 10). */
export const spokenName = ({ name }: Dataset): string => name.replaceAll('_', '-');

export const text = { kind: 'text' } as const;
export const integer = { kind: 'integer' } as const;
export const real = { kind: 'real' } as const;
export const instant = { kind: 'instant' } as const;
export const day = { kind: 'day' } as const;
export const boolean = { kind: 'boolean' } as const;
export const json = { kind: 'json' } as const;
export const bytes = { kind: 'bytes' } as const;

/** A column that may be null. */
export function orNull<const C extends Column>(column: C): C & { readonly nullable: true } {
  return { ...column, nullable: true };
}
