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
  readonly ms: Float64Array;
  readonly kinds: Uint8Array;
  readonly nameIds: Int32Array;
  readonly newNames: Names[] = [];
  readonly values: readonly (Float64Array | null)[];
  readonly firstRow: number;
  count = 0;

  /** `room` is the number of rows that it can have. */
  constructor(columns: BarColumns, firstRow: number, room: number) {
    this.ms = new Float64Array(room);
    this.kinds = new Uint8Array(room);
    this.nameIds = new Int32Array(room);
    this.values = valueFields.map((field) => (columns.has(field) ? new Float64Array(room) : null));
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
  // Of a small file each chunk is a batch: the arrays of a full one take longer than its rows.
  const isSmall = file.content !== undefined;
  let batch: Batch | null = null;
  for await (const chunk of readChunks(file, { texts, numbers, careful: false, derived })) {
    if (batch !== null && batch.count + chunk.count > batch.ms.length) {
      yield batch;
      batch = new Batch(columns, batch.firstRow + batch.count, isSmall ? chunk.count : BATCH_ROWS);
    }
    batch ??= new Batch(columns, 1, isSmall ? chunk.count : BATCH_ROWS);
    batch.add(chunk, chunker);
  }
  if (batch !== null) yield batch;
}
