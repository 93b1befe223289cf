// A thread that asks PostgreSQL for tests that look past the service, and wait for the answer.
import { type MessagePort, workerData } from 'node:worker_threads';
import pg from 'pg';

/**
 * What the thread is given: the server, the port of its questions and answers, and the count of its answers.
 */
export type QueryThreadData = {
  readonly url: string;
  readonly port: MessagePort;
  readonly answered: Int32Array;
};

/** A statement on a schema; an empty one reads every table. */
export type Question = { readonly schema: string; readonly sql: string };

/** Rows, or by table where all were asked for; or why there are none. */
export type QueryAnswer = { readonly found?: unknown; readonly problem?: string };

const { url, port, answered } = workerData as QueryThreadData;
// 64-bit integers, and sums of them.
for (const type of [20, 1700]) pg.types.setTypeParser(type, Number);
const client = new pg.Client({ connectionString: url });
await client.connect();

/** The newest published version of each block, as if there were no others. */
const newestBlocks = `with bar_blocks as (
  select series_id, bucket, run_id, bytes, row_check from
    (select distinct on (series_id, bucket) bar_blocks.* from bar_blocks, store_state
      where bar_blocks.version <= store_state.version and not bar_blocks.version <@ abandoned
      order by series_id, bucket, bar_blocks.version desc) as newest
  where bytes is not null)`;

/** Every row of every table, without what depends on the versions of blocks alone. */
async function everyTable(): Promise<unknown> {
  const { rows } = await client.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = current_schema()
      and tablename not in ('replaced_blocks', 'published_versions', 'store_state') order by 1`,
  );
  const found = [];
  for (const { name } of rows) {
    const select = `select * from "${name}"`;
    found.push([name, (await client.query(`${newestBlocks} ${select}`)).rows]);
  }
  return Object.fromEntries(found);
}

async function answer({ schema, sql }: Question): Promise<QueryAnswer> {
  try {
    await client.query(`set search_path to "${schema}"`);
    return {
      found:
        sql === ''
          ? await everyTable()
          : (await client.query(/^select/i.test(sql) ? `${newestBlocks} ${sql}` : sql)).rows,
    };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

async function reply(question: Question): Promise<void> {
  port.postMessage(await answer(question));
  Atomics.add(answered, 0, 1);
  Atomics.notify(answered, 0);
}

port.on('message', (question: Question) => void reply(question));
