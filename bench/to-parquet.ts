// Makes a Parquet file of a CSV of minutes, in the same order. `to-parquet.ts CSV PARQUET`
import duckdb from '@duckdb/node-bindings';
import { tableOf } from './minutes-table.ts';

const [csv, parquet] = process.argv.slice(2) as [string, string];
const connection = await duckdb.connect(await duckdb.open(':memory:'));
await duckdb.query(
  connection,
  `copy (from ${tableOf(csv, 'TIMESTAMPTZ')}) to '${parquet.replaceAll("'", "''")}' (format parquet, compression zstd)`,
);
