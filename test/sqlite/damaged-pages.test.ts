// Damaged pages: what only reads goes past them in its own words, whichever page it is (contract 10).
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Workshop } from '../service.ts';
import { fileStore, rowsOfFile, storeFile } from './files.ts';

const shop = new Workshop();
after(() => shop.close());

const PAGE_BYTES = 16_384;
const flags = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];
let made = 0;

before(async () => {
  writeFileSync(shop.path('instruments.csv'), 'symbol,name\nA,Alpha Works\nB,Beta Foods\n');
  writeFileSync(
    shop.path('bars.csv'),
    'symbol,datetime,open,high,low,close\nA,2025-03-03T15:00:00Z,1,1,1,1\nB,2025-03-03T15:00:00Z,2,2,2,2\n',
  );
  await shop.must('import', 'instruments', 'instruments.csv', '--schema', 'stock', '--country', 'US');
  await shop.must('import', 'bars', 'bars.csv', ...flags);
  await shop.must('keys', 'create', 'me');
});

/** The number of the first page of a table or an index, from 0. */
const pageOf = (name: string): number =>
  (rowsOfFile(storeFile(shop.store), `select rootpage from sqlite_schema where name = '${name}'`)[0]!
    .rootpage as number) - 1;

/** A copy of the store in which a page is nothing but zeros. */
function without(page: number): string {
  const path = shop.path(`case-${++made}.db`);
  const bytes = readFileSync(storeFile(shop.store));
  bytes.fill(0, page * PAGE_BYTES, (page + 1) * PAGE_BYTES);
  writeFileSync(path, bytes);
  copyFileSync(shop.path('bourse.control.db'), path.replace('.db', '.control.db'));
  return fileStore(path);
}

for (const name of ['instruments', 'bar_blocks', 'bar_blocks_key', 'import_runs'])
  test(`status names a damaged page of ${name}, counts what does not need it, and ends with 1`, async () => {
    const done = await shop.run('status', '--content-hash', '--store', without(pageOf(name)));
    assert.equal(done.status, 1, done.stderr);
    assert.match(done.stderr, /^bourse: damaged, not counted: \w+, a page of its table or indexes: /m);
    assert.match(done.stdout, /^data version +2 /m);
    assert.equal(/^content hash/m.test(done.stdout), name === 'import_runs');
  });

for (const name of ['row_sums', 'the file’s first page'])
  test(`a damaged page that nothing can be read without is named with what to run: ${name}`, async () => {
    const page = name === 'row_sums' ? pageOf(name) : 0;
    const done = await shop.run('status', '--content-hash', '--json', '--store', without(page));
    assert.equal(done.status, 3);
    const { error, message } = JSON.parse(done.stderr);
    assert.equal(error, 'store_unusable');
    assert.match(message, /case-\d+\.db .*restore a backup/);
    assert.match(message, /bourse restore FILE --force/);
  });

test('a write that meets a damaged page changes nothing, and says what is damaged in its own words', async () => {
  const store = without(pageOf('import_runs'));
  const done = await shop.run('import', 'bars', 'bars.csv', ...flags, '--store', store);
  assert.equal(done.status, 3);
  assert.match(done.stderr, /^bourse: stored data is damaged: [^\n]*\nbourse: bourse doctor --deep lists/m);
  assert.doesNotMatch(done.stderr, /^bourse: database disk image/m);
});
