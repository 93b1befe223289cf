// `bourse copy` where files matter: damage in the source, what stands where the copy goes, a disk that is full (contract 10).
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { Workshop } from '../service.ts';
import { alter, SmallStores } from './copies.ts';
import { contentOfFile, fileStore } from './files.ts';

const shop = new Workshop();
const stores = new SmallStores(shop);
before(() => stores.make());
after(() => shop.close());

let made = 0;
function freshPath(): string {
  const folder = shop.path(`target-${++made}`);
  mkdirSync(folder);
  return join(folder, 'copy.db');
}

async function refused(from: string, path: string, status: number, message: RegExp): Promise<void> {
  const finished = await shop.run('copy', '--from', from, '--to', fileStore(path));
  assert.equal(finished.status, status, finished.stderr);
  assert.equal(finished.stdout, '');
  assert.match(finished.stderr, message);
  assert.doesNotMatch(finished.stderr, /^ +at /m);
}

test('the files of a copy are those of its source, for their owner alone (contract 10)', async () => {
  const { path, control, url } = stores.fresh();
  const target = freshPath();
  await shop.must('copy', '--from', url, '--to', fileStore(target));
  assert.deepEqual(contentOfFile(target), contentOfFile(path));
  const copied = target.replace('copy.db', 'copy.control.db');
  assert.deepEqual(contentOfFile(copied), contentOfFile(control));
  for (const file of [target, copied]) assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('a damaged source is refused with the name of what is damaged (contract 10)', async () => {
  const block = stores.fresh();
  alter(block.path, 'update bar_blocks set bytes = ?', new Uint8Array(100));
  await refused(
    block.url,
    freshPath(),
    3,
    /is damaged, and is not copied: bars, stock:US:A 1M, 2025-03-0\d.*bourse doctor --deep/,
  );
  const row = stores.fresh();
  alter(row.path, "update instruments set name = 'other'");
  await refused(row.url, freshPath(), 3, /is damaged, and is not copied: instruments, row .*checksum/);
  const key = stores.fresh();
  alter(key.control, "update api_keys set name = 'other'");
  await refused(key.url, freshPath(), 3, /is damaged, and is not copied: api_keys, row/);
});

test('what stands where the copy goes is refused, and stays (contract 10)', async () => {
  const { url, path } = stores.fresh();
  const keys = freshPath();
  await shop.must('copy', '--from', url, '--to', fileStore(keys));
  renameSync(keys, `${keys}.away`);
  await refused(url, keys, 2, /there is a store at .*: a copy makes a new one/);
  const log = freshPath();
  writeFileSync(`${log}-wal`, 'left');
  await refused(url, log, 2, /-wal is left of a store that is gone: remove it/);
  const folder = freshPath();
  mkdirSync(folder);
  await refused(url, folder, 2, /is not a Bourse store: it is a folder/);
  await refused(url, path, 2, /--to is the store of --from/);
  await refused(url, join(path, 'below.db'), 3, /cannot be used: a file is where a folder is needed/);
});

test('an empty file is a place for a copy; a copy of a store without keys has none (contract 10)', async () => {
  const { url, control } = stores.fresh();
  renameSync(control, `${control}.away`);
  const target = freshPath();
  writeFileSync(target, '');
  const copied = JSON.parse(await shop.must('copy', '--from', url, '--to', fileStore(target), '--json'));
  assert.equal(copied.keys, 0);
  assert.deepEqual(JSON.parse(await shop.must('keys', 'list', '--json', '--store', fileStore(target))), []);
});

test('a copy that was killed between the renames of its end is completed (contract 10)', async () => {
  const { url, path } = stores.fresh();
  const target = freshPath();
  await shop.must('copy', '--from', url, '--to', fileStore(target));
  renameSync(target, `${target}.copying`);
  const copied = JSON.parse(await shop.must('copy', '--from', url, '--to', fileStore(target), '--json'));
  assert.equal(copied.resumed, true);
  assert.deepEqual(readdirSync(dirname(target)).sort(), ['copy.control.db', 'copy.db']);
  assert.deepEqual(contentOfFile(target), contentOfFile(path));
});
