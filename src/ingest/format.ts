// What a plain file is, told by its bytes and never by its name: CSV or TSV with a header, JSON, Parquet; and its columns.
import { open } from 'node:fs/promises';
import { FileProblem } from './problem.ts';
import { packedTwice, packingOf } from './unpack.ts';

/** The format of a plain file. */
export type Format =
  | { readonly kind: 'csv'; readonly delimiter: ',' | '\t' }
  /** Objects in one array, or one after the other (NDJSON). */
  | { readonly kind: 'json'; readonly isArray: boolean }
  | { readonly kind: 'parquet' };

/** Bytes in which a header line must end. */
const HEADER_BYTES_MAX = 64 * 1024;

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

/** A format, its header where it is text with one, and how long its lines are about. */
export type Shape = {
  readonly format: Format;
  /** Null where the columns are in the data: JSON, Parquet. */
  readonly header: readonly string[] | null;
  /** Null where lines are no rows. */
  readonly bytesPerRow: number | null;
};

/** Tells what a plain file is. @throws FileProblem for what is none of the formats */
export async function shapeOf(name: string, path: string): Promise<Shape> {
  const start = await firstBytes(name, path, HEADER_BYTES_MAX);
  if (start.length === 0) throw new FileProblem('content', `${name}: is empty`);
  if (start.subarray(0, 4).toString('latin1') === PARQUET_MAGIC)
    return { format: { kind: 'parquet' }, header: null, bytesPerRow: null };
  if (packingOf(start) !== null) throw packedTwice(name);
  if (start.includes(0)) throw new FileProblem('content', `${name}: is not a text file: it has NUL bytes`);
  const text = decodeStart(name, start);
  const bytesPerRow = start.length / Math.max(1, text.split('\n').length - 1);
  const first = /\S/.exec(text)?.[0];
  if (first === '[' || first === '{') {
    const isArray = first === '[';
    return { format: { kind: 'json', isArray }, header: null, bytesPerRow: isArray ? null : bytesPerRow };
  }
  const line = firstLine(name, text, start.length);
  const delimiter = line.includes('\t') && !line.includes(',') ? '\t' : ',';
  const header = splitHeader(name, line, delimiter);
  checkHeader(name, header);
  return { format: { kind: 'csv', delimiter }, header, bytesPerRow };
}

function decodeStart(name: string, start: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
  } catch {
    throw new FileProblem('content', `${name}: is not UTF-8 text`);
  }
}

function firstLine(name: string, text: string, bytes: number): string {
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

/** Cells of a header line by RFC 4180. */
function splitHeader(name: string, line: string, delimiter: string): string[] {
  const cells: string[] = [];
  const cell = new RegExp(
    `(?:^|${delimiter})(?:"((?:[^"]|"")*)"|([^"${delimiter}]*))(?=${delimiter}|$)`,
    'g',
  );
  for (const match of line.matchAll(cell)) {
    cells.push((match[1]?.replaceAll('""', '"') ?? match[2]!).trim());
  }
  const parts = line.replaceAll(/"(?:[^"]|"")*"/g, '').split(delimiter).length;
  if (cells.length === parts) return cells;
  throw new FileProblem('content', `${name}: its header line cannot be read as CSV: check its quotes`);
}

/** @throws FileProblem where names stand twice, or are none */
export function checkHeader(name: string, header: readonly string[]): void {
  const twice = header.find((column, index) => header.indexOf(column) !== index);
  if (twice !== undefined)
    throw new FileProblem(
      'content',
      `${name}: the column ${twice === '' ? 'without a name' : twice} stands twice in its header`,
    );
  if (header.every((column) => /^[-+\d.:TZ ]*$/.test(column))) {
    throw new FileProblem(
      'content',
      `${name}: its first line has no column names, only values: a header line is expected`,
    );
  }
}
