// The SQL that reads a file: its table, and one expression for each column of the file and for each that
// DuckDB computes meanwhile. DuckDB guesses nothing.
import { limits } from '../../contract/limits.ts';
import type { CsvFormat, Format } from './format.ts';

/** A column that is computed beside those of the file. */
export type ComputedColumn = {
  /** Different from all names of columns in files. */
  readonly name: string;
  /** The columns of the file that it is computed from. */
  readonly inputs: readonly string[];
  /** Those whose cells a refusal shows; it names the first. */
  readonly reported: readonly string[];
  /**
   * SQL of a fast reading, which fails where a cell cannot be computed, and of a careful one, which marks
   * that cell. It names columns by `columnText` and `columnNumber`.
   */
  readonly fast: string;
  readonly careful: string;
  readonly reason: string;
  /** Blank cells of its columns have the value of the row above, for all fields. */
  readonly fill?: 'down' | undefined;
  /** What separates several values in a cell of its first column: each has a row, with all else repeated. */
  readonly split?: string | undefined;
  /** Of reported cells that cannot be computed: the place of the wrong one, and why, where that shows. */
  readonly faultOf?: (cells: readonly string[]) => { readonly place: number; readonly reason?: string };
  /** The rule by which a small plain file gives the same without DuckDB; absent where none does. */
  readonly plain?: PlainRule | undefined;
};

/**
 * A column of numbers made of numbers, or one of texts made of texts: undefined for a text that needs SQL.
 */
type PlainRule =
  | { readonly kind: 'number'; readonly of: (value: number) => number | undefined }
  | { readonly kind: 'text'; readonly of: (text: string) => string | undefined };

/** The mark: a careful reading puts it before a cell that cannot be computed. No cell begins with it. */
export const UNMADE = '\u0001';

/** Says of odd cells that they were left out, by the first of them. */
export const oddFinding = (said: string, text: string): string =>
  `${said}, such as ${JSON.stringify(text.replace(UNMADE, ''))}`;

/** True for what Python writes as an infinite number in JSON, which is missing there as NaN is. */
export const isInfinite = ({ kind }: Format, text: string): boolean =>
  kind === 'json' && /^-?Infinity$/.test(text.replace(UNMADE, ''));

/**
 * Placeholders for a column, until its name in SQL is known: the column between characters that no name has.
 */
const REFERENCE = /[\ue000\ue001]([^\ue000-\ue002]*)\ue002/g;
export const columnText = (column: string): string => `\ue000${column}\ue002`;
export const columnNumber = (column: string): string => `\ue001${column}\ue002`;

/** SQL with its placeholders replaced. */
const filledIn = (
  sql: string,
  text: (column: string) => string,
  number: (column: string) => string,
): string =>
  sql.replaceAll(REFERENCE, (mark, column: string) => (mark[0] === '\ue000' ? text : number)(column));

/** Text as a literal in SQL. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

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

/** Which columns to read, as text or as numbers, and how. Other columns are ignored. */
export type ReadPlan = {
  readonly texts: readonly string[];
  /** Of a Parquet file, columns of dates and times too: their milliseconds since 1970. */
  readonly numbers: readonly string[];
  /**
   * Reads every column as text, also rows with missing or surplus cells: slower, but every cell can be
   * checked. JSON has no fast reading.
   */
  readonly careful: boolean;
  /** The first rows alone, so many. */
  readonly rows?: number;
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

function csvTable(file: ReadableFile, format: CsvFormat, { numbers, careful }: ReadPlan): string {
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

/** A column of a file in SQL: as it is, and as text. */
type Columns = (name: string) => { readonly own: string; readonly text: string; readonly isNumber: boolean };

/** The blanks that may be around a cell: a space, a tab, and the space that joins words. */
const BLANKS = "' ' || chr(9) || chr(160)";

/** A computed column; a fast reading gets numbers as numbers. */
function derivedSql(derived: ComputedColumn, columns: Columns, { careful, numbers }: ReadPlan): string {
  const text = (name: string): string => `nullif(trim(${columns(name).text}, ${BLANKS}), '')`;
  const number = (name: string): string => {
    const { own, isNumber } = columns(name);
    return isNumber ? own : `cast(${text(name)} as double)`;
  };
  const sql = filledIn(careful ? derived.careful : derived.fast, text, number);
  return `cast(${sql} as ${!careful && numbers.includes(derived.name) ? 'double' : 'varchar'})`;
}

function columnsOf({ format, header, types }: ReadableFile, { numbers, careful }: ReadPlan): Columns {
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

/** An error of our own SQL: a row would be repeated with too many bytes. */
export const REPEATED = 'repeated too often: ';

/** Rows that DuckDB makes at a time. */
export const VECTOR_ROWS = 2_048;

/**
 * A table whose blank cells are filled and whose cells with several values have a row for each. A cell that a
 * short row of a CSV does not have stays missing.
 */
function changedTable(
  table: string,
  columns: readonly string[],
  file: ReadableFile,
  { derived = [], careful, numbers }: ReadPlan,
): string {
  const nameOf = (column: string): string =>
    file.format.kind === 'csv' ? placed(file.header.indexOf(column)) : named(column);
  const filled = new Set(derived.flatMap(({ fill, inputs }) => (fill === undefined ? [] : inputs)));
  // One window at a time: DuckDB mixes up the values of several that ignore nulls.
  const whole = [...filled].reduce((from, column) => {
    const cell = nameOf(column);
    const isText = careful || !numbers.includes(column);
    const held = isText ? `nullif(trim(${cell}::varchar, ${BLANKS}), '')` : cell;
    const above = `last_value(${held} ignore nulls) over (rows between unbounded preceding and current row)`;
    const isBlank =
      careful && file.format.kind === 'csv' ? `trim(${cell}, ${BLANKS}) = ''` : `${held} is null`;
    return `(select * replace (case when ${isBlank} then ${above} else ${cell} end as ${cell}) from ${from})`;
  }, table);
  const divided = derived.find(({ split }) => split !== undefined);
  if (divided === undefined) return whole;
  const cell = nameOf(divided.inputs[0]!);
  const values = `list_filter(list_transform(string_split(${cell}::varchar, ${quoted(divided.split!)}),
    lambda one: trim(one, ${BLANKS})), lambda one: one <> '')`;
  const sizes = columns.map((column) => `coalesce(strlen(${nameOf(column)}::varchar), 0)`);
  return `(select * exclude (parts) replace (unnest(case
    when coalesce(len(parts), 0) = 0 then [left(${cell}::varchar, 0)]
    when list_sum([${sizes.join()}]) * least(len(parts), ${VECTOR_ROWS}) > ${limits.repeatedBytesMax}
    then error(${quoted(REPEATED + divided.inputs[0]!)}) else parts end) as ${cell})
    from (select *, ${values} as parts from ${whole}))`;
}

/** The statement that reads the texts and the numbers of a plan; of a CSV with care the surplus cells too. */
export function selectOf(file: ReadableFile, plan: ReadPlan): string {
  const { format, header, path } = file;
  const names = [...plan.texts, ...plan.numbers];
  const columns = columnsOf(file, plan);
  const derived = new Map(plan.derived?.map((column) => [column.name, column]));
  const expressions = names.map((name) => {
    const made = derived.get(name);
    return made === undefined ? columns(name).own : derivedSql(made, columns, plan);
  });
  if (plan.careful && format.kind === 'csv') expressions.push(placed(header.length));
  const select = `select ${expressions.join()} from`;
  const limit = plan.rows === undefined ? '' : ` limit ${plan.rows}`;
  const from = (table: string, read = header): string =>
    `${select} ${changedTable(table, read, file, plan)}${limit}`;
  if (format.kind === 'csv') return from(csvTable(file, format, plan));
  const { records } = format;
  const nested = (table: string): string => from(`(${records!.query.replace('{file}', () => table)})`);
  if (format.kind === 'parquet') {
    const table = `read_parquet(${pathOf(path)})`;
    return records === undefined ? from(table) : nested(table);
  }
  const { isArray } = format;
  if (records !== undefined) {
    const keys = records.keys.map((key) => `${quoted(key)}: 'JSON'`);
    return nested(jsonTable(path, isArray, `columns={${keys.join()}}`));
  }
  const used = new Set(names.flatMap((name) => derived.get(name)?.inputs ?? [name]));
  const typed = [...used].map((name) => `${quoted(name)}: 'VARCHAR'`);
  return from(jsonTable(path, isArray, `columns={${typed.join()}}`), [...used]);
}

/** A column as text. NaN is null: data frames write missing numbers so. */
function parquetText(column: string, type: string): string {
  if (type === 'TIMESTAMP WITH TIME ZONE')
    return `strftime(timezone('UTC', ${column}), '%Y-%m-%dT%H:%M:%S.%fZ')`;
  if (type === 'FLOAT' || type === 'DOUBLE')
    return `case when isnan(${column}) then null else ${column}::varchar end`;
  return `${column}::varchar`;
}

/** Integers that DuckDB rounds to a double as reading their text does. */
const INTEGER = /^U?(TINYINT|SMALLINT|INTEGER|BIGINT)$/;

/** So many digits are exact as a whole number, so that the quotient with a power of ten is rounded once. */
const EXACT_DIGITS = 15;

/**
 * A column of numbers as the doubles that reading their texts gives; NaN and null are missing. Null for any
 * other type: what is a number is then to be seen from each text.
 */
export function parquetNumber(column: string, type: string): string | null {
  if (type === 'DOUBLE') return column;
  if (INTEGER.test(type)) return `${column}::double`;
  const digits = /^DECIMAL\((\d+),\d+\)$/.exec(type)?.[1];
  if (digits !== undefined && Number(digits) <= EXACT_DIGITS) return `${column}::double`;
  return digits !== undefined || type === 'FLOAT' || type === 'HUGEINT' ? `${column}::varchar::double` : null;
}

/**
 * The form of the texts in a column of dates or times: with an offset, without one, or dates. Null for any
 * other type.
 */
export function parquetMoment(type: string): 'instant' | 'local' | 'date' | null {
  if (type === 'TIMESTAMP WITH TIME ZONE') return 'instant';
  if (type === 'TIMESTAMP' || type === 'TIMESTAMP_NS') return 'local';
  return type === 'DATE' ? 'date' : null;
}

/**
 * A column of dates or times as milliseconds since 1970, as if in UTC; infinite ones are null. It fails at a
 * part of a microsecond: that would be lost.
 */
function parquetMs(column: string, type: string): string {
  const ms = `epoch_us(${column}) / 1000.0`;
  if (type !== 'TIMESTAMP_NS') return ms;
  return `case when epoch_ns(${column}) % 1000 <> 0 then error('nanoseconds') else ${ms} end`;
}
