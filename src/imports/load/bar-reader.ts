// Reads the bars of a file: fast, in batches of rows as arrays, a large file in another process; or cell by
// cell. As a program it is that process.
import { valueFields } from '../../store/schema/bars.ts';
import type { FieldSources, MappedFile } from '../map/column-mapping.ts';
import type { CellKind } from '../map/instant-cell.ts';
import type { Chunk, ReadRows } from '../read/chunk.ts';
import { SMALL_FILE_BYTES } from '../read/digest.ts';
import { NeedsCare } from '../read/file-problem.ts';
import { BodyParts, type Frame } from '../read/frames.ts';
import { readChunks } from '../read/read.ts';
import { asked, readBy } from '../read/reader-process.ts';
import { readHere, serveReadings } from '../read/reader-service.ts';
import { parquetMoment, parquetNumber, type ReadableFile } from '../read/scan.ts';
import { type BarChunk, BarChunker, type BarTypes, type Names } from './bar-chunk.ts';

readBy(new URL(import.meta.url));

/** A file to be read fast, and which of its columns give which fields. */
type BarReading = Pick<FieldSources, 'columns' | 'derived'> & {
  readonly file: ReadableFile;
  readonly types: BarTypes;
};

/** As it is sent to a reader process. */
type SentReading = Omit<BarReading, 'columns'> & { readonly columns: readonly (readonly [string, string])[] };

/**
 * The rows of a file, read fast; null where its types do not show what its cells are. @throws NeedsCare at
 * the first problem
 */
export function readFast(
  source: MappedFile,
  { columns, derived }: FieldSources,
): AsyncGenerator<BarChunk> | null {
  const types = barTypesOf(source, columns);
  return types === null ? null : readOnce(source, { file: source, columns, derived, types });
}

async function* readOnce(source: MappedFile, reading: BarReading): AsyncGenerator<BarChunk> {
  yield* source.bytes <= SMALL_FILE_BYTES ? readBatches(reading) : batchesFromProcess(reading);
  const { mayHaveOddNumbers, isUtf8 } = await source.digest();
  if (source.format.kind === 'csv' && (mayHaveOddNumbers || !isUtf8)) throw new NeedsCare();
}

/** The rows of a file, read cell by cell, so that refused ones can be named. */
export async function* readCarefully(source: MappedFile, sources: FieldSources): AsyncGenerator<BarChunk> {
  const { columns, derived } = sources;
  const texts = [...source.header, ...derived.map(({ name }) => name)];
  const chunker = new BarChunker(columns, { texts, numbers: [], moment: null });
  for await (const read of readChunks(source, { texts, numbers: [], careful: true, derived }))
    yield chunker.parse(read, sources, source.format);
}

/**
 * The types by which a file is read fast; null where its types do not show what its cells are, or only a
 * careful reading computes a column.
 */
function barTypesOf(
  { format, header, types }: Pick<ReadableFile, 'format' | 'header' | 'types'>,
  columns: FieldSources['columns'],
): BarTypes | null {
  if (format.kind === 'json') return null;
  const isParquet = format.kind === 'parquet';
  const texts: string[] = [];
  const numbers: string[] = [];
  let moment: CellKind | null = null;
  for (const [field, column] of columns) {
    const isValue = valueFields.some((name) => name === field);
    if (isParquet) {
      const type = types[header.indexOf(column)];
      if (type === undefined || (isValue && parquetNumber(column, type) === null)) return null;
      if (field === 'datetime') moment = parquetMoment(type);
    }
    (isValue || (field === 'datetime' && moment !== null) ? numbers : texts).push(column);
  }
  return { texts, numbers, moment };
}

/** The most rows in a batch of a file that is ordered by name. */
const BATCH_ROWS = 16_384;

/** The most rows in a batch of any other: of 10,000 names each then has some rows together. */
const MIXED_ROWS = 16 * BATCH_ROWS;

/** Arrays for the rows of a batch, of one buffer. */
type BatchArrays = Pick<BarChunk, 'ms' | 'kinds' | 'nameIds'> & {
  /** In the order of `valueFields`. */
  readonly values: readonly Float64Array[];
};

const NUMBERS = 1 + valueFields.length;

function newArrays(rows: number): BatchArrays {
  const numberBytes = NUMBERS * rows * Float64Array.BYTES_PER_ELEMENT;
  const idBytes = rows * Int32Array.BYTES_PER_ELEMENT;
  const buffer = new ArrayBuffer(numberBytes + idBytes + rows);
  const [ms, ...values] = Array.from(
    { length: NUMBERS },
    (_, place) => new Float64Array(buffer, (place * numberBytes) / NUMBERS, rows),
  );
  const nameIds = new Int32Array(buffer, numberBytes, rows);
  return { ms: ms!, values, nameIds, kinds: new Uint8Array(buffer, numberBytes + idBytes, rows) };
}

/**
 * Arrays of batches that were loaded. Always new ones would be slow, and make the collector of garbage run.
 */
class SpareArrays {
  readonly #spare: BatchArrays[] = [];

  /** Arrays for at least so many rows, which may have any values. */
  take(rows: number): BatchArrays {
    for (let spare = this.#spare.pop(); spare !== undefined; spare = this.#spare.pop())
      if (spare.ms.length >= rows) return spare;
    return newArrays(rows);
  }

  give(arrays: BatchArrays): void {
    this.#spare.push(arrays);
  }
}

/** Rows, and the arrays that they are in: to be given back once the rows are loaded. */
type BarBatch = BarChunk & { readonly arrays: BatchArrays };

/** The head of a frame of rows: which values they have, besides. */
type BatchHead = Pick<BarChunk, 'count' | 'firstRow' | 'newNames'> & {
  readonly has: readonly boolean[];
};

/** The frame of a batch. */
function batchFrame({ count, firstRow, newNames, ms, values, nameIds, kinds }: BarBatch): Frame<BatchHead> {
  const numbers = [ms, ...values.filter((column) => column !== null)];
  return {
    head: { count, firstRow, newNames, has: values.map((column) => column !== null) },
    parts: [...numbers, nameIds, kinds].map((column) => column.subarray(0, count)),
  };
}

/** The rows of a frame. They are gone when the next frame is read. */
function barsOf({ count, firstRow, newNames, has }: BatchHead, body: ArrayBuffer): BarChunk {
  const parts = new BodyParts(body);
  const ms = parts.numbers(count);
  const values = has.map((isThere) => (isThere ? parts.numbers(count) : null));
  return { count, firstRow, newNames, ms, values, nameIds: parts.integers(count), kinds: parts.bytes(count) };
}

/** Reads the batches of a file by another process, a few ahead: each is gone when the next is read. */
async function* batchesFromProcess(reading: BarReading): AsyncGenerator<BarChunk> {
  const { name, path, format, header, types } = reading.file;
  const file = { name, path, format, header, types };
  const sent: SentReading = { ...reading, file, columns: [...reading.columns] };
  for await (const { head, body } of asked<BatchHead>(name, 'batches', sent)) yield barsOf(head, body);
}

/** A batch that is being filled. */
class Batch {
  readonly firstRow: number;
  count = 0;
  readonly #arrays: BatchArrays;
  readonly #chunker: BarChunker;
  readonly #newNames: Names[] = [];

  constructor(arrays: BatchArrays, chunker: BarChunker, firstRow: number) {
    this.#arrays = arrays;
    this.#chunker = chunker;
    this.firstRow = firstRow;
  }

  hasRoomFor(rows: number): boolean {
    return this.count + rows <= this.#arrays.ms.length;
  }

  add(chunk: Chunk): void {
    const { ms, kinds, nameIds, values } = this.#arrays;
    this.#chunker.readMoments(chunk, ms, kinds, this.count);
    for (const [index, column] of this.#chunker.valuesOf(chunk).entries())
      if (column !== null) values[index]!.set(column, this.count);
    this.#newNames.push(...this.#chunker.readNames(chunk, nameIds, this.count));
    this.count += chunk.count;
  }

  /** True if hardly any row has the name of the row before it. */
  get isMixed(): boolean {
    const { nameIds } = this.#arrays;
    let changes = 0;
    for (let row = 1; row < this.count; row++) if (nameIds[row] !== nameIds[row - 1]) changes++;
    return 2 * changes > this.count;
  }

  /**
   * The same rows, those of each name together and in their order: loading a row by itself takes three times
   * as long.
   */
  grouped(spare: SpareArrays): BarBatch {
    const from = this.#arrays;
    const to = spare.take(from.ms.length);
    const order = orderByName(from.nameIds, to.nameIds, this.count);
    moveRows(from.ms, to.ms, order);
    moveRows(from.kinds, to.kinds, order);
    for (const [index, column] of from.values.entries())
      if (this.#chunker.hasValue(index)) moveRows(column, to.values[index]!, order);
    spare.give(from);
    return this.asRead(to);
  }

  /** The rows in their order, or in other arrays. */
  asRead(arrays = this.#arrays): BarBatch {
    const { ms, kinds, nameIds } = arrays;
    const values = arrays.values.map((column, index) => (this.#chunker.hasValue(index) ? column : null));
    const { count, firstRow } = this;
    return { arrays, count, firstRow, newNames: this.#newNames, ms, kinds, nameIds, values };
  }
}

/**
 * The indexes of rows, those of each name together, names by their numbers, which are written to `sorted`.
 */
function orderByName(nameIds: Int32Array, sorted: Int32Array, count: number): Int32Array {
  let most = 0;
  for (let row = 0; row < count; row++) if (nameIds[row]! > most) most = nameIds[row]!;
  // The first row of each name.
  const starts = new Int32Array(most + 2);
  for (let row = 0; row < count; row++) starts[nameIds[row]! + 1]!++;
  for (let id = 0; id < most; id++) starts[id + 1]! += starts[id]!;
  const order = new Int32Array(count);
  for (let row = 0; row < count; row++) order[starts[nameIds[row]!]!++] = row;
  // Now each name has the place where its rows end.
  for (let id = 0, row = 0; id <= most; id++) while (row < starts[id]!) sorted[row++] = id;
  return order;
}

function moveRows<A extends Float64Array | Uint8Array>(from: A, to: A, order: Int32Array): void {
  for (let at = 0; at < order.length; at++) to[at] = from[order[at]!]!;
}

/**
 * The rows of a file, in order; where hardly any row has the name of the one before it, those of each name in
 * order. Each batch is gone when the next is read. `rest` reads what is no plain CSV, as of `readChunks`.
 * @throws NeedsCare, FileProblem
 */
async function* readBatches(
  { file, columns, types, derived }: BarReading,
  rest?: ReadRows,
): AsyncGenerator<BarBatch> {
  const { texts, numbers } = types;
  const spare = new SpareArrays();
  const chunker = new BarChunker(columns, types);
  // Of a small file each chunk is a batch: the arrays of a full one take longer than its rows.
  const isSmall = file.content !== undefined;
  let isMixed = false;
  let batch: Batch | null = null;
  const finished = function* (full: Batch): Generator<BarBatch> {
    const rows = isMixed ? full.grouped(spare) : full.asRead();
    yield rows;
    spare.give(rows.arrays);
  };
  for await (const chunk of readChunks(file, { texts, numbers, careful: false, derived }, rest)) {
    if (batch !== null && !batch.hasRoomFor(chunk.count)) {
      yield* finished(batch);
      const room = isSmall ? chunk.count : isMixed ? MIXED_ROWS : BATCH_ROWS;
      batch = new Batch(spare.take(room), chunker, batch.firstRow + batch.count);
    }
    const isFirst = batch === null;
    batch ??= new Batch(spare.take(isSmall ? chunk.count : BATCH_ROWS), chunker, 1);
    batch.add(chunk);
    if (isFirst) ({ isMixed } = batch);
  }
  if (batch !== null) yield* finished(batch);
}

async function* framesOf({ columns, ...reading }: SentReading): AsyncGenerator<Frame> {
  for await (const batch of readBatches({ ...reading, columns: new Map(columns) }, readHere))
    yield batchFrame(batch);
}

if (import.meta.main) serveReadings({ batches: framesOf });
