// The shape of one dataset's declaration: what we keep, as data. It drives its table, import, export, deletion, content hash and counts.
import type { Fields } from './field.ts';

/** What a column holds: `day` is a day number, `instant` epoch milliseconds (UTC), `json` any JSON value. */
export type ColumnKind = 'text' | 'integer' | 'real' | 'instant' | 'day' | 'boolean' | 'json' | 'bytes';

export type Column = { readonly kind: ColumnKind; readonly nullable?: true };

export type Dataset = {
  readonly name: string;
  readonly columns: Readonly<Record<string, Column>>;
  /** Columns that tell rows apart; the first one is the shard. Rows are upserted by it. */
  readonly key: readonly string[];
  /** Further orders that are read: each becomes an index. */
  readonly indexes?: readonly (readonly string[])[];
  /** Rows lie in the order in which they came, not in that of the key: for large rows whose key is a hash. */
  readonly keptAsTheyCome?: true;
  /** How its rows come from files and leave in files; absent from what the service keeps of itself. */
  readonly file?: FileDeclaration;
};

/** How rows of a dataset come from files and leave in files (contract 10, 11). */
export type FileDeclaration = {
  readonly fields: Fields;
  /** The column that says when a row is: ranges select by it. */
  readonly time?: string;
  /** How a row names instruments, the one that it is about first. */
  readonly names?: readonly Naming[];
  /** Why a row is refused whose key the file has already, with other values. */
  readonly repeated: { readonly column: string; readonly reason: string };
  /** What `bourse delete` offers; absent where rows are deleted in another way. */
  readonly deletion?: DeletionDeclaration;
};

/** How a row names an instrument of its country. One whose symbol is null names none. */
export type Naming = {
  /** The asset type, or the column that has it. */
  readonly assetSchema: string | { readonly column: string };
  /** The column of the symbol. */
  readonly symbol: string;
  /** The columns that may say on which day it had the symbol, the first that does first (contract 9.6); none: it is the present one. */
  readonly on?: readonly string[];
  /** The column of the exchange that a new instrument gets. */
  readonly exchange?: string;
  /** A symbol `*` names the whole market. */
  readonly mayBeMarket?: true;
  /** The row is the instrument: they are made and deleted together. */
  readonly isOwn?: true;
};

/** A flag of `bourse delete` beside those of the fields. */
export type Selector = {
  /** The column that it selects by; its field says what it may be. */
  readonly column: string;
  /** As help shows its value. */
  readonly takes: string;
  readonly about: string;
  /** Chooses rows one by one, in place of `--symbol`, and without a range. */
  readonly isAlone?: true;
};

/** What `bourse delete` says of a dataset and asks for. */
export type DeletionDeclaration = {
  readonly about: string;
  /** What the rows are, in the plural. */
  readonly rows: string;
  /** Flags that must be given. */
  readonly needs: readonly string[];
  /** What a flag of a field is here, for its help. */
  readonly flags: Readonly<Record<string, string>>;
  readonly selectors?: Readonly<Record<string, Selector>>;
  readonly examples: readonly string[];
};

type ValueOfKind<K extends ColumnKind> = K extends 'text'
  ? string
  : K extends 'boolean'
    ? boolean
    : K extends 'json'
      ? unknown
      : K extends 'bytes'
        ? Uint8Array
        : number;

type ValueOf<C extends Column> = C extends { nullable: true }
  ? ValueOfKind<C['kind']> | null
  : ValueOfKind<C['kind']>;

/** The name of a column of a dataset. */
export type ColumnOf<D extends Dataset> = keyof D['columns'] & string;

/** One stored row of a dataset. */
export type RowOf<D extends Dataset> = { readonly [K in keyof D['columns']]: ValueOf<D['columns'][K]> };

/** Declares a dataset, keeping its exact types. */
export function dataset<const D extends Dataset>(declaration: D): D {
  return declaration;
}

/** What the command line calls a dataset (contract 10). */
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
