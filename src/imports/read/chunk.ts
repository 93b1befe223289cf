// The rows of a file in columns, and how a reading of them is asked for.
import type { ReadableFile, ScanPlan } from './scan.ts';
import type { TextCells } from './text-cells.ts';

/** Which columns to read, and how. Other columns are ignored. */
export type ReadPlan = ScanPlan & { readonly texts: readonly string[] };

/** Some rows of a file. Columns have the order of the plan. */
export type Chunk = {
  readonly count: number;
  /** The number of the first row, counted from 1. */
  readonly firstRow: number;
  readonly texts: readonly TextCells[];
  /** A missing number is NaN. */
  readonly numbers: readonly Float64Array[];
  /** In a careful reading of a CSV: the first cell after the last column. */
  readonly surplus: TextCells | null;
};

/** A file whose columns are not known yet. */
export type DescribedFile = Pick<ReadableFile, 'name' | 'path' | 'format'>;

/** The names and types of the columns of a file. */
export type Columns = { readonly header: readonly string[]; readonly types: readonly string[] };

/** The request to a reader process. */
export type ColumnsAsked = { readonly kind: 'columns'; readonly file: DescribedFile };
export type ChunksAsked = {
  readonly kind: 'chunks';
  readonly file: ReadableFile;
  readonly plan: ReadPlan;
  readonly firstRow: number;
};

/** Reads rows of a file, the first of which has the number `firstRow`. */
export type ReadRows = (file: ReadableFile, plan: ReadPlan, firstRow: number) => AsyncGenerator<Chunk>;
