// A plain file on disk -> chunks of columns in the order of the file, through DuckDB, with nothing guessed.
import duckdb, { type Connection, type Database, type DataChunk, type Result } from '@duckdb/node-bindings';
import { limits } from '../contract/limits.ts';
import type { ComputedColumn } from './computed-column.ts';
import { FileProblem } from './file-problem.ts';
import { describeColumns, type ReadableFile, readingProblem, selectOf } from './scan.ts';
import { TextColumn } from './text-column.ts';

/** How the columns of a file are to be read, by name. Columns that are not named are passed over. */
export type ReadPlan = {
  readonly texts: readonly string[];
  readonly numbers: readonly string[];
  /** Every column as text, rows with missing or surplus cells too: slower, and every cell can be judged. CSV alone can do without. */
  readonly careful: boolean;
  /** Columns that are made of the file's own; they are named as those are. */
  readonly derived?: readonly ComputedColumn[];
};

/** Some rows of a file. Columns stand in the order of the plan. */
export type Chunk = {
  readonly count: number;
  /** Of the first row, counted from 1. */
  readonly firstRow: number;
  readonly texts: readonly TextColumn[];
  /** NaN stands for a missing number. */
  readonly numbers: readonly Float64Array[];
  /** In a careful reading of a CSV: what a row has beyond its last column. */
  readonly surplus: TextColumn | null;
};

/** The stream of a fast reading broke, or a cell was no number: the file has to be read carefully. */
export class NeedsCare extends Error {
  constructor() {
    super('the file needs a careful reading');
    this.name = 'NeedsCare';
  }
}

const settings = {
  threads: '2',
  memory_limit: limits.importReaderMemory,
  // Nothing is ever fetched from anywhere.
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
};

/** A database of its own that lives in memory. */
export async function open(): Promise<{ connection: Connection; close: () => void }> {
  const config = duckdb.create_config();
  for (const [name, value] of Object.entries(settings)) duckdb.set_config(config, name, value);
  const database: Database = await duckdb.open(':memory:', config);
  const connection: Connection = await duckdb.connect(database);
  return {
    connection,
    close() {
      duckdb.disconnect_sync(connection);
      duckdb.close_sync(database);
    },
  };
}

/** The columns of a file that has them in its data, and their types. @throws FileProblem where it cannot be read */
export async function describeFile(
  file: Pick<ReadableFile, 'name' | 'path' | 'format'>,
): Promise<{ header: string[]; types: string[] }> {
  const { connection, close } = await open();
  try {
    const result = await duckdb.query(connection, describeColumns(file.path, file.format));
    const header: string[] = [];
    const types: string[] = [];
    for (;;) {
      const chunk = await duckdb.fetch_chunk(result);
      const count = chunk === null ? 0 : duckdb.data_chunk_get_size(chunk);
      if (chunk === null || count === 0) return { header, types };
      header.push(...textsOf(chunk, 0, count));
      types.push(...textsOf(chunk, 1, count));
    }
  } catch (error) {
    throw readingProblem(file, error as Error);
  } finally {
    close();
  }
}

function textsOf(chunk: DataChunk, column: number, count: number): string[] {
  const texts = new TextColumn();
  texts.load(duckdb.data_chunk_get_vector(chunk, column), count);
  return Array.from({ length: count }, (_, row) => texts.text(row) ?? '');
}

/** Reads the chunks of a file in order. @throws FileProblem, or NeedsCare in a fast reading */
export async function* readChunks(file: ReadableFile, plan: ReadPlan): AsyncGenerator<Chunk> {
  const { connection, close } = await open();
  try {
    // A small buffer would make reader and consumer take turns.
    await duckdb.query(connection, "set streaming_buffer_size='64MB'");
    yield* stream(connection, file, plan);
  } finally {
    close();
  }
}

async function* stream(connection: Connection, file: ReadableFile, plan: ReadPlan): AsyncGenerator<Chunk> {
  const names = [...plan.texts, ...plan.numbers];
  const hasSurplus = plan.careful && file.format.kind === 'csv';
  const select = selectOf(file, names, hasSurplus, plan);
  const result = await start(connection, select).catch((error: Error) => error);
  if (result instanceof Error) throw plan.careful ? readingProblem(file, result) : new NeedsCare();
  const texts = (plan.careful ? names : plan.texts).map(() => new TextColumn());
  if (hasSurplus) texts.push(new TextColumn());
  const numbers = plan.careful ? [] : plan.numbers;
  let firstRow = 1;
  let fetched = duckdb.fetch_chunk(result);
  for (;;) {
    const chunk = await fetched;
    const count = chunk === null ? 0 : duckdb.data_chunk_get_size(chunk);
    if (chunk === null || count === 0) break;
    fetched = duckdb.fetch_chunk(result);
    texts.forEach((column, index) => {
      column.load(duckdb.data_chunk_get_vector(chunk, index), count);
    });
    yield {
      count,
      firstRow,
      texts: hasSurplus ? texts.slice(0, -1) : texts,
      numbers: numbers.map((_, index) => numbersOf(chunk, plan.texts.length + index, count)),
      surplus: hasSurplus ? texts[texts.length - 1]! : null,
    };
    firstRow += count;
  }
  // An error in the middle of a stream looks like its end, but for this.
  if (duckdb.result_return_type(result) === duckdb.ResultType.QUERY_RESULT) return;
  throw plan.careful ? await findProblem(connection, file, select) : new NeedsCare();
}

async function start(connection: Connection, sql: string): Promise<Result> {
  return duckdb.execute_prepared_streaming(await duckdb.prepare(connection, sql));
}

function numbersOf(chunk: DataChunk, column: number, count: number): Float64Array {
  const vector = duckdb.data_chunk_get_vector(chunk, column);
  const data = duckdb.vector_get_data(vector, count * 8);
  const values = new Float64Array(data.buffer, data.byteOffset, count);
  const validity = duckdb.vector_get_validity(vector, Math.ceil(count / 64) * 8);
  // The text `nan` is there and is no number: it has to be judged as text.
  if (validity !== null) {
    for (let row = 0; row < count; row++) {
      if (!isValid(validity, row)) values[row] = Number.NaN;
      else if (Number.isNaN(values[row]!)) throw new NeedsCare();
    }
    return values;
  }
  // One sum shows whether any number is none.
  let sum = 0;
  for (let row = 0; row < count; row++) sum += values[row]!;
  if (Number.isNaN(sum)) throw new NeedsCare();
  return values;
}

const isValid = (validity: Uint8Array, row: number): boolean =>
  (validity[row >> 3]! & (1 << (row & 7))) !== 0;

/** Why a careful reading broke off: DuckDB tells it only of a query that it runs whole. */
async function findProblem(connection: Connection, file: ReadableFile, select: string): Promise<FileProblem> {
  try {
    await duckdb.query(connection, `select count(columns(*)) from (${select})`);
    return new FileProblem('content', `${file.name}: its reading broke off`);
  } catch (error) {
    return readingProblem(file, error as Error);
  }
}
