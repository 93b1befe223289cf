// DuckDB's bare scan of a CSV of minutes, typed, every column used: what an import is measured against.
// `bare-scan.ts FILE`
import duckdb from '@duckdb/node-bindings';
import { numberColumns, tableOf } from './minutes-table.ts';

const config = duckdb.create_config();
duckdb.set_config(config, 'threads', '2');
const connection = await duckdb.connect(await duckdb.open(':memory:', config));
const startedMs = performance.now();
const result = await duckdb.query(
  connection,
  `select count(*), min(datetime), max(symbol), ${numberColumns.map((name) => `sum(${name})`).join()} from ${tableOf(process.argv[2]!)}`,
);
const chunk = (await duckdb.fetch_chunk(result))!;
const queryMs = performance.now() - startedMs;
const counts = duckdb.vector_get_data(duckdb.data_chunk_get_vector(chunk, 0), 8);
const rows = Number(new DataView(counts.buffer, counts.byteOffset).getBigInt64(0, true));
process.stdout.write(`${JSON.stringify({ rows, queryMs })}\n`);
