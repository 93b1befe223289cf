// The version with which a restored store goes on (contract 9.12): by the clock, by a clock that is behind,
// and as callers see it.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { backupStore, openStore, restoreStore } from '../../src/store/engines.ts';
import { Workshop } from '../service.ts';
import { alter, forced, minuteFlags, plainly, SmallStores, writeDays } from './copies.ts';
import { fileStore } from './files.ts';

const shop = new Workshop();
const stores = new SmallStores(shop);
before(() => stores.make());
after(() => shop.close());

const AT_MS = 1_764_000_000_000;
const at = (ms: number) => ({ ...forced, nowMs: () => ms });

async function versionOf(url: string): Promise<number> {
  const store = await openStore(url, 'read');
  try {
    return (await store.version())!;
  } finally {
    await store.close();
  }
}

test('a restore goes on with its moment, over a store and elsewhere, and imports count on from it (contract 9.12)', async () => {
  const { folder, url } = stores.fresh();
  const backup = join(folder, 'a.backup');
  await backupStore(url, backup, plainly);
  assert.equal(await versionOf(url), 1);
  assert.equal((await restoreStore(url, backup, at(AT_MS))).version, AT_MS);
  assert.equal(await versionOf(url), AT_MS);
  const trial = fileStore(join(folder, 'trial/bourse.db'));
  assert.equal((await restoreStore(trial, backup, at(AT_MS + 5))).version, AT_MS + 5);
  const day = writeDays(shop, 'next.csv', [2]);
  await shop.must('import', 'bars', day, ...minuteFlags, '--symbol', 'A', '--store', url);
  assert.equal(await versionOf(url), AT_MS + 1);
});

test('where the clock stands behind a version that was given, a restore goes on with a greater one (contract 9.12)', async () => {
  const { folder, url } = stores.fresh();
  const [first, second] = ['a', 'b'].map((name) => join(folder, `${name}.backup`)) as [string, string];
  await backupStore(url, first, plainly);
  await restoreStore(url, first, at(AT_MS));
  await backupStore(url, second, plainly);
  // The version of the backup is ahead of the clock.
  const elsewhere = [1, 2].map((number) => fileStore(join(folder, `${number}/bourse.db`)));
  const versions: number[] = [];
  for (const one of elsewhere) versions.push((await restoreStore(one, second, at(1_000))).version);
  for (const version of versions) assert.ok(version > AT_MS, `${version}`);
  assert.notEqual(versions[0], versions[1], 'both went on from the same version by the same clock');
  // That of the replaced store is.
  const { version } = await restoreStore(elsewhere[0]!, first, at(1_000));
  assert.ok(version > versions[0]!, `${version} > ${versions[0]}`);
});

test('a replaced store that is damaged keeps nobody from restoring (contract 9.12)', async () => {
  const { folder, path, url } = stores.fresh();
  const backup = join(folder, 'a.backup');
  await backupStore(url, backup, plainly);
  alter(path, "update counters set value = 5000000000000000 where name = 'data_version'");
  assert.equal((await restoreStore(url, backup, at(AT_MS))).version, AT_MS);
});

const LIST = '/api/v2/stock/bars/US:A/DAY/from/2025-03-01/to/2025-03-31';
const dayFlags = ['--schema', 'stock', '--country', 'US', '--interval', 'DAY', '--symbol', 'A'];

test('tags, page keys and versions from before a restore name no other data after it (contract 4.1, 9.7, 9.12)', async (t) => {
  const own = new Workshop();
  t.after(() => own.close());
  const put = async (day: number, close: number): Promise<void> => {
    const file = own.path('rows.csv');
    writeFileSync(
      file,
      `datetime,open,high,low,close,volume\n2025-03-0${day},${close},${close},${close},${close},1\n`,
    );
    await own.must('import', 'bars', file, ...dayFlags);
  };
  await put(3, 10);
  await put(4, 10);
  const key = await own.must('keys', 'create', 'reader');
  // The first service makes the secret of page keys.
  let server = await own.serve();
  await own.must('backup', own.path('a.backup'));
  await put(5, 11);
  const asking = async (path: string, headers: Record<string, string> = {}) => {
    const response = await server.get(`${path}&secret_key=${key}`, { headers });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text };
  };
  const parquet = '/api/v2/stock/bulk/bars/US/DAY/from/2025-03-01/to/2025-03-31?format=parquet';
  const page = JSON.parse((await asking(`${LIST}?limit=1&sort=asc&data_version=3`)).text).result;
  const open = JSON.parse((await asking(`${LIST}?limit=1&sort=asc`)).text).result;
  const whole = await asking(`${LIST}?format=csv`);
  const file = await asking(parquet);
  assert.equal(whole.headers.get('x-data-version'), '3');
  await server.stop();

  const restored = JSON.parse(await own.must('restore', own.path('a.backup'), '--force', '--json'));
  assert.ok(restored.data_version > AT_MS);
  await put(5, 99);
  server = await own.serve();
  const now = await asking(`${LIST}?format=csv`, { 'If-None-Match': whole.headers.get('etag')! });
  assert.equal(now.status, 200, 'other data have another tag');
  assert.match(now.text, /,99,99,99,99,/);
  assert.equal(now.headers.get('x-data-version'), String(restored.data_version + 1));
  const range = { 'If-Range': file.headers.get('etag')!, Range: 'bytes=0-3' };
  assert.equal((await asking(parquet, range)).status, 200, 'no part of another file');

  for (const pinned of [
    `${LIST}?format=csv&data_version=3`,
    `${LIST}?limit=1&sort=asc&data_version=3&next_page_key=${page.next_page_key}`,
    `${parquet}&data_version=3`,
    '/api/v2/server/runs?data_version=3',
  ]) {
    const { status, text } = await asking(pinned);
    const { message, detail } = JSON.parse(text);
    assert.deepEqual([status, detail.error, detail.param], [400, 'invalid_parameter', 'data_version']);
    assert.equal(
      message,
      `data_version never existed: version ${restored.data_version} follows version 2, because of a restore or a copy.`,
    );
    assert.equal(detail.allowed, `versions up to 2, or from ${restored.data_version} on`);
  }
  // What both stores had is as it was; the restore has changed no data.
  for (const version of [2, restored.data_version]) {
    const { status, text } = await asking(`${LIST}?format=csv&data_version=${version}`);
    assert.deepEqual([status, text.trim().split('\n').length], [200, 3], text);
  }
  // A walk that is pinned to no version goes on in the present data.
  const next = await asking(`${LIST}?limit=1&sort=asc&next_page_key=${open.next_page_key}`);
  assert.deepEqual(
    JSON.parse(next.text).result.data.map((bar: { close: number }) => bar.close),
    [10],
  );
  const { data } = JSON.parse((await asking('/api/v2/server/runs?sort=desc')).text).result;
  assert.deepEqual(
    data.map((run: { data_version: number }) => run.data_version),
    [restored.data_version + 1, 2, 1],
  );
  await server.stop();
});

test('bourse status counts changes since a check, and a restore is none (contract 9.10, 9.12)', async (t) => {
  const own = new Workshop();
  t.after(() => own.close());
  const import_ = (day: number): Promise<string> =>
    own.must('import', 'bars', writeDays(own, `${day}.csv`, [day]), ...minuteFlags, '--symbol', 'A');
  await import_(0);
  await own.run('check');
  await own.must('backup', own.path('a.backup'));
  await own.must('restore', own.path('a.backup'), '--force');
  const line = async (): Promise<string> => /^findings .*$/m.exec(await own.must('status'))![0];
  assert.doesNotMatch(await line(), /ago/);
  await import_(1);
  assert.match(await line(), /, 1 change ago$/);
});
