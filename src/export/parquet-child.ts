// A process that makes Parquet of a CSV on its standard input, by DuckDB: its memory is its own, and it can be ended at any time. Its
// arguments are a path and the columns with their types, as JSON. It prints how many rows the file has, and its hash, as JSON.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { copyCsv } from './parquet.ts';

/** What DuckDB may use: with Node.js and DuckDB's own code the process takes less than 250 MB. */
const settings = { threads: '1', memory_limit: '120MB', temp_directory: '' };

/** Rows of a group: 14 columns of eight bytes are 7 MB. */
const GROUP_ROWS = 61_440;

/** Bytes of a line: symbols, words and numbers. */
const LINE_BYTES_MAX = 65_536;

const [path, columns] = process.argv.slice(2) as [string, string];
const rows = await copyCsv({
  from: '/dev/stdin',
  columns: JSON.parse(columns) as { name: string; type: string }[],
  lineBytesMax: LINE_BYTES_MAX,
  to: path,
  options: `row_group_size ${GROUP_ROWS}`,
  settings,
});
const hash = createHash('sha256');
await pipeline(createReadStream(path), hash);
process.stdout.write(JSON.stringify({ rows, hash: hash.digest('base64url') }));
