// Reads a plain file through DuckDB, as chunks of columns in the order of the file. DuckDB guesses nothing.
import duckdb, { type Connection, type Database, type DataChunk, type Result } from '@duckdb/node-bindings';
import { limits } from '../contract/limits.ts';
import { contentProblem, type FileProblem } from './file-problem.ts';
import { type PlainColumns, plainRows } from './plain-csv.ts';
import { describeColumns, type ReadableFile, readingProblem, type ScanPlan, selectOf } from './scan.ts';
import { type TextCells, TextColumn } from './text-column.ts';

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

/** A fast reading failed, or a cell is not a number: the file must be read carefully. */
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

/** A database with one connection. */
type Opened = { readonly connection: Connection; readonly close: () => void };

/** A new database in memory. `own` are settings in place of those of an import. */
export async function open(own: Readonly<Record<string, string>> = {}): Promise<Opened> {
  const config = duckdb.create_config();
  for (const [name, value] of Object.entries({ ...settings, ...own })) duckdb.set_config(config, name, value);
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

/** How many hold the reader, and the database that is ready for the next reading. */
let holders = 0;
let ready: Opened | null = null;

/**
 * Keeps one database for the readings that follow, until the function that it gives is called: a start takes as long as reading 50,000
 * rows.
 */
export function holdReader(): () => void {
  holders++;
  return () => {
    if (--holders > 0) return;
    ready?.close();
    ready = null;
  };
}

/** Runs a reading on a database of its own. After a failed or unfinished one the database is not used again. */
async function* reading<T>(read: (connection: Connection) => AsyncGenerator<T>): AsyncGenerator<T> {
  const opened = ready ?? (await openReader());
  ready = null;
  let isDone = false;
  try {
    yield* read(opened.connection);
    isDone = true;
  } finally {
    if (isDone && holders > 0 && ready === null) ready = opened;
    else opened.close();
  }
}

/** A new database to read with. With a small buffer, reader and consumer would wait for each other. */
async function openReader(): Promise<Opened> {
  const opened = await open();
  await duckdb.query(opened.connection, "set streaming_buffer_size='64MB'");
  return opened;
}

/** The names and types of columns, for JSON and Parquet. @throws FileProblem where the file cannot be read */
export async function describeFile(
  file: Pick<ReadableFile, 'name' | 'path' | 'format'>,
): Promise<{ header: string[]; types: string[] }> {
  let found: string[][] = [];
  const described = reading(async function* (connection) {
    const result = await duckdb.query(connection, describeColumns(file.path, file.format));
    const chunk = await duckdb.fetch_chunk(result);
    yield [0, 1].map((column) => {
      const text = new TextColumn();
      text.load(duckdb.data_chunk_get_vector(chunk!, column), 1);
      return JSON.parse(text.text(0)!) as string[];
    });
  });
  try {
    for await (const lists of described) found = lists;
    const [header, types] = found;
    return { header: header!, types: types! };
  } catch (error) {
    throw readingProblem(file, error as Error);
  }
}

/**
 * Reads the chunks of a file in order: the next one overwrites the columns of the one before.
 * @throws FileProblem, or NeedsCare in a fast reading
 */
export async function* readChunks(file: ReadableFile, plan: ReadPlan): AsyncGenerator<Chunk> {
  const { format } = file;
  if (format.kind !== 'csv' || plan.careful)
    return yield* reading((connection) => stream(connection, file, plan, 1));
  const rows = plainRows({ ...file, format }, plan);
  let firstRow = 1;
  for (;;) {
    const { value, done } = nextRows(rows);
    if (done === true) {
      if (value) return;
      break;
    }
    yield { ...value, firstRow, surplus: null };
    firstRow += value.count;
  }
  // The lines that were read have one row each.
  const headerLines = (format.headerLines ?? 1) + firstRow - 1;
  const rest = { ...file, format: { ...format, headerLines } };
  yield* reading((connection) => stream(connection, rest, plan, firstRow));
}

/** The next plain rows. @throws NeedsCare where the file cannot be read: a careful reading says why */
function nextRows(rows: ReturnType<typeof plainRows>): IteratorResult<PlainColumns, boolean> {
  try {
    return rows.next();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new NeedsCare();
  }
}

/** Reads a file by DuckDB; its first row has the number `firstNumber`. */
async function* stream(
  connection: Connection,
  file: ReadableFile,
  plan: ReadPlan,
  firstNumber: number,
): AsyncGenerator<Chunk> {
  const names = [...plan.texts, ...plan.numbers];
  const hasSurplus = plan.careful && file.format.kind === 'csv';
  const select = selectOf(file, names, hasSurplus, plan);
  const result = await start(connection, select).catch((error: Error) => error);
  if (result instanceof Error) throw plan.careful ? readingProblem(file, result) : new NeedsCare();
  const texts = (plan.careful ? names : plan.texts).map(() => new TextColumn());
  if (hasSurplus) texts.push(new TextColumn());
  const numbers = plan.careful ? [] : plan.numbers;
  // In a CSV, NaN that is not missing was the text `nan`: it must be checked as text.
  const mayBeNaN = file.format.kind === 'parquet';
  let firstRow = firstNumber;
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
      numbers: numbers.map((_, index) => numbersOf(chunk, plan.texts.length + index, count, mayBeNaN)),
      surplus: hasSurplus ? texts[texts.length - 1]! : null,
    };
    firstRow += count;
  }
  // An error in the middle of a stream looks like its end, except here.
  if (duckdb.result_return_type(result) === duckdb.ResultType.QUERY_RESULT) return;
  throw plan.careful ? await findProblem(connection, file, select) : new NeedsCare();
}

const start = async (connection: Connection, sql: string): Promise<Result> =>
  duckdb.execute_prepared_streaming(await duckdb.prepare(connection, sql));

/** Numbers of a chunk, null as NaN. @throws NeedsCare where one is NaN itself and must not be */
function numbersOf(chunk: DataChunk, column: number, count: number, mayBeNaN: boolean): Float64Array {
  const vector = duckdb.data_chunk_get_vector(chunk, column);
  const data = duckdb.vector_get_data(vector, count * 8);
  const values = new Float64Array(data.buffer, data.byteOffset, count);
  const validity = duckdb.vector_get_validity(vector, Math.ceil(count / 64) * 8);
  if (validity !== null) {
    for (let row = 0; row < count; row++) {
      if ((validity[row >> 3]! & (1 << (row & 7))) === 0) values[row] = Number.NaN;
      else if (!mayBeNaN && Number.isNaN(values[row]!)) throw new NeedsCare();
    }
    return values;
  }
  if (mayBeNaN) return values;
  // The sum is NaN where any number is NaN.
  let sum = 0;
  for (let row = 0; row < count; row++) sum += values[row]!;
  if (Number.isNaN(sum)) throw new NeedsCare();
  return values;
}

/** Why a careful reading failed: DuckDB says so only for a query that is not streamed. */
async function findProblem(connection: Connection, file: ReadableFile, select: string): Promise<FileProblem> {
  try {
    await duckdb.query(connection, `select count(columns(*)) from (${select})`);
    return contentProblem(file.name, 'it could not be read to the end');
  } catch (error) {
    return readingProblem(file, error as Error);
  }
}
