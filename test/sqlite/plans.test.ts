// The plans of SQLite for large lists in short: `npm run plans` for more.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fillLists } from '../list-plans.ts';
import { TestFolder } from '../stores.ts';
import { fileStore } from './files.ts';
import { sqlitePlans } from './plans.ts';

const temporary = new TestFolder();
after(() => temporary.close());

/** SQLite has no statistics of a store, so that its plans are those of any size. */
const ROWS = 3_000;

test('every list is a walk of an index that sorts nothing, page by page (house, Rules)', async (t) => {
  const url = fileStore(temporary.path('lists.db'));
  await fillLists(url, temporary.folder, ROWS);
  const { statements, problems } = await sqlitePlans(url);
  t.diagnostic(`${statements} statements`);
  assert.ok(statements > 60, `${statements} statements`);
  assert.deepEqual(problems, []);
});
