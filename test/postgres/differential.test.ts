// Both engines beside each other in short: `npm run engines` for more.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { seed } from '../seed.ts';
import { TestFolder } from '../stores.ts';
import { compareEngines } from './differential.ts';
import { openDatabase, skip } from './server.ts';

const temporary = new TestFolder();
after(() => temporary.close());

const REQUESTS = 600;

test('600 random requests have the same bytes from both engines, page keys, versions and instants included, through imports, corrections, deletions and undos, and so has all that commands read (contract 4.1, 9.8, 9.12, 10)', {
  skip,
}, async (t) => {
  const database = await openDatabase();
  t.after(() => database.stop());
  const compared = await compareEngines(database.url, temporary.folder, { seed, count: REQUESTS });
  t.diagnostic(JSON.stringify(compared));
  assert.ok(compared.good > REQUESTS / 4, 'good answers');
  assert.ok(compared.pages > REQUESTS / 20, 'further pages');
  assert.ok(compared.writes > 5, 'changes that wrote something');
  assert.ok(
    compared.versions > 20 && compared.instants > 20,
    'good answers of earlier versions and as of instants',
  );
  assert.ok(compared.bulk > 5, 'bars in bulk');
  assert.ok(compared.readings > 1, 'all that commands read');
});
