// DuckDB as a reader of files that Bourse wrote, and a maker of files for it.
import duckdb, { type Result } from '@duckdb/node-bindings';
import { TextColumn } from '../src/imports/read/text-column.ts';

/** The one text that a statement gives. */
export const textOf = (statement: string): Promise<string> =>
  run(statement, async (result) => {
    const chunk = await duckdb.fetch_chunk(result);
    const text = new TextColumn();
    text.load(duckdb.data_chunk_get_vector(chunk!, 0), 1);
    return text.text(0)!;
  });

/** Runs a statement that gives no text, such as one that makes a file. */
export const runStatement = (statement: string): Promise<void> => run(statement, async () => undefined);

async function run<T>(statement: string, read: (result: Result) => Promise<T>): Promise<T> {
  const database = await duckdb.open(':memory:');
  const connection = await duckdb.connect(database);
  try {
    await duckdb.query(connection, "set timezone = 'UTC'; set threads = 1");
    return await read(await duckdb.query(connection, statement));
  } finally {
    duckdb.disconnect_sync(connection);
    duckdb.close_sync(database);
  }
}
