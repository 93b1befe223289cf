// Finds the format of a plain file by its bytes, never by its name: CSV or TSV, JSON, Parquet; and its
// header.
import { isArrow } from './arrow.ts';
import type { Convert } from './convert.ts';
import { contentProblem, unfitProblem } from './file-problem.ts';
import { reasonColumns } from './inputs.ts';
import { type Reshaping, symbolHeader } from './reshape.ts';
import { cellsOf, decodeSample, type Encoding, NOT_UTF8, type Sample } from './sample.ts';
import { firstBytes, packedTwice, packingOf } from './unpack.ts';

/**
 * Rows that are nested in JSON or Parquet: a query on the table `{file}`; of JSON that has the columns
 * `keys`, each as JSON.
 */
export type JsonRecords = { readonly keys: readonly string[]; readonly query: string };

/** A key that no object has, and those that are there. */
export type LackingKey = { readonly key: string; readonly known: readonly string[] };

/** The layout of a file, where its bytes do not show it. */
export type Layout = {
  /** Names of the columns of a file without a header line. */
  readonly header?: readonly string[];
  /** For JSON that is not a list of objects: SQL that gives the columns of `header`. */
  readonly records?: JsonRecords;
  /** Columns that may be nested values of JSON or Parquet, by their paths: `publisher.name`, `tickers[]`. */
  readonly paths?: readonly string[];
  /** The paths of all nested values, of a file that nobody described. */
  readonly nested?: readonly string[];
  /** Keys of a file within the objects of `paths` that no path names: they are not read. */
  readonly unread?: readonly string[];
  /** In JSON: columns that the mapping names and no object has. Absent where a column must be there. */
  readonly lacking?: ReadonlyMap<string, LackingKey>;
  /** The encoding of the text, where it is not UTF-8. */
  readonly encoding?: Encoding;
  /** The separator of cells, where it is neither a comma nor a tab. */
  readonly delimiter?: string;
  /** Lines before the header line, or before the first row where there is none. */
  readonly skip?: number;
  /** Makes native rows of a file whose rows make sense only together. */
  readonly convert?: Convert;
  /** True if its form has made rows of several symbols. */
  readonly isOfSymbols?: boolean;
  /** What the rows were made of, in words, where the file has them in another form. */
  readonly shape?: string;
  /**
   * More of a layout where nobody described the file, by the names of its columns, the paths of its nested
   * values, and its first rows, if it is no plain text. @throws FileProblem
   */
  readonly atHeader?: (
    header: readonly string[],
    nested: readonly string[],
    read: ReadFirst | null,
  ) => Promise<Partial<Layout>>;
  /** A doubt about the file as a whole; it is imported all the same. */
  readonly doubt?: string;
  /** The preset that this layout comes from. */
  readonly preset?: string;
};

/** The cells of the first rows, by column, each with its type in DuckDB's words; empty where it has none. */
export type FirstCells = ReadonlyMap<string, { readonly type: string; readonly cells: readonly string[] }>;

/** Reads the first rows of a file; `paths` are the nested values that are columns. */
export type ReadFirst = (paths: readonly string[]) => Promise<FirstCells>;

/**
 * Text in cells. `headerLines` is the number of lines before the first row, 1 by default; the last of them
 * names the columns.
 */
export type CsvFormat = { readonly kind: 'csv'; readonly delimiter: string; readonly headerLines?: number };

/** The format of a plain file. */
export type Format =
  | CsvFormat
  /** Objects in one array, or one after the other (NDJSON). */
  | { readonly kind: 'json'; readonly isArray: boolean; readonly records?: JsonRecords }
  | { readonly kind: 'parquet'; readonly records?: JsonRecords };

/**
 * Chooses the layout of a file by its name and beginning. @throws FileProblem where the file is not what the
 * caller said
 */
export type ChooseLayout<L extends Layout = Layout> = (sample: Sample) => L;

/** Cells between commas below a header line. */
const PLAIN_CSV: CsvFormat = { kind: 'csv', delimiter: ',' };

/** The size of a sample. */
const SAMPLE_BYTES = 64 * 1024;

/** The format of a file, and what its first bytes show. */
export type Shape<L extends Layout> = {
  readonly format: Format;
  readonly mapping: L;
  /** Null where the columns are in the data: JSON, Parquet. */
  readonly header: readonly string[] | null;
  /** About how long a row is; null where lines are not rows. */
  readonly bytesPerRow: number | null;
  /**
   * Whether the first row may have a text that DuckDB would read as a number: the digest checks only what
   * follows the first line.
   */
  readonly mayHaveOddNumbers: boolean;
  /** How the rows may have to be written anew before they are read. */
  readonly reshaping?: Reshaping['kind'];
};

/**
 * Finds the format of a plain file; `content` are its bytes where they were read. @throws FileProblem where
 * it has none of the formats
 */
export async function shapeOf<L extends Layout>(
  name: string,
  path: string,
  choose: ChooseLayout<L>,
  content?: Buffer,
): Promise<Shape<L>> {
  const start = content?.subarray(0, SAMPLE_BYTES) ?? (await firstBytes(name, path, SAMPLE_BYTES));
  if (start.length === 0) throw contentProblem(name, 'is empty');
  const about = { header: null, bytesPerRow: null, mayHaveOddNumbers: false };
  if (start.toString('latin1', 0, 4) === 'PAR1')
    return { format: { kind: 'parquet' }, mapping: choose({ name, text: '', isCut: true }), ...about };
  if (isArrow(start)) {
    const mapping = choose({ name, text: '', isCut: true });
    return { format: PLAIN_CSV, mapping, ...about, reshaping: 'arrow' };
  }
  if (packingOf(start) !== null) throw packedTwice(name);
  const isCut = start.length === SAMPLE_BYTES;
  let sample = decodeSample(name, start);
  if (sample.text.includes('\0')) throw contentProblem(name, binaryKind(start));
  let mapping = choose({ ...sample, isCut });
  if (mapping.encoding !== undefined && mapping.encoding !== sample.encoding) {
    sample = decodeSample(name, start, mapping.encoding);
    mapping = choose({ ...sample, isCut });
  }
  const { text, encoding } = sample;
  if (/^\s*<(!doctype|html|\?xml)\b/i.test(text))
    throw contentProblem(name, 'is a web page or XML, not data. Was the download refused?');
  if (encoding !== undefined && encoding !== mapping.encoding) {
    if (sample.isCertain !== true) throw contentProblem(name, NOT_UTF8);
    mapping = { ...mapping, encoding };
  }
  if (mapping.convert !== undefined) return { format: PLAIN_CSV, mapping, ...about };
  const bytesPerRow = start.length / Math.max(1, text.split('\n').length - 1);
  if (/^\s*\[\s*\]\s*$/.test(text)) throw contentProblem(name, 'has no rows');
  const first = /\S/.exec(text)?.[0];
  if (first === '[' || first === '{') {
    const isArray = first === '[';
    const { records, header = null } = mapping;
    if (records !== undefined)
      return { format: { kind: 'json', isArray, records }, mapping, ...about, header };
    const json = { format: { kind: 'json', isArray }, mapping, ...about, reshaping: 'json' } as const;
    return isArray ? json : { ...json, bytesPerRow };
  }
  const isOwn = mapping.header === undefined && mapping.skip === undefined;
  if (isOwn && symbolHeader(text.split(/\r?\n/, 3)) !== null)
    return { format: PLAIN_CSV, mapping, ...about, reshaping: 'symbols' };
  const { header, line, ...format } = textFormatOf(name, text, mapping, start.length);
  checkHeader(name, header);
  const mayHaveOddNumbers = format.headerLines === 0 && /_|\+-/.test(line);
  return { format: { kind: 'csv', ...format }, mapping, header, bytesPerRow, mayHaveOddNumbers };
}

type TextFormat = Omit<CsvFormat, 'kind'> & { readonly header: readonly string[]; readonly line: string };

/** Finds the header and the delimiter of a text. */
function textFormatOf(name: string, text: string, layout: Layout, bytes: number): TextFormat {
  const { header, skip = 0 } = layout;
  const line = firstLine(name, text, bytes, skip);
  if (header !== undefined) {
    const mended = cellsOf(line, ',');
    // A file of refused rows has a header line, also where its source has none.
    if (mended?.join() === [...header, ...reasonColumns].join())
      return { header: mended, delimiter: ',', headerLines: 1, line };
  }
  const delimiter = layout.delimiter ?? (line.includes('\t') && !line.includes(',') ? '\t' : ',');
  const cells = cellsOf(line, delimiter);
  if (cells === null) throw contentProblem(name, 'its header line cannot be read as CSV: check its quotes');
  const names = header ?? cells.map(unnamedSecond);
  const isNamed = header === undefined || cells.join() === names.join();
  if (cells.length === names.length)
    return { header: names, delimiter, headerLines: isNamed ? skip + 1 : skip, line };
  throw unfitProblem(
    name,
    `its first row has ${cells.length} cells, but the ${layout.preset === undefined ? 'mapping file' : `preset ${layout.preset}`} names ${names.length} columns: ${names.join(', ')}`,
  );
}

/** The second column of an index of pandas without names, by the name that pandas reads it by. */
const unnamedSecond = (name: string, at: number, [first]: readonly string[]): string =>
  at === 1 && first === '' && name === '' ? 'Unnamed: 1' : name;

/** The probable kind of a file with NUL bytes. */
function binaryKind(start: Buffer): string {
  if (start.toString('hex', 0, 4) === 'd0cf11e0') return 'is an Excel workbook. Save it as CSV (UTF-8)';
  if (start.toString('latin1', 0, 4) === 'FEA1')
    return 'is Feather of version 1. Write it as version 2, or as Parquet';
  return 'is not a text file: it has NUL bytes';
}

function firstLine(name: string, whole: string, bytes: number, skip: number): string {
  const text = whole.replace(new RegExp(`^(?:[^\\r\\n]*(?:\\r\\n|\\n|\\r)){${skip}}`), '');
  const end = text.search(/\r\n|\n|\r/);
  if (end < 0 && bytes === SAMPLE_BYTES)
    throw contentProblem(
      name,
      `its first line is longer than ${SAMPLE_BYTES} bytes: a header line is expected`,
    );
  const line = end < 0 ? text : text.slice(0, end);
  if (line.trim() === '') throw contentProblem(name, 'its first line is empty: a header line is expected');
  return line;
}

/** @throws FileProblem where two columns have one name, or the header has only values */
export function checkHeader(name: string, header: readonly string[], kind?: Format['kind']): void {
  const how =
    kind === 'json'
      ? `its keys are only values, such as ${header[0]}. Write its rows into one list, with a key for these`
      : `its first line has only values, no column names. Add a header line, or name the columns by --map FILE with "header"`;
  if (header.every((column) => /^[-+\d.:TZ ]*$/.test(column))) throw contentProblem(name, how);
  const seen = new Set<string>();
  const twice = header.find((column) => seen.size === seen.add(column).size);
  if (twice !== undefined)
    throw contentProblem(name, twice === '' ? 'two columns have no name' : `two columns are named ${twice}`);
}
