// A process that makes Parquet of a CSV on its standard input, by DuckDB: its memory is its own, and it can
// be ended at any time. Its arguments are a path and the columns with their types, as JSON. It prints how
// many rows the file has, and its hash, as JSON.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { copyCsv, type ReadColumn } from './parquet.ts';

/** What DuckDB may use: with Node.js and DuckDB's own code the process takes less than 250 MB. */
const settings = { threads: '1', memory_limit: '120MB', temp_directory: '' };

/** Rows of a group: 14 columns of eight bytes are 7 MB. */
const GROUP_ROWS = 61_440;

/**
 * Different values of a column in a group for which it has a dictionary. To look for one in prices takes a
 * tenth of the time, and saves nothing.
 */
const DICTIONARY_MAX = 1_000;

/** Bytes of a line, far more than it has: DuckDB reads twice as many at a time. */
const LINE_BYTES_MAX = 524_288;

const [path, columns] = process.argv.slice(2) as [string, string];
const rows = await copyCsv({
  from: '/dev/stdin',
  columns: JSON.parse(columns) as ReadColumn[],
  header: false,
  lineBytesMax: LINE_BYTES_MAX,
  to: path,
  options: `row_group_size ${GROUP_ROWS}, dictionary_size_limit ${DICTIONARY_MAX}`,
  settings,
});
const hash = createHash('sha256');
await pipeline(createReadStream(path), hash);
process.stdout.write(JSON.stringify({ rows, hash: hash.digest('base64url') }));
