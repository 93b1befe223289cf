// The plans of PostgreSQL for large lists in short: `npm run plans` for more.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fillLists } from '../list-plans.ts';
import { TestFolder } from '../stores.ts';
import { postgresPlans } from './plans.ts';
import { skip, startPostgres } from './server.ts';

const temporary = new TestFolder();
after(() => temporary.close());

// PostgreSQL would sort what it takes for few rows.
for (const rows of [500, 8_000, 50_000])
  test(`every list of ${rows} rows is a walk of an index that sorts nothing, page by page, on PostgreSQL too (house, Rules)`, {
    skip,
  }, async (t) => {
    const server = await startPostgres();
    t.after(() => server.stop());
    await fillLists(server.url, temporary.folder, rows);
    const { statements, problems } = await postgresPlans(server.url);
    t.diagnostic(`${statements} statements`);
    assert.ok(statements > 60, `${statements} statements`);
    assert.deepEqual(problems, []);
  });
