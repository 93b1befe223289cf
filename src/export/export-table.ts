// What is wanted of a dataset, and what is to be written of it.
import type { ParsedInstant } from '../base/instant.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import type { Interval } from '../contract/interval.ts';
import type { PriceBasis } from '../contract/price-basis.ts';
import type { TextStyle } from './text-style.ts';

/** What of a dataset is wanted; null is everything. */
export type Selection = {
  readonly assetSchema: AssetSchema | null;
  readonly country: string | null;
  /** Goes with a country. */
  readonly symbol: string | null;
  readonly interval: Interval | null;
  readonly basis: PriceBasis | null;
  /** Inclusive bounds (contract 2.2, 2.3). */
  readonly from: ParsedInstant | null;
  readonly to: ParsedInstant | null;
};

/** A column of a file, and its type where the format has types: a name of DuckDB's. */
export type ExportColumn = { readonly name: string; readonly type: string };

/** Some lines of a file. */
export type Lines = { readonly text: string; readonly rows: number };

/** What is to be written of a dataset. */
export type ExportTable = {
  readonly columns: readonly ExportColumn[];
  /** How many rows it has, about; null where that is not known. */
  readonly rowsAbout: number | null;
  /** The rows as lines of a style of text, some at a time; to be read once. */
  lines(style: TextStyle): AsyncGenerator<Lines>;
  /** What whoever imports the file should know, once all lines were read. */
  advice(): ImportAdvice;
};

/** How a file comes back. */
export type ImportAdvice = {
  /** Flags that its import needs. */
  readonly flags: readonly string[];
  readonly notes: readonly string[];
};
