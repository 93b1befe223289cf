// Reads a plain file as chunks of columns, in its order: a plain CSV here, any other in a reader process, by
// DuckDB.
import type { Chunk, Columns, DescribedFile, ReadRows } from './chunk.ts';
import { NeedsCare } from './file-problem.ts';
import type { FirstCells } from './format.ts';
import { type ChunkHead, chunkOf } from './frames.ts';
import { plainRows } from './plain-csv.ts';
import { asked } from './reader-process.ts';
import type { Reshaped, Reshaping } from './reshape.ts';
import type { ReadableFile, ReadPlan } from './scan.ts';

/**
 * The names and types of columns, for JSON and Parquet. @throws FileProblem where the file cannot be read, or
 * is too large
 */
export async function describeFile({ name, path, format }: DescribedFile): Promise<Columns> {
  return answered<Columns>(name, 'columns', { name, path, format });
}

/** Writes the rows of a file to another; null for one that is read as it is. @throws FileProblem */
export async function reshapeFile(reshaping: Reshaping): Promise<Reshaped | null> {
  const { made } = await answered<{ made: Reshaped | null }>(reshaping.name, 'reshape', reshaping);
  return made;
}

/** The only frame that answers a request. @throws FileProblem */
async function answered<H>(name: string, kind: string, request: object): Promise<H> {
  const heads = await Array.fromAsync(asked<H>(name, kind, request), ({ head }) => head);
  return heads[0]!;
}

/** Rows by which the form of cells is recognised. */
const FIRST_ROWS = 1_000;

/** The cells of the first rows of a file; missing ones are empty. @throws FileProblem */
export async function firstCells(file: ReadableFile): Promise<FirstCells> {
  const { header, types } = file;
  const columns = header.map((_, at) => ({ type: types[at] ?? '', cells: [] as string[] }));
  const plan = { texts: header, numbers: [], careful: true, rows: FIRST_ROWS };
  for await (const { count, texts } of readChunks(file, plan))
    for (const [at, { cells }] of columns.entries())
      for (let row = 0; row < count; row++) cells.push(texts[at]!.text(row) ?? '');
  return new Map(columns.map((column, at) => [header[at]!, column]));
}

async function* readElsewhere(file: ReadableFile, plan: ReadPlan, firstRow: number): AsyncGenerator<Chunk> {
  const { content: _, ...about } = file;
  const request: Parameters<ReadRows> = [about, plan, firstRow];
  for await (const { head, body } of asked<ChunkHead>(file.name, 'chunks', request))
    yield chunkOf(head, body);
}

/**
 * Reads the chunks of a file in order: the next one overwrites the columns of the one before. What is no
 * plain CSV is read by `rest`.
 * @throws FileProblem, or NeedsCare in a fast reading
 */
export async function* readChunks(
  file: ReadableFile,
  plan: ReadPlan,
  rest: ReadRows = readElsewhere,
): AsyncGenerator<Chunk> {
  const { format } = file;
  if (format.kind !== 'csv' || plan.careful) return yield* rest(file, plan, 1);
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
  yield* rest({ ...file, format: { ...format, headerLines } }, plan, firstRow);
}

/** The next plain rows. @throws NeedsCare where the file cannot be read: a careful reading says why */
function nextRows(rows: ReturnType<typeof plainRows>): ReturnType<typeof rows.next> {
  try {
    return rows.next();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new NeedsCare();
  }
}
