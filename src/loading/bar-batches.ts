// Reads a bars file fast, in batches of rows as arrays.
import { valueFields } from '../datasets/bars.ts';
import type { ComputedColumn } from '../files/computed-column.ts';
import { type Chunk, readChunks } from '../files/read.ts';
import type { ReadableFile } from '../files/scan.ts';
import { type BarChunk, BarChunker, type BarColumns, columnsOf, type Names } from './bar-chunk.ts';

/** A file to be read, and which of its columns give which fields. */
export type BarReading = {
  readonly file: ReadableFile;
  readonly columns: BarColumns;
  readonly derived: readonly ComputedColumn[];
};

/** The most rows in a batch. */
export const BATCH_ROWS = 16_384;

/** A batch that is being filled. */
class Batch implements BarChunk {
  readonly ms = new Float64Array(BATCH_ROWS);
  readonly kinds = new Uint8Array(BATCH_ROWS);
  readonly nameIds = new Int32Array(BATCH_ROWS);
  readonly newNames: Names[] = [];
  readonly values: readonly (Float64Array | null)[];
  readonly firstRow: number;
  count = 0;

  constructor(columns: BarColumns, firstRow: number) {
    this.values = valueFields.map((field) => (columns.has(field) ? new Float64Array(BATCH_ROWS) : null));
    this.firstRow = firstRow;
  }

  add(chunk: Chunk, chunker: BarChunker): void {
    chunker.readMoments(chunk, this.ms, this.kinds, this.count);
    for (const [index, column] of chunker.valuesOf(chunk).entries())
      if (column !== null) this.values[index]!.set(column, this.count);
    this.newNames.push(...chunker.readNames(chunk, this.nameIds, this.count));
    this.count += chunk.count;
  }
}

/** The rows of a file, in order. Each batch has arrays of its own. @throws NeedsCare, FileProblem */
export async function* readBatches({ file, columns, derived }: BarReading): AsyncGenerator<BarChunk> {
  const { texts, numbers } = columnsOf(columns);
  const chunker = new BarChunker(columns, texts, numbers);
  let batch = new Batch(columns, 1);
  for await (const chunk of readChunks(file, { texts, numbers, careful: false, derived })) {
    if (batch.count + chunk.count > BATCH_ROWS) {
      yield batch;
      batch = new Batch(columns, batch.firstRow + batch.count);
    }
    batch.add(chunk, chunker);
  }
  if (batch.count > 0) yield batch;
}
