// A service that runs while its store in PostgreSQL is replaced by an older state: it keeps nothing of the
// state before.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import pg from 'pg';
import { Workshop } from '../service.ts';
import { openDatabase, skip } from './server.ts';

const shop = new Workshop();
after(() => shop.close());

/** Replaces a schema by a copy of it, as a restore does. */
const swap = (schema: string): string => `begin; alter schema ${schema} rename to ${schema}_replaced;
  alter schema ${schema}_copy rename to ${schema}; commit`;

/** Puts the rows of a copy into the tables that are there, as a restore of data alone does. */
const refill = (schema: string): string => `do $$ declare t text; begin
  for t in select tablename from pg_tables where schemaname = '${schema}' loop
    execute format('delete from ${schema}.%I', t);
    execute format('insert into ${schema}.%I select * from ${schema}_copy.%I', t, t);
  end loop; end $$`;

const copy = (schema: string): string => `do $$ declare t text; begin
  create schema ${schema}_copy;
  for t in select tablename from pg_tables where schemaname = '${schema}' loop
    execute format('create table ${schema}_copy.%I (like ${schema}.%I including all)', t, t);
    execute format('insert into ${schema}_copy.%I select * from ${schema}.%I', t, t);
  end loop; end $$`;

test('answers after a restore are those of the restored data, and no version has the number of a lost one (contract 4.1, 9.11, 9.12)', {
  skip,
}, async (t) => {
  const server = await openDatabase();
  t.after(() => server.stop());
  const client = new pg.Client({ connectionString: server.url });
  client.on('error', () => undefined);
  await client.connect();
  for (const [schema, restore] of [
    ['swapped', swap],
    ['refilled', refill],
  ] as const) {
    const store = `${server.url}?schema=${schema}`;
    const put = async (price: number): Promise<void> => {
      const file = shop.path(`${schema}-${price}.csv`);
      writeFileSync(
        file,
        `symbol,datetime,open,high,low,close,volume\nAAPL,2025-03-03,${price},${price},${price},${price},1\n`,
      );
      const flags = ['--schema', 'stock', '--country', 'US', '--interval', 'DAY', '--store', store];
      const { status, stderr } = await shop.run('import', 'bars', file, ...flags);
      assert.equal(status, 0, stderr);
    };
    await put(100);
    await client.query(copy(schema));
    await put(200);
    const made = await shop.run('keys', 'create', 'me', '--store', store);
    // The key is restored too.
    await client.query(`insert into ${schema}_copy.api_keys select * from ${schema}.api_keys`);
    const serving = await shop.serve('--store', store);
    const opens = async (): Promise<number[]> => {
      const found: number[] = [];
      // The second answer comes from the cache.
      for (let times = 0; times < 2; times++) {
        const path = '/api/v2/stock/bars/US:AAPL/DAY/from/2025-03-01/to/2025-03-08?format=csv';
        const response = await serving.get(path, {
          headers: { authorization: `Bearer ${made.stdout.trim()}` },
        });
        found.push(Number((await response.text()).split('\n')[1]!.match(/,(\d00)(?:\.0+)?,/)![1]));
      }
      return found;
    };
    const versionOf = async (query: string) => {
      const response = await serving.get(`/api/v2/server/runs?${query}`, {
        headers: { authorization: `Bearer ${made.stdout.trim()}` },
      });
      return [response.status, response.headers.get('x-data-version'), await response.text()] as const;
    };
    /** The tag of the file of bars in bulk, which is kept for ten minutes. */
    const fileTag = async (): Promise<string | null> => {
      const path = '/api/v2/stock/bulk/bars/US/DAY/from/2025-03-01/to/2025-03-08?format=parquet';
      const headers = { authorization: `Bearer ${made.stdout.trim()}` };
      const response = await serving.get(path, { headers });
      assert.equal(response.status, 200, await response.text());
      return response.headers.get('etag');
    };
    assert.deepEqual(await opens(), [200, 200], schema);
    const tag = await fileTag();
    await client.query(restore(schema));
    assert.deepEqual(await opens(), [100, 100], schema);
    await put(300);
    assert.deepEqual(await opens(), [300, 300], schema);
    assert.notEqual(await fileTag(), tag, 'a file of the data before has its version, and is not theirs');
    // The version after that of the restored data was that of the lost import: it is not given again.
    const [, version] = await versionOf('');
    assert.ok(Number(version) > Date.UTC(2025, 0), `${version}`);
    const [status, , text] = await versionOf('data_version=2');
    assert.equal(status, 400, text);
    assert.match(text, /data_version never existed: version \d+ follows version 1/);
    await put(400);
    assert.equal((await versionOf(''))[1], String(Number(version) + 1));
    await serving.stop();
  }
  await client.end();
});
