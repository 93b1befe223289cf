// Both engines beside each other in short: `npm run engines` for more.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { TestFolder } from '../stores.ts';
import { compareEngines } from './differential.ts';
import { postgresPrograms, startPostgres } from './server.ts';

const temporary = new TestFolder();
after(() => temporary.close());

/** The same requests in every check; `npm run engines` takes others. */
const SEED = 20_250_303;
const REQUESTS = 600;

test('600 random requests have the same bytes from both engines, page keys included, through imports, corrections, deletions and undos (contract 4.1, 10)', {
  skip: postgresPrograms() === null && 'PostgreSQL is not installed: apt-get install postgresql-15',
}, async (t) => {
  const server = await startPostgres();
  try {
    const compared = await compareEngines(server.url, temporary.folder, { seed: SEED, count: REQUESTS });
    t.diagnostic(JSON.stringify(compared));
    assert.ok(compared.good > REQUESTS / 4, 'good answers');
    assert.ok(compared.pages > REQUESTS / 20, 'further pages');
    assert.ok(compared.writes > 5, 'changes that wrote something');
  } finally {
    await server.stop();
  }
});
