// The plans of PostgreSQL for large lists in short: `npm run plans` for more.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openStore } from '../../src/store/engines.ts';
import { fillLists } from '../list-plans.ts';
import { TestFolder } from '../stores.ts';
import { blockRows, postgresPlans } from './plans.ts';
import { openDatabase, skip } from './server.ts';

const temporary = new TestFolder();
after(() => temporary.close());

test('a read of a few blocks reads no others of the series, in either direction', { skip }, async (t) => {
  const server = await openDatabase();
  t.after(() => server.stop());
  const store = await openStore(server.url, 'write');
  await store.write(async (writer) => {
    for (let seriesId = 1; seriesId <= 20; seriesId++)
      for (let bucket = 0; bucket < 500; bucket++)
        await writer.putBlock(seriesId, { bucket, runId: 1, bytes: new Uint8Array(100) });
  });
  await store.close();
  const read = { seriesId: 7, fromBucket: 0, toBucket: 499, limit: 4 } as const;
  const rows = await blockRows(server.url, async () => {
    const serving = await openStore(server.url, 'serve');
    for (const direction of ['asc', 'desc'] as const)
      await serving.snapshot((reader) => reader.blocks({ ...read, direction }));
    await serving.close();
  });
  assert.equal(rows.length, 2);
  for (const count of rows) assert.ok(count < 30, `${count} rows for 4 blocks`);
});

// PostgreSQL would sort what it takes for few rows.
for (const rows of [500, 20_000])
  test(`every list of ${rows} rows is a walk of an index that sorts nothing, page by page, on PostgreSQL too (house, Rules)`, {
    skip,
  }, async (t) => {
    const server = await openDatabase();
    t.after(() => server.stop());
    await t.test(`${rows} rows are imported`, () => fillLists(server.url, temporary.folder, rows));
    const { statements, problems } = await postgresPlans(server.url);
    t.diagnostic(`${statements} statements`);
    assert.ok(statements > 60, `${statements} statements`);
    assert.deepEqual(problems, []);
  });
