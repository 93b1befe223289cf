// The SQL that reads a file: its table, and one expression for each column. DuckDB guesses nothing.
import { limits } from '../../contract/limits.ts';
import { type ComputedColumn, filledIn, quoted } from './computed-column.ts';
import { FileProblem } from './file-problem.ts';
import type { CsvFormat, Format } from './format.ts';
import { parquetMs, parquetNumber, parquetText } from './parquet-columns.ts';
import { NOT_UTF8 } from './sample.ts';

/** A plain file whose columns are known. */
export type ReadableFile = {
  readonly name: string;
  readonly path: string;
  readonly format: Format;
  readonly header: readonly string[];
  /** DuckDB's types of the columns, where the file has types: Parquet. */
  readonly types: readonly string[];
  /** The bytes of a small file, where they were read already. */
  readonly content?: Uint8Array;
};

/** The way to scan a file: everything as text, or the named columns as numbers; and its computed columns. */
export type ScanPlan = {
  /** Of a Parquet file, columns of dates and times too: their milliseconds since 1970. */
  readonly numbers: readonly string[];
  /**
   * Reads every column as text, also rows with missing or surplus cells: slower, but every cell can be
   * checked. JSON has no fast reading.
   */
  readonly careful: boolean;
  /** Computed columns, which a plan may name too. */
  readonly derived?: readonly ComputedColumn[];
};

/** No cell has this text: it distinguishes a missing cell from an empty one. */
const NO_TEXT = '\u0001';

/** A column name in SQL. */
export const named = (column: string): string => `"${column.replaceAll('"', '""')}"`;

/** DuckDB reads a path as a pattern: brackets escape its special characters. */
export const pathOf = (path: string): string => quoted(path.replaceAll(/[*?[\]]/g, (mark) => `[${mark}]`));

/**
 * Names CSV columns by position: DuckDB refuses empty names, and `close` and `Close` are the same name to it.
 */
const placed = (place: number): string => `c${place}`;

function csvTable(file: ReadableFile, format: CsvFormat, { numbers, careful }: ScanPlan): string {
  const asNumbers = new Set(careful ? [] : numbers);
  const columns = file.header.map(
    (name, place) => `${placed(place)}: '${asNumbers.has(name) ? 'DOUBLE' : 'VARCHAR'}'`,
  );
  if (careful) columns.push(`${placed(columns.length)}: 'VARCHAR'`);
  const { delimiter, headerLines = 1 } = format;
  const care = careful
    ? `null_padding=true, parallel=false, nullstr=${quoted(NO_TEXT)}, allow_quoted_nulls=false`
    : 'null_padding=false';
  return `read_csv(${pathOf(file.path)}, auto_detect=false, header=${headerLines > 0}, skip=${Math.max(headerLines - 1, 0)}, delim=${quoted(delimiter)}, quote='"', escape='"', strict_mode=true,
    compression='none', buffer_size=${4 * limits.importRowBytesMax}, max_line_size=${limits.importRowBytesMax}, columns={${columns.join()}}, ${care})`;
}

function jsonTable(path: string, isArray: boolean, columns: string): string {
  const layout = isArray ? 'array' : 'unstructured';
  return `read_json(${pathOf(path)}, format='${layout}', records=true, compression='uncompressed', maximum_object_size=${limits.importRowBytesMax}, ${columns})`;
}

/** A statement that gives the names and the types of columns, each as a JSON array, for JSON and Parquet. */
export function describeColumns(path: string, format: Format): string {
  const typing = 'sample_size=-1, convert_strings_to_integers=false, map_inference_threshold=-1';
  const isJson = format.kind === 'json';
  const table = isJson ? jsonTable(path, format.isArray, typing) : `read_parquet(${pathOf(path)})`;
  return `select to_json(list(column_name)), to_json(list(column_type)) from (describe select * from ${table})`;
}

/**
 * A statement that gives, as texts, what a Parquet file says of itself: the bytes of a value on average,
 * where they are most, and of all.
 */
export const parquetSizes = (path: string): string =>
  `select coalesce(max(total_uncompressed_size / greatest(num_values, 1)), 0)::varchar,
    greatest(coalesce(sum(total_uncompressed_size), 0), (select ${limits.parquetRowBytesLeast} * sum(num_rows) from parquet_file_metadata(${pathOf(path)})))::varchar
    from parquet_metadata(${pathOf(path)})`;

/** Types of values whose size the rows of a file tell alone: texts, lists, objects. */
const SIZED = /^(?:VARCHAR|BLOB|(?!DECIMAL).*[[(])/;

/**
 * A statement that gives the bytes of the longest row of a Parquet file and of all rows, in texts and the
 * like, as texts.
 */
export function parquetTextSizes(path: string, header: readonly string[], types: readonly string[]): string {
  const sized = header.filter((_, place) => SIZED.test(types[place]!));
  const bytes = sized.map((name) => `+ coalesce(strlen(${named(name)}::varchar), 0)`).join(' ');
  return `select coalesce(max(bytes), 0)::varchar, coalesce(sum(bytes), 0)::varchar from (select 0 ${bytes} as bytes from read_parquet(${pathOf(path)}))`;
}

/** A column of a file in SQL: as it is, and as text. */
type Columns = (name: string) => { readonly own: string; readonly text: string; readonly isNumber: boolean };

/** A computed column; a fast reading gets numbers as numbers. */
function derivedSql(derived: ComputedColumn, columns: Columns, { careful, numbers }: ScanPlan): string {
  const text = (name: string): string => `nullif(${columns(name).text}, '')`;
  const number = (name: string): string => {
    const { own, isNumber } = columns(name);
    return isNumber ? own : `cast(${text(name)} as double)`;
  };
  const sql = filledIn(careful ? derived.careful : derived.fast, text, number);
  return `cast(${sql} as ${!careful && numbers.includes(derived.name) ? 'double' : 'varchar'})`;
}

function columnsOf({ format, header, types }: ReadableFile, { numbers, careful }: ScanPlan): Columns {
  return (name) => {
    const place = header.indexOf(name);
    if (format.kind === 'csv') {
      const isNumber = !careful && numbers.includes(name);
      const own = placed(place);
      return { own, text: isNumber ? `${own}::varchar` : own, isNumber };
    }
    if (format.kind === 'json') return { own: named(name), text: named(name), isNumber: false };
    const [column, type] = [named(name), types[place]!];
    const text = parquetText(column, type);
    const isNumber = !careful && numbers.includes(name);
    const own = isNumber ? (parquetNumber(column, type) ?? parquetMs(column, type)) : text;
    return { own, text, isNumber };
  };
}

/**
 * The statement that reads columns of a file and computed ones, in the order of `names`, then the surplus
 * cells of a CSV.
 */
export function selectOf(
  file: ReadableFile,
  names: readonly string[],
  hasSurplus: boolean,
  plan: ScanPlan,
): string {
  const { format, header, path } = file;
  const columns = columnsOf(file, plan);
  const derived = new Map(plan.derived?.map((column) => [column.name, column]));
  const expressions = names.map((name) => {
    const made = derived.get(name);
    return made === undefined ? columns(name).own : derivedSql(made, columns, plan);
  });
  if (hasSurplus) expressions.push(placed(header.length));
  const select = `select ${expressions.join()} from`;
  if (format.kind === 'csv') return `${select} ${csvTable(file, format, plan)}`;
  if (format.kind === 'parquet') return `${select} read_parquet(${pathOf(path)})`;
  const { isArray, records } = format;
  if (records !== undefined) {
    const keys = records.keys.map((key) => `${quoted(key)}: 'JSON'`);
    const table = jsonTable(path, isArray, `columns={${keys.join()}}`);
    return `${select} (${records.query.replace('{file}', () => table)})`;
  }
  const used = new Set(names.flatMap((name) => derived.get(name)?.inputs ?? [name]));
  const typed = [...used].map((name) => `${quoted(name)}: 'VARCHAR'`);
  return `${select} ${jsonTable(path, isArray, `columns={${typed.join()}}`)}`;
}

/** An error of our own SQL: a list would repeat this key's value too often. */
export const REPEATED = 'repeated too often: ';

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
export function readingProblem(file: Pick<ReadableFile, 'name' | 'format'>, error: Error): FileProblem {
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
      'the JSON holds something that is no object: an array of objects, or one after the other, is expected',
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
