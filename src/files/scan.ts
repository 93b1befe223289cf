// What DuckDB is asked for a file: the table that it is, and one expression for each column, by format. Nothing is guessed.

import { limits } from '../contract/limits.ts';
import { type ComputedColumn, filledIn, quoted } from './computed-column.ts';
import { FileProblem } from './file-problem.ts';
import type { CsvFormat, Format } from './format.ts';
import { NOT_UTF8 } from './sample.ts';

/** A plain file whose columns are known. */
export type ReadableFile = {
  readonly name: string;
  readonly path: string;
  readonly format: Format;
  readonly header: readonly string[];
  /** DuckDB's types of the columns, where the file has types: Parquet. */
  readonly types: readonly string[];
};

/** How a file is to be scanned: everything as text, or the named columns as numbers; and the columns that are made of its own. */
export type ScanPlan = {
  readonly numbers: readonly string[];
  readonly careful: boolean;
  readonly derived?: readonly ComputedColumn[];
};

/** No cell is this text: so a missing cell and an empty one can be told apart. */
const NO_TEXT = '\u0001';

/** A name of SQL. */
export const named = (column: string): string => `"${column.replaceAll('"', '""')}"`;

/** A path is a pattern to DuckDB: what has a meaning there is put in brackets. */
export const pathOf = (path: string): string => quoted(path.replaceAll(/[*?[\]]/g, (mark) => `[${mark}]`));

/** CSV columns are named by their place: DuckDB takes no empty name, and takes `close` and `Close` for the same one. */
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

/** A statement that tells the columns of a file that has them in its data: their names and types. */
export function describeColumns(path: string, format: Format): string {
  const table =
    format.kind === 'json'
      ? jsonTable(
          path,
          format.isArray,
          'sample_size=-1, convert_strings_to_integers=false, map_inference_threshold=-1',
        )
      : `read_parquet(${pathOf(path)})`;
  return `select column_name, column_type from (describe select * from ${table})`;
}

/** A Parquet column as text, in the forms that a CSV has. A NaN is how data frames write a missing number. */
function parquetText(column: string, type: string): string {
  if (type === 'TIMESTAMP WITH TIME ZONE')
    return `strftime(timezone('UTC', ${column}), '%Y-%m-%dT%H:%M:%S.%fZ')`;
  if (type === 'FLOAT' || type === 'DOUBLE')
    return `case when isnan(${column}) then null else ${column}::varchar end`;
  return `${column}::varchar`;
}

/** What a column of a file is in a statement: as it stands, and its text. */
type Columns = (name: string) => { readonly own: string; readonly text: string; readonly isNumber: boolean };

/** A column that is derived, where the reading wants a number as one. */
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
    const text = format.kind === 'parquet' ? parquetText(named(name), types[place]!) : named(name);
    return { own: text, text, isNumber: false };
  };
}

/** The statement that reads columns of a file, and derived ones, in the order of `names`; behind them a CSV's surplus. */
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

/** What DuckDB says of a record of a JSON file, which it counts from 1. */
function jsonProblem(message: string): string | null {
  const malformed = /Malformed JSON.*?, at byte \d+ in (?:record\/value|line) (\d+): ([^.\n]*)/.exec(message);
  if (malformed !== null) return `near record ${malformed[1]}: the JSON is not well-formed: ${malformed[2]}`;
  const twice = /in record\/value (\d+): .* has duplicate key "(.*)"/.exec(message);
  return twice === null ? null : `record ${twice[1]}: the key "${twice[2]}" stands twice in one object`;
}

/** What DuckDB says of a file that it cannot read, as one line: the place and what is wrong there. */
export function readingProblem(file: Pick<ReadableFile, 'name' | 'format'>, error: Error): FileProblem {
  const line = /CSV Error on Line: (\d+)/.exec(error.message)?.[1];
  const reasons: readonly (readonly [RegExp, string])[] = [
    [
      /unterminated quote|quote should be followed/i,
      'a quote is not closed, or text follows a closing quote',
    ],
    [/unicode|utf-?8/i, `the text ${NOT_UTF8}`],
    [
      /state machine/i,
      'its lines end in different ways: some with CR LF, some with LF or CR alone: make them one, such as by dos2unix',
    ],
    [/Maximum line size|maximum_object_size/i, `a row is longer than ${limits.importRowBytesMax} bytes`],
    [
      /Out of Memory/i,
      `reading it takes more than ${limits.importReaderMemory} of memory: its rows are too large, or its objects have too many keys`,
    ],
    [/Expected Number of Columns/i, 'the row has more cells than the header has columns'],
    [/expected records/i, 'the JSON holds no objects: an array of them, or one after the other, is expected'],
  ];
  const json = jsonProblem(error.message);
  if (json !== null)
    return new FileProblem('content', `${file.name}: ${json}. Nothing was imported.`, { cause: error });
  const known = reasons.find(([pattern]) => pattern.test(error.message))?.[1];
  const parquet =
    file.format.kind === 'parquet' ? 'the Parquet data is damaged or of a kind that cannot be read' : null;
  const told = error.message.split('\n').find((part) => part.trim() !== '' && !part.includes('CSV Error'));
  const reason = known ?? parquet ?? told ?? 'it cannot be read';
  const place = line === undefined ? '' : ` line ${line}:`;
  return new FileProblem('content', `${file.name}:${place} ${reason.slice(0, 200)}. Nothing was imported.`, {
    cause: error,
  });
}
