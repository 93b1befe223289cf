// The shape of one dataset's declaration: what we keep, as data. Engines make tables of it.

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
