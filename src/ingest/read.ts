// A CSV on disk -> chunks of columns in the order of the file, through DuckDB, with nothing guessed.
import duckdb, { type Connection, type Database, type DataChunk, type Result } from '@duckdb/node-bindings';
import { limits } from '../contract/limits.ts';
import { FileProblem } from './problem.ts';
import { TextColumn } from './text-column.ts';

/** What is read: a plain CSV whose header is known. */
export type ReadableFile = {
  readonly name: string;
  readonly path: string;
  readonly header: readonly string[];
};

/** How the columns of a file are to be read, by name. Columns that are not named are passed over. */
export type ReadPlan = {
  readonly texts: readonly string[];
  readonly numbers: readonly string[];
  /** Every column as text, rows with missing or surplus cells too: slower, and every cell can be judged. */
  readonly careful: boolean;
};

/** Some rows of a file. Columns stand in the order of the plan. */
export type Chunk = {
  readonly count: number;
  /** Of the first row, counted from 1. */
  readonly firstRow: number;
  readonly texts: readonly TextColumn[];
  /** NaN stands for a missing number. */
  readonly numbers: readonly Float64Array[];
  /** In a careful reading: what a row has beyond its last column. */
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

/** No cell is this text: so a missing cell and an empty one can be told apart. */
const NO_TEXT = '\u0001';
const LINE_BYTES_MAX = 1_000_000;

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
/** Columns are named by their place: DuckDB takes no empty name, and takes `close` and `Close` for the same one. */
const placed = (place: number): string => `c${place}`;

function scanOf(file: ReadableFile, plan: ReadPlan): string {
  const numbers = new Set(plan.careful ? [] : plan.numbers);
  const columns = file.header.map(
    (name, place) => `${placed(place)}: '${numbers.has(name) ? 'DOUBLE' : 'VARCHAR'}'`,
  );
  if (plan.careful) columns.push(`${placed(columns.length)}: 'VARCHAR'`);
  const care = plan.careful
    ? `null_padding=true, parallel=false, nullstr=${quoted(NO_TEXT)}, allow_quoted_nulls=false`
    : 'null_padding=false';
  // A path is a pattern to DuckDB: what has a meaning there is put in brackets.
  const path = file.path.replaceAll(/[*?[\]]/g, (mark) => `[${mark}]`);
  return `read_csv(${quoted(path)}, auto_detect=false, header=true, delim=',', quote='"', escape='"', strict_mode=true,
    compression='none', buffer_size=${4 * LINE_BYTES_MAX}, max_line_size=${LINE_BYTES_MAX}, columns={${columns.join()}}, ${care})`;
}

/** Reads the chunks of a file in order. @throws FileProblem, or NeedsCare in a fast reading */
export async function* readChunks(file: ReadableFile, plan: ReadPlan): AsyncGenerator<Chunk> {
  const config = duckdb.create_config();
  for (const [name, value] of Object.entries(settings)) duckdb.set_config(config, name, value);
  const database: Database = await duckdb.open(':memory:', config);
  const connection: Connection = await duckdb.connect(database);
  try {
    // A small buffer would make reader and consumer take turns.
    await duckdb.query(connection, "set streaming_buffer_size='64MB'");
    yield* stream(connection, file, plan);
  } finally {
    duckdb.disconnect_sync(connection);
    duckdb.close_sync(database);
  }
}

async function* stream(connection: Connection, file: ReadableFile, plan: ReadPlan): AsyncGenerator<Chunk> {
  const scan = scanOf(file, plan);
  const places = [...plan.texts, ...plan.numbers].map((name) => file.header.indexOf(name));
  if (plan.careful) places.push(file.header.length);
  const result = await start(connection, `select ${places.map(placed).join()} from ${scan}`).catch(
    (error: Error) => error,
  );
  if (result instanceof Error) throw plan.careful ? readingProblem(file, result) : new NeedsCare();
  const texts = (plan.careful ? places : plan.texts).map(() => new TextColumn());
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
      texts: plan.careful ? texts.slice(0, -1) : texts,
      numbers: numbers.map((_, index) => numbersOf(chunk, plan.texts.length + index, count)),
      surplus: plan.careful ? texts[texts.length - 1]! : null,
    };
    firstRow += count;
  }
  // An error in the middle of a stream looks like its end, but for this.
  if (duckdb.result_return_type(result) === duckdb.ResultType.QUERY_RESULT) return;
  throw plan.careful ? await findProblem(connection, file, scan) : new NeedsCare();
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
async function findProblem(connection: Connection, file: ReadableFile, scan: string): Promise<FileProblem> {
  try {
    await duckdb.query(connection, `select count(columns(*)) from ${scan}`);
    return new FileProblem('content', `${file.name}: its reading broke off`);
  } catch (error) {
    return readingProblem(file, error as Error);
  }
}

/** DuckDB's account of a broken CSV in one line: the place and what is wrong there. */
function readingProblem(file: ReadableFile, error: Error): FileProblem {
  const line = /CSV Error on Line: (\d+)/.exec(error.message)?.[1];
  const reasons: readonly (readonly [RegExp, string])[] = [
    [
      /unterminated quote|quote should be followed/i,
      'a quote is not closed, or text follows a closing quote',
    ],
    [/unicode|utf-?8/i, 'the text is not UTF-8'],
    [/state machine/i, 'its lines end in different ways: some with CR LF, some with LF or CR alone'],
    [/Maximum line size/i, `the line is longer than ${LINE_BYTES_MAX} bytes`],
    [/Expected Number of Columns/i, 'the row has more cells than the header has columns'],
  ];
  const known = reasons.find(([pattern]) => pattern.test(error.message))?.[1];
  const reason =
    known ??
    error.message.split('\n').find((part) => part.trim() !== '' && !part.includes('CSV Error')) ??
    'it cannot be read';
  const place = line === undefined ? '' : ` line ${line}:`;
  return new FileProblem('content', `${file.name}:${place} ${reason.slice(0, 200)}. Nothing was imported.`, {
    cause: error,
  });
}
