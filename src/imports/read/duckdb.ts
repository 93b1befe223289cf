// Reads a plain file by DuckDB, as chunks of columns in the order of the file. DuckDB guesses nothing. Only a
// reader process loads this for an import: some files end the process.
import { statSync } from 'node:fs';
import duckdb, { type Connection, type Database, type DataChunk, type Result } from '@duckdb/node-bindings';
import { limits } from '../../contract/limits.ts';
import type { Chunk, Columns, DescribedFile } from './chunk.ts';
import { contentProblem, FileProblem, longRow, NeedsCare } from './file-problem.ts';
import { checkHeader } from './format.ts';
import { NOT_UTF8 } from './sample.ts';
import {
  describeColumns,
  named,
  pathOf,
  REPEATED,
  type ReadableFile,
  type ReadPlan,
  selectOf,
} from './scan.ts';
import { spillFolder } from './spool.ts';
import { TextColumn } from './text-column.ts';
import { refuseBomb } from './unpack.ts';

const settings = {
  threads: '2',
  memory_limit: limits.importReaderMemory,
  // Used where memory is short. DuckDB's own choice is the folder that it was started in.
  temp_directory: spillFolder(),
  // Nothing is ever fetched from anywhere.
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
};

/** Chunks after which the parts of a file that were read are freed. */
const CHUNKS_KEPT = 32;

/**
 * A database with one connection. `trim` frees what it keeps of a file and does not need: it would keep that
 * up to its limit.
 */
type Opened = {
  readonly connection: Connection;
  readonly trim: () => Promise<void>;
  readonly close: () => void;
};

/** A new database in memory. `own` are settings in place of those of an import. */
export async function open(own: Readonly<Record<string, string>> = {}): Promise<Opened> {
  const config = duckdb.create_config();
  const set = { ...settings, ...own };
  for (const [name, value] of Object.entries(set)) duckdb.set_config(config, name, value);
  const database: Database = await duckdb.open(':memory:', config);
  const connection: Connection = await duckdb.connect(database);
  const beside: Connection = await duckdb.connect(database);
  const limit = (memory: string) => duckdb.query(beside, `set memory_limit='${memory}'`);
  return {
    connection,
    async trim() {
      // While a file is read more is in use: this frees what is not, fails, and changes nothing else.
      await limit('1MB').catch(() => undefined);
      await limit(set.memory_limit);
    },
    close() {
      for (const one of [connection, beside]) duckdb.disconnect_sync(one);
      duckdb.close_sync(database);
    },
  };
}

/** The database that is ready for the next reading. */
let ready: Opened | null = null;

/**
 * Runs a reading on a database of its own. After a failed or unfinished one the database is not used again.
 */
async function* reading<T>(read: (opened: Opened) => AsyncGenerator<T>): AsyncGenerator<T> {
  const opened = ready ?? (await openReader());
  ready = null;
  let isDone = false;
  try {
    yield* read(opened);
    isDone = true;
  } finally {
    if (isDone && ready === null) ready = opened;
    else opened.close();
  }
}

/** A new database to read with. With a small buffer, reader and consumer would wait for each other. */
async function openReader(): Promise<Opened> {
  const opened = await open();
  await duckdb.query(opened.connection, "set streaming_buffer_size='64MB'");
  return opened;
}

/**
 * The names and types of columns, for JSON and Parquet. @throws FileProblem where the file cannot be read, or
 * is too large
 */
export async function describeByDuckDB(file: DescribedFile): Promise<Columns> {
  const { path, format } = file;
  const isParquet = format.kind === 'parquet';
  try {
    if (isParquet) await checkParquet(file, parquetSizes(path));
    const texts = await rowOf(describeColumns(path, format), 2);
    const [header, types] = texts.map((list) => JSON.parse(list!) as string[]) as [string[], string[]];
    checkHeader(file.name, header, format.kind);
    if (isParquet) await checkParquet(file, parquetTextSizes(path, header, types));
    return { header, types };
  } catch (error) {
    throw error instanceof FileProblem ? error : readingProblem(file, error as Error);
  }
}

/** The texts of the first row that a statement gives. */
async function rowOf(sql: string, columns: number): Promise<(string | null)[]> {
  let found: (string | null)[] = [];
  const read = reading(async function* ({ connection }) {
    const chunk = await duckdb.fetch_chunk(await duckdb.query(connection, sql));
    yield Array.from({ length: columns }, (_, column) => {
      const text = new TextColumn();
      text.load(duckdb.data_chunk_get_vector(chunk!, column), 1);
      return text.text(0);
    });
  });
  for await (const row of read) found = row;
  return found;
}

/**
 * Checks a Parquet file by a statement that gives the bytes of a row, and of all of its data. @throws
 * FileProblem where they are too many
 */
async function checkParquet(
  { name, path }: Pick<ReadableFile, 'name' | 'path'>,
  sizes: string,
): Promise<void> {
  const [row, all] = (await rowOf(sizes, 2)).map(Number) as [number, number];
  if (row > limits.importRowBytesMax) throw longRow(name);
  refuseBomb(name, all, statSync(path).size);
}

/**
 * Reads the chunks of a file in order, from the row with the number `firstRow` on: the next one overwrites
 * the columns of the one before. @throws FileProblem, or NeedsCare in a fast reading
 */
export const readByDuckDB = (
  file: ReadableFile,
  plan: ReadPlan,
  firstRow: number,
): AsyncGenerator<DuckChunk> => reading((opened) => stream(opened, file, plan, firstRow));

/** A chunk whose texts are in DuckDB's memory. */
export type DuckChunk = Omit<Chunk, 'texts' | 'surplus'> & {
  readonly texts: readonly TextColumn[];
  readonly surplus: TextColumn | null;
};

/** Reads a file by DuckDB; its first row has the number `firstNumber`. */
async function* stream(
  { connection, trim }: Opened,
  file: ReadableFile,
  plan: ReadPlan,
  firstNumber: number,
): AsyncGenerator<DuckChunk> {
  const names = [...plan.texts, ...plan.numbers];
  const hasSurplus = plan.careful && file.format.kind === 'csv';
  const select = selectOf(file, plan);
  const result = await start(connection, select).catch((error: Error) => error);
  if (result instanceof Error) throw plan.careful ? readingProblem(file, result) : new NeedsCare();
  const texts = (plan.careful ? names : plan.texts).map(() => new TextColumn());
  if (hasSurplus) texts.push(new TextColumn());
  const numbers = plan.careful ? [] : plan.numbers;
  // In a CSV, NaN that is not missing was the text `nan`: it must be checked as text.
  const mayBeNaN = file.format.kind === 'parquet';
  let firstRow = firstNumber;
  let chunks = 0;
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
    if (hasSurplus && ++chunks % CHUNKS_KEPT === 0) await trim();
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
  if (validity === null && mayBeNaN) return values;
  for (let row = 0; row < count; row++) {
    if (validity !== null && (validity[row >> 3]! & (1 << (row & 7))) === 0) values[row] = Number.NaN;
    else if (!mayBeNaN && Number.isNaN(values[row]!)) throw new NeedsCare();
  }
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

/**
 * A statement that gives, as texts, what a Parquet file says of itself: the bytes of a value on average,
 * where they are most, and of all.
 */
const parquetSizes = (path: string): string =>
  `select coalesce(max(total_uncompressed_size / greatest(num_values, 1)), 0)::varchar,
    greatest(coalesce(sum(total_uncompressed_size), 0), (select ${limits.parquetRowBytesLeast} * sum(num_rows) from parquet_file_metadata(${pathOf(path)})))::varchar
    from parquet_metadata(${pathOf(path)})`;

/** Types of values whose size the rows of a file tell alone: texts, lists, objects. */
const SIZED = /^(?:VARCHAR|BLOB|(?!DECIMAL).*[[(])/;

/**
 * A statement that gives the bytes of the longest row of a Parquet file and of all rows, in texts and the
 * like, as texts.
 */
function parquetTextSizes(path: string, header: readonly string[], types: readonly string[]): string {
  const sized = header.filter((_, place) => SIZED.test(types[place]!));
  const bytes = sized.map((name) => `+ coalesce(strlen(${named(name)}::varchar), 0)`).join(' ');
  return `select coalesce(max(bytes), 0)::varchar, coalesce(sum(bytes), 0)::varchar from (select 0 ${bytes} as bytes from read_parquet(${pathOf(path)}))`;
}

/** DuckDB's error about a record of a JSON file, in words; records count from 1. */
function jsonProblem(message: string): string | null {
  const malformed = /Malformed JSON.*?, at byte \d+ in (?:record\/value|line) (\d+): ([^.\n]*)/.exec(message);
  if (malformed !== null) return `near record ${malformed[1]}: the JSON is not well-formed: ${malformed[2]}`;
  const repeated = message.split(REPEATED)[1];
  if (repeated !== undefined)
    return `a list repeats ${repeated} in each of its rows, which would have more than ${limits.repeatedBytesMax} bytes`;
  const [, record, rest = ''] = /in record\/value (\d+): (.*)/.exec(message) ?? [];
  const twice = / has duplicate key "(.*)"/.exec(rest);
  return twice === null ? null : `record ${record}: one object has the key "${twice[1]}" twice`;
}

/** DuckDB's error about a file, in one line: the place and the mistake. */
function readingProblem(file: Pick<ReadableFile, 'name' | 'format'>, error: Error): FileProblem {
  const line = /CSV Error on Line: (\d+)/.exec(error.message)?.[1];
  const isParquet = file.format.kind === 'parquet';
  const encoding = isParquet
    ? 'a text in the Parquet data is not UTF-8: it is damaged, or has another encoding'
    : `the text ${NOT_UTF8}`;
  const reasons: readonly (readonly [RegExp, string])[] = [
    [
      /unterminated quote|quote should be followed/i,
      'a quote is not closed, or text follows a closing quote',
    ],
    [/Duplicate name .* in struct/, 'an object has keys that differ only in case: rename them'],
    [/unicode|utf-?8/i, encoding],
    [
      /state machine/i,
      'its lines end in different ways, some with CR LF, some with LF or CR alone. Make them the same, for example with dos2unix',
    ],
    [/Maximum line size|maximum_object_size/i, `a row is longer than ${limits.importRowBytesMax} bytes`],
    [
      /Out of Memory/i,
      `reading it takes more than ${limits.importReaderMemory} of memory: its rows are too large, or its objects have too many keys`,
    ],
    [/Expected Number of Columns/i, 'the row has more cells than the header has columns'],
    [
      /expected records/i,
      'the JSON has a value that is not an object: give an array of objects, or objects one by one',
    ],
  ];
  const known = jsonProblem(error.message) ?? reasons.find(([pattern]) => pattern.test(error.message))?.[1];
  const first = error.message.split('\n').find((part) => part.trim() !== '' && !part.includes('CSV Error'));
  const unknown = isParquet
    ? 'the Parquet data is damaged, or has a kind of encoding that cannot be read'
    : (first ?? 'it cannot be read');
  const place = line === undefined ? '' : ` line ${line}:`;
  const text = `${file.name}:${place} ${(known ?? unknown).slice(0, 200)}. Nothing was imported.`;
  return new FileProblem('content', text, { cause: error });
}
