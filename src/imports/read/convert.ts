// Files whose rows make sense only together: a preset converts the whole file, and the rows that it makes are
// read instead.
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../../contract/limits.ts';
import { contentProblem } from './file-problem.ts';
import { cellsOf, decodeText, lineOf, linesOf } from './sample.ts';
import { type Spool, spool } from './spool.ts';

/** A row of a file, or a row made of it: both have its number, counted from 1. */
export type NumberedRow = { readonly row: number; readonly cells: readonly string[] };

/** Rows of a dataset. */
export type NativeRows = {
  /** Names of fields; a column of another name only tells people where a row comes from. */
  readonly header: readonly string[];
  readonly rows: readonly NumberedRow[];
  /** A doubt about the file as a whole. */
  readonly doubt?: string;
  /** Rows that are deliberately not imported. */
  readonly leftOut?: { readonly reason: string; readonly count: number };
};

/** Makes native rows of all rows of a file. @throws FileProblem where it cannot */
export type Convert = (rows: readonly NumberedRow[]) => NativeRows;

/** A CSV of native rows, in a temporary folder. */
type ConvertedFile = Omit<NativeRows, 'rows'> & {
  readonly path: string;
  readonly bytes: number;
  /** For each of its rows, the number of the row of the original file. */
  readonly rowNumbers: readonly number[];
};

/** Converts a text file. @throws FileProblem where it is too large or cannot be read, DiskFull */
export async function convertFile(
  name: string,
  path: string,
  convert: Convert,
  delimiter = ',',
): Promise<Spool<ConvertedFile>> {
  const { header, rows, ...rest } = convert(await rowsOfFile(name, path, delimiter));
  const text = [header, ...rows.map(({ cells }) => cells)].map(lineOf).join('');
  const bytes = Buffer.byteLength(text);
  return spool(bytes, async (folder) => {
    const target = join(folder, 'converted.csv');
    await writeFile(target, text);
    return { ...rest, header, path: target, bytes, rowNumbers: rows.map(({ row }) => row) };
  });
}

async function rowsOfFile(name: string, path: string, delimiter: string): Promise<NumberedRow[]> {
  if ((await stat(path)).size > limits.convertedBytesMax)
    throw contentProblem(
      name,
      `is larger than ${limits.convertedBytesMax} bytes. Its rows make sense only together, so its preset must hold all of them in memory`,
    );
  const text = decodeText(name, await readFile(path));
  return linesOf({ name, text, isCut: false }).map((line, index) => {
    const cells = cellsOf(line, delimiter);
    if (cells !== null) return { row: index + 1, cells };
    throw contentProblem(name, `row ${index + 1} cannot be read as CSV: check its quotes`);
  });
}
