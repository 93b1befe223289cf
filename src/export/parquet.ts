// Makes Parquet of a CSV, by DuckDB.
import { open as openFile } from 'node:fs/promises';
import duckdb, { type Result } from '@duckdb/node-bindings';
import { quoted } from '../files/computed-column.ts';
import { open } from '../files/read.ts';
import { named, pathOf } from '../files/scan.ts';
import type { ExportColumn } from './export-table.ts';

/** Bytes of a line: a quoted text may be twice as long as the longest text of an import. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;

/** Makes a Parquet file of a CSV with these columns and so many rows, in the same order. */
export async function writeParquet(
  csvPath: string,
  columns: readonly ExportColumn[],
  rows: number,
  path: string,
): Promise<void> {
  const types = columns.map(({ name, type }) => `${named(name)}: ${quoted(type)}`);
  const table = `read_csv(${pathOf(csvPath)}, auto_detect=false, header=true, delim=',', quote='"', escape='"', strict_mode=true,
    nullstr='', compression='none', max_line_size=${LINE_BYTES_MAX}, buffer_size=${2 * LINE_BYTES_MAX}, columns={${types.join()}})`;
  const { connection, close } = await open();
  try {
    const options = 'format parquet, compression zstd, use_tmp_file false';
    const result = await duckdb.query(connection, `copy (from ${table}) to ${quoted(path)} (${options})`);
    const written = await countIn(result);
    if (written !== rows) throw new Error(`DuckDB wrote ${written} of ${rows} rows`);
  } catch (error) {
    // DuckDB has no codes for a full disk.
    const isFull = /No space left|quota exceeded/i.test((error as Error).message);
    throw isFull ? Object.assign(error as Error, { code: 'ENOSPC' }) : error;
  } finally {
    close();
  }
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
