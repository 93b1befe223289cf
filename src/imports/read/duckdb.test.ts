// What the reader of files leaves on the disk.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import duckdb from '@duckdb/node-bindings';
import { TestFolder } from '../../../test/stores.ts';
import { open } from './duckdb.ts';
import { spillFolder } from './spool.ts';

test('where memory is short the reader writes into the temporary folder, and clears it', async (t) => {
  const temporary = new TestFolder();
  const before = process.cwd();
  process.chdir(temporary.folder);
  t.after(() => {
    process.chdir(before);
    temporary.close();
  });
  const { connection, close } = await open({ memory_limit: '20MB' });
  await duckdb.query(connection, 'create temp table filled as select range as n from range(5000000)');
  assert.ok(existsSync(spillFolder()));
  assert.ok(!existsSync('.tmp'));
  close();
  assert.ok(!existsSync(spillFolder()));
});
