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

/** The most rows in a batch of a file that is ordered by name. */
const BATCH_ROWS = 16_384;

/** The most rows in a batch of any other: of 10,000 names each then has some rows together. */
const MIXED_ROWS = 16 * BATCH_ROWS;

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

  /** Whether hardly any row has the name of the row before it. */
  get isMixed(): boolean {
    let changes = 0;
    for (let row = 1; row < this.count; row++) if (this.nameIds[row] !== this.nameIds[row - 1]) changes++;
    return 2 * changes > this.count;
  }

  /** The same rows, those of each name together and in their order: loading a row by itself takes three times as long. */
  grouped(): BarChunk {
    const { count, nameIds, firstRow, newNames } = this;
    let most = 0;
    for (let row = 0; row < count; row++) if (nameIds[row]! > most) most = nameIds[row]!;
    // Where the rows of each name begin.
    const starts = new Int32Array(most + 2);
    for (let row = 0; row < count; row++) starts[nameIds[row]! + 1]!++;
    for (let id = 0; id < most; id++) starts[id + 1]! += starts[id]!;
    const order = new Int32Array(count);
    for (let row = 0; row < count; row++) order[starts[nameIds[row]!]!++] = row;
    const moved = <A extends Float64Array | Int32Array | Uint8Array>(values: A, to: A): A => {
      for (let at = 0; at < count; at++) to[at] = values[order[at]!]!;
      return to;
    };
    return {
      count,
      firstRow,
      newNames,
      ms: moved(this.ms, new Float64Array(count)),
      kinds: moved(this.kinds, new Uint8Array(count)),
      nameIds: moved(nameIds, new Int32Array(count)),
      values: this.values.map((values) => values && moved(values, new Float64Array(count))),
    };
  }

  add(chunk: Chunk, chunker: BarChunker): void {
    chunker.readMoments(chunk, this.ms, this.kinds, this.count);
    for (const [index, column] of chunker.valuesOf(chunk).entries())
      if (column !== null) this.values[index]!.set(column, this.count);
    this.newNames.push(...chunker.readNames(chunk, this.nameIds, this.count));
    this.count += chunk.count;
  }
}

/**
 * The rows of a file, in order; where hardly any row has the name of the one before it, those of each name in order. Each batch has
 * arrays of its own. @throws NeedsCare, FileProblem
 */
export async function* readBatches({ file, columns, derived }: BarReading): AsyncGenerator<BarChunk> {
  const { texts, numbers } = columnsOf(columns);
  const chunker = new BarChunker(columns, texts, numbers);
  // Of a small file each chunk is a batch: the arrays of a full one take longer than its rows.
  const isSmall = file.content !== undefined;
  let isMixed = false;
  let batch: Batch | null = null;
  for await (const chunk of readChunks(file, { texts, numbers, careful: false, derived })) {
    if (batch !== null && batch.count + chunk.count > batch.ms.length) {
      yield isMixed ? batch.grouped() : batch;
      const room = isMixed ? MIXED_ROWS : BATCH_ROWS;
      batch = new Batch(columns, batch.firstRow + batch.count, isSmall ? chunk.count : room);
    }
    const isFirst = batch === null;
    batch ??= new Batch(columns, 1, isSmall ? chunk.count : BATCH_ROWS);
    batch.add(chunk, chunker);
    if (isFirst) ({ isMixed } = batch);
  }
  if (batch !== null) yield isMixed ? batch.grouped() : batch;
}
