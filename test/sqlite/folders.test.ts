// Folders in which nothing can be made: one message that names the folder, exit status 3, and nothing is left
// (contract 10).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { noSmallDisk, SmallDisk } from '../reliability/tmpfs.ts';
import { command, type Finished, Workshop } from '../service.ts';
import { fileStore } from './files.ts';

const shop = new Workshop();
after(() => shop.close());

const csv = 'datetime,open,high,low,close\n2025-03-03T14:30:00Z,1,1,1,1\n2025-03-03T14:31:00Z,x,1,1,1\n';
const named = ['--schema', 'stock', '--country', 'US', '--symbol', 'A', '--interval', '1M'];
const imports = (name: string): string[] => ['import', 'bars', name, ...named];
writeFileSync(shop.path('x.csv'), csv);
writeFileSync(shop.path('x.csv.gz'), gzipSync(csv));

function told({ status, stdout, stderr }: Finished, message: RegExp): void {
  assert.equal(status, 3, stderr);
  assert.equal(stdout, '');
  assert.match(stderr, message);
  assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
}

test('a store below a file is refused in words that name the file', async () => {
  const store = ['--store', fileStore(shop.path('x.csv/data/a.db'))];
  for (const call of [imports('x.csv'), ['serve', '--port', '0']])
    told(
      await shop.run(...call, ...store),
      /the folder .*x\.csv\/data cannot be used: a part of the path is a file/,
    );
  assert.equal(readFileSync(shop.path('x.csv'), 'utf8'), csv);
});

test('a temporary folder that is not there, or is a file, is named with the setting that names it', async () => {
  for (const [name, reason] of [
    ['none', 'it does not exist'],
    ['x.csv', 'a part of the path is a file'],
  ] as const) {
    const folder = shop.path(name);
    const finished = await shop.runWith({ TMPDIR: folder }, ...imports('x.csv.gz'));
    told(
      finished,
      new RegExp(`the folder ${folder} cannot be used: ${reason}.*; set TMPDIR to another one$`, 'm'),
    );
  }
});

const skip = noSmallDisk();

test('a read-only disk is named, whatever was to be written on it', { skip }, async () => {
  const disk = new SmallDisk(32 * 1024 * 1024);
  try {
    const store = ['--store', fileStore(disk.path('a.db'))];
    await shop.run(...imports('x.csv'), ...store);
    await shop.must('keys', 'create', 'me', ...store);
    disk.makeReadOnly();
    const reason = `${disk.folder}.* its disk is read-only`;
    for (const call of [imports('x.csv'), ['serve', '--port', '0'], ['keys', 'create', 'other']])
      told(await shop.run(...call, ...store), new RegExp(reason));
    const status = JSON.parse(await shop.must('status', '--json', ...store)) as { totals: object };
    assert.deepEqual(status.totals, { instruments: 1, series: 1, bars: 1 });
    assert.match(await shop.must('keys', 'list', ...store), / me +data +live /);
    await shop.must('backup', shop.path('of-read-only.backup'), ...store);
    const other = ['--store', fileStore(disk.path('b.db'))];
    told(await shop.run(...imports('x.csv'), ...other), new RegExp(reason));
    const below = ['--store', fileStore(disk.path('new/b.db'))];
    told(await shop.run(...imports('x.csv'), ...below), new RegExp(`the folder ${disk.path('new')} cannot`));
    const own = ['--store', fileStore(shop.path('own.db'))];
    await shop.run(...imports('x.csv'), ...own);
    told(await shop.run('backup', disk.path('a.backup'), ...own), new RegExp(reason));
    const finished = await shop.runWith({ TMPDIR: disk.folder }, ...imports('x.csv.gz'), ...own);
    told(finished, new RegExp(`${reason}; set TMPDIR to another one`));
    assert.ok(!existsSync(disk.path('b.db')));
  } finally {
    disk.close();
  }
});

test('a store whose log was cut off is not read on a read-only disk, and the message says what to do', {
  skip,
}, async () => {
  const disk = new SmallDisk(32 * 1024 * 1024);
  try {
    const store = ['--store', fileStore(disk.path('a.db'))];
    await shop.run(...imports('x.csv'), ...store);
    writeFileSync(disk.path('a.db-wal'), 'x');
    disk.makeReadOnly();
    told(
      await shop.run('status', ...store),
      /its disk is read-only; a store keeps a log beside it: .*copy the store/,
    );
  } finally {
    disk.close();
  }
});

test('an import into a store of another user names file, user and remedy (contract 10)', async (t) => {
  const folder = shop.path('closed');
  const store = join(folder, 'a.db');
  mkdirSync(folder);
  await shop.run(...imports('x.csv'), '--store', store);
  chmodSync(shop.folder, 0o755);
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o444);
  chmodSync(folder, 0o555);
  const isRoot = process.getuid!() === 0;
  const user = isRoot ? 65_534 : process.getuid!();
  const call = [...imports('x.csv'), '--store', store];
  const { error, status, stderr } = spawnSync(command, call, {
    ...(isRoot ? { uid: user, gid: user } : {}),
    ...{ cwd: shop.folder, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
  });
  chmodSync(folder, 0o755);
  if (error !== undefined) return t.skip(`user ${user} cannot start ${command}: ${error.message}`);
  assert.equal(status, 3, stderr);
  const words = `closed(/a\\.db)? cannot be written to: this user may not write there \\(user ${user}; it belongs to user ${process.getuid!()}\\); run this as its owner, or give the store, .* chown`;
  assert.match(stderr, new RegExp(words));
});
