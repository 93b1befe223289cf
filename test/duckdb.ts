// DuckDB as a reader of files that Bourse wrote.
import duckdb from '@duckdb/node-bindings';
import { TextColumn } from '../src/files/text-column.ts';

/** The one text that a statement gives. */
export async function textOf(statement: string): Promise<string> {
  const database = await duckdb.open(':memory:');
  const connection = await duckdb.connect(database);
  try {
    await duckdb.query(connection, "set timezone = 'UTC'; set threads = 1");
    const chunk = await duckdb.fetch_chunk(await duckdb.query(connection, statement));
    const text = new TextColumn();
    text.load(duckdb.data_chunk_get_vector(chunk!, 0), 1);
    return text.text(0)!;
  } finally {
    duckdb.disconnect_sync(connection);
    duckdb.close_sync(database);
  }
}
