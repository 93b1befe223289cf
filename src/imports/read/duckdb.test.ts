// The reader of files leaves nothing on the disk, and lets nobody else read what it writes there.
import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import duckdb from '@duckdb/node-bindings';
import { TestFolder } from '../../../test/stores.ts';
import { open } from './duckdb.ts';
import { asked } from './reader-process.ts';
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

test('nobody else may read what a reader process writes', async (t) => {
  const temporary = new TestFolder();
  t.after(() => temporary.close());
  const [path, target] = [temporary.path('columns.json'), temporary.path('rows.json')];
  writeFileSync(path, '[[1735828200000,1,2,1,2,9],[1735828260000,1,2,1,2,9]]');
  const request = { kind: 'json', name: path, path, target, header: ['t', 'o', 'h', 'l', 'c', 'v'] };
  for await (const { head } of asked<{ made: object | null }>(path, 'reshape', request))
    assert.ok(head.made !== null);
  assert.equal(statSync(target).mode & 0o777, 0o600);
});
