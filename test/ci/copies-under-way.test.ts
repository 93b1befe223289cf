// `bourse backup` and `bourse restore` beside imports and a server, killed, and on a full disk (contract 10).
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { writeMinutes } from '../../bench/minutes.ts';
import { backupStore, openStore, restoreStore } from '../../src/store/engines.ts';
import { command, Workshop } from '../service.ts';
import {
  dataOf,
  exceptVersions,
  forced,
  minuteFlags,
  plainly,
  SmallStores,
  told,
  writeDays,
} from '../sqlite/copies.ts';
import { contentOfFile, fileStore } from '../sqlite/files.ts';

const shop = new Workshop();
const stores = new SmallStores(shop);
before(() => stores.make());
after(() => shop.close());

const rows = 200_000;
const symbols = 100;
const big = { path: shop.path('big.db'), url: fileStore(shop.path('big.db')) };
const csv = shop.path('big.csv');

before(async () => {
  writeMinutes({ path: csv, rows, order: 'symbol', symbols });
  await shop.must(
    'import',
    'bars',
    writeDays(shop, 'seed.csv', [0, 1]),
    ...minuteFlags,
    '--symbol',
    'A',
    '--store',
    big.url,
  );
});

test('a backup is the store before an import or after it, never between (contract 10)', async (t) => {
  const key = await shop.must('keys', 'create', 'me', '--store', big.url);
  const server = await shop.serve('--store', big.url);
  const beforeImport = contentOfFile(big.path);
  const writing = await openStore(big.url, 'write');
  const backup = shop.path('within.backup');
  const written = writing.write(async (writer) => {
    await writer.putBlock(1, { bucket: 1, runId: 1, bytes: new Uint8Array(1) });
    await backupStore(big.url, backup, plainly);
    throw new Error('taken back');
  });
  await assert.rejects(written, /taken back/);
  await writing.close();
  assert.deepEqual(dataOf(backup), beforeImport);
  let importing = true;
  const done = shop.must('import', 'bars', csv, ...minuteFlags, '--store', big.url).finally(() => {
    importing = false;
  });
  const backups: string[] = [];
  do {
    const backup = shop.path(`during-${backups.length}.backup`);
    await backupStore(big.url, backup, plainly);
    backups.push(backup);
    const answer = await server.get(`/api/v2/stock/bars/US:A/1M/latest?secret_key=${key}`);
    assert.equal(answer.status, 200);
  } while (importing);
  await done;
  await backupStore(big.url, shop.path('after.backup'), plainly);
  const afterImport = contentOfFile(big.path);
  const states = backups.map((backup) => {
    const data = dataOf(backup);
    const isBefore = data.import_runs!.length === 1;
    assert.deepEqual(data, isBefore ? beforeImport : afterImport);
    return isBefore ? 'before' : 'after';
  });
  t.diagnostic(`${states.length} backups while the import ran: ${states.join(', ')}`);
  assert.deepEqual(dataOf(shop.path('after.backup')), afterImport);
  assert.equal(await server.stop(), 0);
});

test('backups beside a row of short imports each hold whole imports', async () => {
  const url = fileStore(shop.path('short.db'));
  const files = Array.from({ length: 12 }, (_, day) => writeDays(shop, `short-${day}.csv`, [day]));
  await shop.must(
    'import',
    'bars',
    writeDays(shop, 'short.csv', [100]),
    ...minuteFlags,
    '--symbol',
    'A',
    '--store',
    url,
  );
  let importing = true;
  const done = shop
    .must('import', 'bars', ...files, ...minuteFlags, '--symbol', 'A', '--store', url)
    .finally(() => {
      importing = false;
    });
  do {
    const backup = shop.path('short.backup');
    await backupStore(url, backup, forced);
    const { import_runs, bar_blocks, series, counters } = dataOf(backup);
    const version = Number(counters!.find((row) => row.name === 'data_version')!.value);
    const runs = import_runs!.length;
    assert.deepEqual([bar_blocks!.length, series![0]!.bar_count], [runs, runs]);
    // Files that are stored together have one version.
    assert.ok(runs === 1 ? version === 1 : version > 1 && version <= runs, `${version}`);
    await pause(1);
  } while (importing);
  await done;
});

test('kill -9 during a backup leaves the file as it was, and the next backup tidies up', async (t) => {
  const folder = shop.path('killed');
  mkdirSync(folder);
  const place = join(folder, 'a.backup');
  await backupStore(big.url, place, plainly);
  const earlier = readFileSync(place);
  let killed = 0;
  let rounds = 0;
  // The last at once, in the midst of it: what is left of earlier ones, the next removes.
  for (const afterMs of [100, 30]) {
    await killDuring(['backup', place, '--force', '--store', big.url], folder, afterMs);
    if (readFileSync(place).equals(earlier)) killed++;
    assert.deepEqual(dataOf(place), contentOfFile(big.path));
  }
  do {
    await killDuring(['backup', place, '--force', '--store', big.url], folder, 0);
    rounds++;
  } while (readdirSync(folder).length === 1);
  t.diagnostic(`${killed} of 2 were killed before the end, and one of ${rounds} in the midst`);
  assert.deepEqual(dataOf(place), contentOfFile(big.path));
  await backupStore(big.url, place, forced);
  assert.deepEqual(readdirSync(folder), ['a.backup']);
});

test('kill -9 during a restore leaves one store or the other, and a second restore works', async () => {
  const backup = shop.path('big.backup');
  await backupStore(big.url, backup, plainly);
  const whole = contentOfFile(big.path);
  for (const afterMs of [0, 30, 100]) {
    const { folder, path, url } = stores.fresh();
    const small = contentOfFile(path);
    await killDuring(['restore', backup, '--force', '--store', url], folder, afterMs);
    const left = contentOfFile(path);
    assert.deepEqual(exceptVersions(left), exceptVersions(left.instruments!.length === 1 ? small : whole));
    for (const name of readdirSync(folder)) if (name.endsWith('.before-restore')) rmSync(join(folder, name));
    await restoreStore(url, backup, forced);
    assert.deepEqual(exceptVersions(contentOfFile(path)), exceptVersions(whole));
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes('.partial')),
      [],
    );
  }
});

test('a full disk is reported before and during the copy, and keeps nothing of it', async (t) => {
  const disk = shop.path('disk');
  const size = statSync(big.path).size;
  mkdirSync(disk);
  const mount = (bytes: number): void =>
    void execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'none', disk], { stdio: 'ignore' });
  const umount = (): void => void execFileSync('umount', [disk]);
  try {
    mount(size / 2);
  } catch {
    t.skip('no tmpfs can be mounted here: the full disk is not tested');
    return;
  }
  const full = /the disk of .*disk has [\d,]+ bytes free, but about [\d,]+ bytes are needed/;
  told(await shop.run('backup', join(disk, 'a.backup'), '--store', big.url), 3, full);
  assert.deepEqual(readdirSync(disk), []);
  umount();
  // Both find room for one; together they do not fit.
  mount(Math.round(size * 1.3) + 2 ** 20);
  try {
    const names = ['a.backup', 'b.backup'];
    const ended = await Promise.all(
      names.map((name) => shop.pipe('', 'backup', join(disk, name), '--store', big.url)),
    );
    for (const one of ended) if (one.status !== 0) told(one, 3, full);
    const good = names.filter((_, at) => ended[at]!.status === 0);
    assert.ok(good.length < 2);
    assert.deepEqual(readdirSync(disk), good);
    for (const name of good) assert.deepEqual(dataOf(join(disk, name)), contentOfFile(big.path));
    const restored = await shop.run(
      'restore',
      shop.path('after.backup'),
      '--store',
      fileStore(join(disk, 'x.db')),
    );
    if (good.length > 0) told(restored, 3, full);
    assert.ok(!readdirSync(disk).some((name) => name.includes('.partial')));
  } finally {
    umount();
  }
});

test('a store that is being imported into is in use', async () => {
  const { folder, path, url } = stores.fresh();
  const backup = join(folder, 'a.backup');
  await backupStore(url, backup, plainly);
  const before = contentOfFile(path);
  const store = await openStore(url, 'write');
  await store.write(async () =>
    told(
      await shop.run('restore', backup, '--force', '--store', url),
      3,
      /bourse\.db is in use: stop bourse serve/,
    ),
  );
  await store.close();
  assert.ok(!existsSync(`${path}.before-restore`));
  assert.deepEqual(contentOfFile(path), before);
});

/** Kills a command some time after its temporary file appeared, or lets it end before. */
async function killDuring(args: readonly string[], folder: string, afterMs: number): Promise<void> {
  const partials = (): string[] => readdirSync(folder).filter((name) => name.includes('.partial'));
  const left = partials();
  const child = spawn(command, args, { cwd: shop.folder, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  while (child.exitCode === null && partials().every((name) => left.includes(name))) await pause(2);
  await pause(afterMs);
  child.kill('SIGKILL');
  await ended;
}
