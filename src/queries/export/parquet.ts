// Makes Parquet of a CSV, by DuckDB.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import duckdb, { type Result } from '@duckdb/node-bindings';
import { open } from '../../imports/read/duckdb.ts';
import { named, pathOf, quoted } from '../../imports/read/scan.ts';
import type { ExportColumn } from './export-table.ts';

/** Bytes of a line: a quoted text may be twice as long as the longest text of an import. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * A column of a CSV: its type as it is read, and the SQL of its value in the file, in which `$` is what was
 * read.
 */
export type ReadColumn = Pick<ExportColumn, 'name' | 'type'> & { readonly sql?: string };

/** A CSV, and the Parquet file that is made of it. */
type Copy = {
  readonly from: string;
  readonly columns: readonly ReadColumn[];
  readonly header: boolean;
  readonly lineBytesMax: number;
  readonly to: string;
  /** More options of the file, in the words of DuckDB. */
  readonly options?: string;
  /** Settings of DuckDB in place of the usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
};

/**
 * Makes a Parquet file of a CSV, in the same order; the rows that it has. The error of a full disk has the
 * code `ENOSPC`.
 */
async function copyCsv(copy: Copy): Promise<number> {
  const { from, columns, header, lineBytesMax, to, options, settings } = copy;
  const types = columns.map(({ name, type }) => `${named(name)}: ${quoted(type)}`);
  const table = `read_csv(${pathOf(from)}, auto_detect=false, header=${header}, delim=',', quote='"', escape='"', strict_mode=true,
    nullstr='', compression='none', max_line_size=${lineBytesMax}, buffer_size=${2 * lineBytesMax}, columns={${types.join()}})`;
  const values = columns.map(
    ({ name, sql = '$' }) => `${sql.replace('$', () => named(name))} as ${named(name)}`,
  );
  const format = ['format parquet, compression zstd, use_tmp_file false', options].filter(Boolean).join();
  const { connection, close } = await open(settings);
  try {
    return await countIn(
      await duckdb.query(
        connection,
        `copy (select ${values.join()} from ${table}) to ${quoted(to)} (${format})`,
      ),
    );
  } catch (error) {
    // DuckDB has no codes for a full disk.
    const isFull = /No space left|quota exceeded/i.test((error as Error).message);
    throw isFull ? Object.assign(error as Error, { code: 'ENOSPC' }) : error;
  } finally {
    close();
  }
}

/** Makes a Parquet file of a CSV with these columns and so many rows, in the same order. */
export async function writeParquet(
  csvPath: string,
  columns: readonly ExportColumn[],
  rows: number,
  path: string,
): Promise<void> {
  const written = await copyCsv({
    ...{ from: csvPath, columns, header: true, lineBytesMax: LINE_BYTES_MAX, to: path },
  });
  if (written !== rows) throw new Error(`DuckDB wrote ${written} of ${rows} rows`);
  const file = await openFile(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The one number of a result. */
async function countIn(result: Result): Promise<number> {
  const chunk = await duckdb.fetch_chunk(result);
  if (chunk === null) return 0;
  const bytes = duckdb.vector_get_data(duckdb.data_chunk_get_vector(chunk, 0), 8);
  return Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigInt64(0, true));
}

/** DuckDB's limits: with Node.js and DuckDB's own code the process takes less than 250 MB. */
const childSettings = { threads: '1', memory_limit: '120MB', temp_directory: '' };

/** Rows of a group: 14 columns of eight bytes are 7 MB. */
const GROUP_ROWS = 61_440;

/**
 * Different values of a column in a group for which it has a dictionary. To look for one in prices takes a
 * tenth of the time, and saves nothing.
 */
const DICTIONARY_MAX = 1_000;

/** Bytes of a line of bars, far more than it has: DuckDB reads twice as many at a time. */
const BAR_BYTES_MAX = 524_288;

/**
 * The process that makes Parquet of a CSV on its standard input: its memory is its own, and it can be ended
 * at any time. Its arguments are a path and the columns with their types, as JSON. It prints how many rows
 * the file has, and its hash, as JSON.
 */
async function makeParquet(path: string, columns: string): Promise<void> {
  const rows = await copyCsv({
    from: '/dev/stdin',
    columns: JSON.parse(columns) as ReadColumn[],
    header: false,
    lineBytesMax: BAR_BYTES_MAX,
    to: path,
    options: `row_group_size ${GROUP_ROWS}, dictionary_size_limit ${DICTIONARY_MAX}`,
    settings: childSettings,
  });
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  process.stdout.write(JSON.stringify({ rows, hash: hash.digest('base64url') }));
}

if (import.meta.main) await makeParquet(...(process.argv.slice(2) as [string, string]));
