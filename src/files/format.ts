// What a plain file is, told by its bytes and never by its name: CSV or TSV with a header, JSON, Parquet; and its columns.
import { open } from 'node:fs/promises';
import type { Convert } from './convert.ts';
import { cellsOf } from './csv-line.ts';
import { FileProblem } from './file-problem.ts';
import { reasonColumns } from './rejected-file.ts';
import { decodeText, SAMPLE_BYTES, type Sample } from './sample.ts';
import { packedTwice, packingOf } from './unpack.ts';

/** Rows that lie deeper in JSON: a query on the table `{file}`, which has the columns `keys`, each as JSON. */
export type JsonRecords = { readonly keys: readonly string[]; readonly query: string };

/** How a file is laid out, where its bytes do not tell. */
export type Layout = {
  /** Names of the columns of a file without a header line. */
  readonly header?: readonly string[];
  /** Of JSON that is no list of objects: SQL that makes the columns of `header` of it, from the table of objects `{file}`. */
  readonly records?: JsonRecords;
  /** What separates the cells, where it is neither a comma nor a tab. */
  readonly delimiter?: string;
  /** Lines before the header line, or before the first row where there is none. */
  readonly skip?: number;
  /** Makes native rows of a file whose rows make sense only together. */
  readonly convert?: Convert;
  /** What is odd about the file as a whole, and does not keep it out. */
  readonly doubt?: string;
  /** The preset that said all this. */
  readonly preset?: string;
};

/** Text in cells. `headerLines` are those before the first row, the last of which names the columns: one, unless it is said. */
export type CsvFormat = {
  readonly kind: 'csv';
  readonly delimiter: string;
  readonly headerLines?: number;
};

/** The format of a plain file. */
export type Format =
  | CsvFormat
  /** Objects in one array, or one after the other (NDJSON). */
  | { readonly kind: 'json'; readonly isArray: boolean; readonly records?: JsonRecords }
  | { readonly kind: 'parquet' };

/** Bytes in which a header line must end. */
const HEADER_BYTES_MAX = SAMPLE_BYTES;

const PARQUET_MAGIC = 'PAR1';

/** The first bytes of a file. @throws FileProblem where it cannot be read */
export async function firstBytes(name: string, path: string, count: number): Promise<Buffer> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new FileProblem('unfit', `${name}: it cannot be read (${error.code})`, { cause: error });
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Says how a file is laid out, by its name and beginning. @throws FileProblem where it is not what was asked for */
export type ChooseLayout<L extends Layout = Layout> = (sample: Sample) => L;

/** A format, its header where it is text with one, and how long its lines are about. */
export type Shape<L extends Layout> = {
  readonly format: Format;
  readonly mapping: L;
  /** Null where the columns are in the data: JSON, Parquet. */
  readonly header: readonly string[] | null;
  /** Null where lines are no rows. */
  readonly bytesPerRow: number | null;
  /** Whether the first row, which no check below the header sees, may have what DuckDB takes for a number and is none. */
  readonly mayHaveOddNumbers: boolean;
};

/** Tells what a plain file is. @throws FileProblem for what is none of the formats */
export async function shapeOf<L extends Layout>(
  name: string,
  path: string,
  choose: ChooseLayout<L>,
): Promise<Shape<L>> {
  const start = await firstBytes(name, path, HEADER_BYTES_MAX);
  if (start.length === 0) throw new FileProblem('content', `${name}: is empty`);
  const about = { header: null, bytesPerRow: null, mayHaveOddNumbers: false };
  if (start.subarray(0, 4).toString('latin1') === PARQUET_MAGIC)
    return { format: { kind: 'parquet' }, mapping: choose({ name, text: '', isCut: true }), ...about };
  if (packingOf(start) !== null) throw packedTwice(name);
  if (start.includes(0)) throw new FileProblem('content', `${name}: ${binaryTold(start)}`);
  const text = decodeText(name, start, true);
  if (/^\s*<(!doctype|html|\?xml)\b/i.test(text))
    throw new FileProblem('content', `${name}: is a web page or XML, no data: was its download refused?`);
  const mapping = choose({ name, text, isCut: start.length === SAMPLE_BYTES });
  if (mapping.convert !== undefined) return { format: { kind: 'csv', delimiter: ',' }, mapping, ...about };
  const bytesPerRow = start.length / Math.max(1, text.split('\n').length - 1);
  const first = /\S/.exec(text)?.[0];
  if (first === '[' || first === '{') {
    const isArray = first === '[';
    const { records, header = null } = mapping;
    if (records !== undefined)
      return { format: { kind: 'json', isArray, records }, mapping, ...about, header };
    return {
      format: { kind: 'json', isArray },
      mapping,
      ...about,
      bytesPerRow: isArray ? null : bytesPerRow,
    };
  }
  const { header, line, ...format } = textFormatOf(name, text, mapping, start.length);
  checkHeader(name, header);
  const mayHaveOddNumbers = format.headerLines === 0 && /_|\+-/.test(line);
  return { format: { kind: 'csv', ...format }, mapping, header, bytesPerRow, mayHaveOddNumbers };
}

type TextFormat = Omit<CsvFormat, 'kind'> & { readonly header: readonly string[]; readonly line: string };

/** Where the names of a text's columns are, and what parts its cells. */
function textFormatOf(name: string, text: string, layout: Layout, bytes: number): TextFormat {
  const { header, skip = 0 } = layout;
  const line = firstLine(name, text, bytes, skip);
  if (header !== undefined) {
    const mended = cellsOf(line, ',');
    // Refused rows are written with the names of their columns, whatever their file had.
    if (mended?.join() === [...header, ...reasonColumns].join())
      return { header: mended, delimiter: ',', headerLines: 1, line };
  }
  const delimiter = layout.delimiter ?? (line.includes('\t') && !line.includes(',') ? '\t' : ',');
  const cells = splitHeader(name, line, delimiter);
  if (header === undefined) return { header: cells, delimiter, headerLines: skip + 1, line };
  if (cells.join() === header.join()) return { header, delimiter, headerLines: skip + 1, line };
  if (cells.length === header.length) return { header, delimiter, headerLines: skip, line };
  throw new FileProblem(
    'unfit',
    `${name}: its first row has ${cells.length} cells, and ${header.length} columns are named by the ${layout.preset === undefined ? 'map' : `preset ${layout.preset}`}: ${header.join(', ')}`,
  );
}

/** What files with NUL bytes mostly are. */
function binaryTold(start: Buffer): string {
  const mark = start.subarray(0, 4).toString('hex');
  if (mark === 'd0cf11e0') return 'is an Excel workbook: save it as CSV (UTF-8)';
  if (/^(fffe|feff)/.test(mark))
    return 'is UTF-16 text: save it as UTF-8, or convert it, such as by iconv -f UTF-16 -t UTF-8';
  return 'is not a text file: it has NUL bytes';
}

function firstLine(name: string, whole: string, bytes: number, skip: number): string {
  const text = whole.replace(new RegExp(`^(?:[^\\r\\n]*(?:\\r\\n|\\n|\\r)){${skip}}`), '');
  const end = text.search(/\r\n|\n|\r/);
  if (end < 0 && bytes === HEADER_BYTES_MAX) {
    throw new FileProblem(
      'content',
      `${name}: its first line is longer than ${HEADER_BYTES_MAX} bytes: a header line is expected`,
    );
  }
  const line = end < 0 ? text : text.slice(0, end);
  if (line.trim() === '')
    throw new FileProblem('content', `${name}: its first line is empty: a header line is expected`);
  return line;
}

function splitHeader(name: string, line: string, delimiter: string): string[] {
  const cells = cellsOf(line, delimiter);
  if (cells !== null) return cells;
  throw new FileProblem('content', `${name}: its header line cannot be read as CSV: check its quotes`);
}

/** @throws FileProblem where names stand twice, or are none */
export function checkHeader(name: string, header: readonly string[]): void {
  if (header.every((column) => /^[-+\d.:TZ ]*$/.test(column))) {
    throw new FileProblem(
      'content',
      `${name}: its first line has no column names, only values: a header line is expected, or a map with "header" that names them`,
    );
  }
  const twice = header.find((column, index) => header.indexOf(column) !== index);
  if (twice !== undefined)
    throw new FileProblem(
      'content',
      `${name}: the column ${twice === '' ? 'without a name' : twice} stands twice in its header`,
    );
}
