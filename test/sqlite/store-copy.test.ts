// `bourse copy` where files matter: damage in the source, what stands where the copy goes, a disk that is
// full (contract 10).
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { copyStore } from '../../src/store/copy.ts';
import { engineAt, openStore } from '../../src/store/engines.ts';
import { writeMinutes } from '../postgres/copying.ts';
import { noSmallDisk, SmallDisk } from '../reliability/tmpfs.ts';
import { Workshop } from '../service.ts';
import { alter, exceptVersions, minuteFlags, SmallStores } from './copies.ts';
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
  assert.deepEqual(exceptVersions(contentOfFile(target)), exceptVersions(contentOfFile(path)));
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
  await refused(url, path, 2, /--to and --from are the same store/);
  await refused(url, join(path, 'below.db'), 3, /cannot be used: a part of the path is a file/);
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
  assert.deepEqual(exceptVersions(contentOfFile(target)), exceptVersions(contentOfFile(path)));
});

test('a full disk is reported with the bytes that are missing, before and during the copy, which goes on where there is space (contract 10)', {
  skip: noSmallDisk(),
}, async () => {
  const source = stores.fresh();
  const symbols = Array.from({ length: 30 }, (_, number) => `S${number}`);
  const file = writeMinutes(shop, 'many.csv', { symbols, days: 4, price: 100 });
  await shop.must('import', 'bars', file, ...minuteFlags, '--store', source.url);
  const disk = new SmallDisk(2 ** 25);
  const to = fileStore(disk.path('copy.db'));
  const copyHere = async (): Promise<void> => {
    const from = await openStore(source.url, 'read');
    // Nothing is asked for beforehand, as where others fill the disk meanwhile.
    const target = await engineAt(to).openCopyTarget(0, () => undefined);
    try {
      await copyStore(from, null, target, { begins: () => undefined, reached: () => undefined }, Date.now);
    } finally {
      await target.close();
      await from.close();
    }
  };
  try {
    for (const freeBytes of [8, 64, 128, 256, 384, 512, 768, 1536].map((kilobytes) => kilobytes * 1024)) {
      disk.resize(2 ** 25);
      for (const name of readdirSync(disk.folder)) rmSync(disk.path(name));
      disk.leaveFree(freeBytes);
      await refused(source.url, disk.path('copy.db'), 3, /bytes free, but about [\d,]+ bytes are needed/);
      await assert.rejects(copyHere(), /bytes free, but about [\d,]+ bytes are needed/, `${freeBytes}`);
      assert.match((await shop.run('status', '--store', to)).stderr, /there is no store at/);
    }
    disk.resize(2 ** 26);
    const copied = JSON.parse(await shop.must('copy', '--from', source.url, '--to', to, '--json'));
    assert.equal(copied.resumed, true);
    assert.deepEqual(
      exceptVersions(contentOfFile(disk.path('copy.db'))),
      exceptVersions(contentOfFile(source.path)),
    );
  } finally {
    disk.close();
  }
});
