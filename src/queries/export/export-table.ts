// What an export selects of a dataset, and what it writes.
import type { ParsedInstant } from '../../base/instant.ts';
import type { AssetSchema } from '../../contract/identifiers.ts';
import type { Interval } from '../../contract/interval.ts';
import type { PriceBasis, VolumeBasis } from '../../contract/price-basis.ts';
import type { FileDataset } from '../../store/schema/index.ts';
import type { TextStyle } from './text-style.ts';

/** The selection of a dataset's rows; null selects everything. */
export type Selection = {
  readonly assetSchema: AssetSchema | null;
  readonly country: string | null;
  /** Needs a country. */
  readonly symbol: string | null;
  readonly interval: Interval | null;
  readonly basis: PriceBasis | null;
  readonly volumes: VolumeBasis | null;
  /** Inclusive bounds (contract 2.2, 2.3). */
  readonly from: ParsedInstant | null;
  readonly to: ParsedInstant | null;
};

/** The fields that a selection names, and their values. */
export function whereOf(dataset: FileDataset, selection: Selection): Record<string, string> {
  const named = {
    '--schema': selection.assetSchema,
    '--country': selection.country,
    '--symbol': selection.symbol,
  };
  return Object.fromEntries(
    Object.entries(dataset.file.fields).flatMap(([field, { flag }]) => {
      const value = named[flag as keyof typeof named] ?? null;
      return value === null ? [] : [[field, value]];
    }),
  );
}

/** A column of a file, and the name of its DuckDB type, for formats that have types. */
export type ExportColumn = { readonly name: string; readonly type: string };

/** Some lines of a file. */
export type Lines = { readonly text: string; readonly rows: number };

/** The table that an export writes. */
export type ExportTable = {
  readonly columns: readonly ExportColumn[];
  /** About how many rows it has; null where that is unknown. */
  readonly rowsAbout: number | null;
  /** Whether a file is made where it has no row: one with the header alone. */
  readonly isMadeEmpty: boolean;
  /** The rows as lines of a text style, some at a time; can be read once. */
  lines(style: TextStyle): AsyncGenerator<Lines>;
  /** The flags that an import of the file needs. */
  readonly flags: readonly string[];
};
