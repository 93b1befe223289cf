// `bourse backup` and `bourse restore` as their users have them (contract 10). Beside imports, killed, on a
// full disk: test/ci/copies-under-way.test.ts.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { backupStore } from '../../src/store/engines.ts';
import { Workshop } from '../service.ts';
import {
  dataOf,
  exceptVersions,
  minuteFlags,
  minuteOf,
  plainly,
  SmallStores,
  told,
  writeDays,
} from './copies.ts';
import { contentOfFile, fileStore, rowsOfFile } from './files.ts';

const shop = new Workshop();
const stores = new SmallStores(shop);
before(() => stores.make());
after(() => shop.close());

const permissionsOf = (path: string): number => statSync(path).mode & 0o777;

const hashOf = async (url: string): Promise<string> =>
  (
    JSON.parse(await shop.must('status', '--content-hash', '--json', '--store', url)) as {
      content_hash: string;
    }
  ).content_hash;

type Page = {
  readonly result: {
    readonly next_page_key: string | null;
    readonly data: readonly { readonly datetime: string }[];
  };
};

test('a store comes back whole from its backup: bars, keys, and pages begun before (contract 4.1, 10)', async () => {
  const { folder, path, control, url } = stores.fresh();
  const key = await shop.must('keys', 'create', 'caller', '--store', url);
  const range = '/api/v2/stock/bars/US:A/1M/from/2025-03-03/to/2025-03-07';
  const first = await shop.serve('--store', url);
  const page = (await (await first.get(`${range}?secret_key=${key}&limit=1`)).json()) as Page;
  const { next_page_key } = page.result;
  assert.ok(next_page_key);
  const [data, keys, hash] = [contentOfFile(path), contentOfFile(control), await hashOf(url)];

  const backup = join(folder, 'a.backup');
  const copied = JSON.parse(await shop.must('backup', backup, '--json', '--store', url));
  assert.equal(copied.bytes, statSync(backup).size);
  assert.equal(copied.keys, 2);
  assert.equal(permissionsOf(backup), 0o600);
  assert.deepEqual(dataOf(backup), data);
  await first.stop();

  await shop.must(
    'import',
    'bars',
    writeDays(shop, 'later.csv', [2, 3]),
    ...minuteFlags,
    '--symbol',
    'A',
    '--store',
    url,
  );
  await shop.must('keys', 'create', 'later', '--store', url);
  const [laterData, laterKeys] = [contentOfFile(path), contentOfFile(control)];
  await shop.must('restore', backup, '--force', '--store', url);
  assert.deepEqual(exceptVersions(contentOfFile(path)), exceptVersions(data));
  assert.deepEqual(contentOfFile(control), keys);
  assert.equal(await hashOf(url), hash);
  assert.equal(permissionsOf(control), 0o600);
  assert.deepEqual(contentOfFile(`${path}.before-restore`), laterData);
  assert.deepEqual(contentOfFile(`${control}.before-restore`), laterKeys);
  const restored = readFileSync(path);
  for (const { hash: secret } of rowsOfFile(control, 'select hash from api_keys'))
    assert.equal(restored.indexOf(secret as Uint8Array), -1, 'the data holds nothing of the keys');

  const second = await shop.serve('--store', url);
  const next = await second.get(`${range}?secret_key=${key}&limit=1&next_page_key=${next_page_key}`);
  assert.equal(next.status, 200);
  const { result } = (await next.json()) as Page;
  assert.deepEqual(
    result.data.map((bar) => bar.datetime),
    [minuteOf(1)],
  );
  await second.stop();
});

test('what would be replaced, or can be no copy, is wrong usage, what cannot be used a fault (contract 10)', async () => {
  const { folder, path, url } = stores.fresh();
  const backup = join(folder, 'a.backup');
  await backupStore(url, backup, plainly);
  told(await shop.run('backup', backup, '--store', url), 2, /^bourse: .*a\.backup exists already/);
  told(await shop.run('restore', backup, '--store', url), 2, /^bourse: there is a store at/);
  told(await shop.run('backup', folder, '--store', url), 2, /^bourse: .* is a folder, a link or a device/);
  told(
    await shop.run('backup', path, '--force', '--store', url),
    2,
    /^bourse: .*belongs to the store itself/,
  );
  told(await shop.run('backup', join(folder, 'no/a'), '--store', url), 2, /^bourse: there is no folder/);
  told(await shop.run('restore', join(folder, 'none'), '--store', url), 2, /^bourse: there is no backup/);
  told(
    await shop.run('restore', folder, '--store', url),
    2,
    /^bourse: .*not a Bourse backup: it is a folder/,
  );
  told(
    await shop.run('restore', backup, '--force', '--store', fileStore(folder)),
    2,
    /^bourse: .*not a Bourse store: it is a folder/,
  );
  told(await shop.run('restore', path, '--force', '--store', url), 3, /^bourse: .*is not a Bourse backup/);
});

test('a backup becomes a store where there is none, in a folder that is made', async () => {
  const { folder, path, url } = stores.fresh();
  await shop.must('backup', join(folder, 'a.backup'), '--store', url);
  const elsewhere = join(folder, 'new/place/trial.db');
  await shop.must('restore', join(folder, 'a.backup'), '--store', fileStore(elsewhere));
  assert.deepEqual(exceptVersions(contentOfFile(elsewhere)), exceptVersions(contentOfFile(path)));
  assert.deepEqual(
    readdirSync(join(folder, 'new/place'))
      .filter((name) => !/-(wal|shm)$/.test(name))
      .sort(),
    ['trial.control.db', 'trial.db'],
  );
});

test('a store without keys is backed up and restored without keys', async () => {
  const { folder, path, control, url } = stores.fresh();
  assert.match(
    await shop.must('backup', join(folder, 'b.backup'), '--store', url),
    /, verified, 1 key, data /,
  );
  rmSync(control);
  const made = await shop.must('backup', join(folder, 'a.backup'), '--store', url);
  assert.match(made, /, verified, without any key, data /);
  await shop.must('keys', 'create', 'later', '--store', url);
  const brought = await shop.must('restore', join(folder, 'a.backup'), '--force', '--store', url);
  assert.match(brought, /, verified, without any key, as it was at /);
  assert.ok(!existsSync(control));
  assert.ok(existsSync(`${control}.before-restore`));
  assert.equal(rowsOfFile(path, 'select bar_count from series')[0]!.bar_count, 2);
});

test('the file of keys is its owner’s alone from the first', async () => {
  const { control } = stores.fresh();
  assert.equal(permissionsOf(control), 0o600);
});
