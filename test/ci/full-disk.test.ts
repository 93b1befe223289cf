// Full disks: asked about before the first write, told clearly when they fill on the way, and nothing lost
// (contract 10).
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { formatDay } from '../../src/base/instant.ts';
import { DiskFull } from '../../src/base/space.ts';
import { storeNeedBytes } from '../../src/imports/load/import-group.ts';
import { openStore } from '../../src/store/engines.ts';
import { fileOf, hashOf, minutesFile, named, rowsIn } from '../reliability/minutes.ts';
import { noSmallDisk, roomIn, SmallDisk } from '../reliability/tmpfs.ts';
import { type Finished, type Server, Workshop } from '../service.ts';
import { fileStore } from '../sqlite/files.ts';

const MEGABYTE = 2 ** 20;
const skip = noSmallDisk();
const shop = new Workshop();
const disks: SmallDisk[] = [];
after(() => {
  shop.close();
  for (const disk of disks) disk.close();
});

function diskOf(bytes: number): SmallDisk {
  const disk = new SmallDisk(bytes);
  disks.push(disk);
  return disk;
}

const SYMBOLS = 200;
const MINUTES = 250;

/** The files on a small disk, and a server that answers from it. */
let disk: SmallDisk;
let store = '';
let server: Server;
let url = '';

before(async () => {
  if (skip !== false) return;
  disk = diskOf(64 * MEGABYTE);
  store = fileStore(disk.path('bourse.db'));
  await shop.must(
    'import',
    'bars',
    minutesFile(shop.path('base.csv'), SYMBOLS, MINUTES),
    ...named,
    '--store',
    store,
  );
  const key = await shop.must('keys', 'create', 'disk', '--store', store);
  server = await shop.serve('--store', store);
  url = `/api/v2/stock/bars/US:B0000/1M/from/2015-01-01/to/2015-12-31?limit=1000&secret_key=${key}`;
});

const served = async (): Promise<string> => (await server.get(url)).text();

const leaveFree = (bytes: number): void => disk.leaveFree(bytes);

test('a file that needs more room than there is is refused before the first write, and the server goes on', {
  skip,
}, async () => {
  const [hash, answer] = [await hashOf(store), await served()];
  leaveFree(4 * MEGABYTE);
  const file = minutesFile(shop.path('next.csv'), SYMBOLS, 50, MINUTES);
  const { neededBytes } = roomIn(
    await shop.pipe('', 'import', 'bars', file, ...named, '--store', store),
    disk.folder,
  );
  assert.equal(neededBytes, Math.ceil(storeNeedBytes(statSync(file).size)));
  assert.equal(statSync(disk.path('bourse.db-wal')).size, 0);
  assert.equal(await hashOf(store), hash);
  assert.equal(await served(), answer);
  leaveFree(neededBytes);
  await shop.must('import', 'bars', file, ...named, '--store', store);
  assert.notEqual(await hashOf(store), hash);
});

/** Days from the spring of 1900 to that of 1998. */
const DAYS = 36_000;

/** A file with a minute of each of many days: a block a row takes more room than its size lets expect. */
function daysFile(symbol: string, days: number): { args: string[]; askedBytes: number } {
  const rows = Array.from({ length: days }, (_, row) => {
    const time = `${formatDay((row % DAYS) - 25_500)}T14:30:00Z`;
    return `${symbol}${Math.floor(row / DAYS)},${time},1,1,1,1`;
  });
  const file = fileOf(shop.path(`${symbol}.csv`), 'symbol,datetime,open,high,low,close', rows);
  const args = ['import', 'bars', file, ...named, '--store', store];
  return { args, askedBytes: storeNeedBytes(statSync(file).size) };
}

test('a disk that fills on the way undoes the import, says what is missing, and leaves it to be run again', {
  skip,
}, async () => {
  const { args, askedBytes } = daysFile('LONG', 108_000);
  const [hash, answer] = [await hashOf(store), await served()];
  leaveFree(askedBytes + 64 * 1024);
  const { freeBytes, neededBytes } = roomIn(await shop.run(...args), disk.folder);
  assert.ok(freeBytes >= askedBytes, 'what was undone gave its room back');
  assert.equal(await hashOf(store), hash);
  assert.equal(await served(), answer);
  leaveFree(Math.max(neededBytes, 4 * freeBytes));
  await shop.must(...args);
  assert.notEqual(await hashOf(store), hash);
});

test('what is committed and finds no room in the store is kept in its log, and moved when there is room', {
  skip,
}, async () => {
  const { args, askedBytes } = daysFile('SHORT', 30_000);
  leaveFree(askedBytes + 64 * 1024);
  await shop.must(...args);
  const hash = await hashOf(store);
  assert.ok(statSync(disk.path('bourse.db-wal')).size > 0);
  leaveFree(32 * MEGABYTE);
  await shop.must(...args);
  assert.equal(statSync(disk.path('bourse.db-wal')).size, 0);
  assert.equal(await hashOf(store), hash);
});

test('keys on a full disk: nothing is changed, those there are go on, and the message is as clear', {
  skip,
}, async () => {
  const listed = await shop.must('keys', 'list', '--store', store);
  leaveFree(0);
  roomIn(await shop.pipe('', 'keys', 'create', 'x'.repeat(100_000), '--store', store), disk.folder);
  assert.equal(await shop.must('keys', 'list', '--store', store), listed);
  assert.equal((await server.get(url)).status, 200);
});

test('a write that a full disk ends is undone whole, however it was cut into blocks', { skip }, async () => {
  const small = diskOf(8 * MEGABYTE);
  const kept = await openStore(fileStore(small.path('blocks.db')), 'write');
  const put = (blocks: number) =>
    kept.write(async (writer) => {
      for (let bucket = 0; bucket < blocks; bucket++) {
        await writer.putBlock(1, { bucket, runId: 1, bytes: randomBytes(1000 * (1 + (bucket % 40))) });
      }
    });
  await put(20);
  const before_ = await hashOf(kept.name);
  for (const blocks of [400, 1_000, 5_000]) await assert.rejects(put(blocks), DiskFull);
  assert.equal(await hashOf(kept.name), before_);
  await put(21);
  await kept.close();
});

/** Runs an import of a compressed file with the temporary folder on a disk of its own. */
async function importSpooled(
  bytes: Uint8Array,
  temporaryBytes: number,
): Promise<Finished & { folder: string }> {
  const temporary = diskOf(temporaryBytes);
  const file = shop.path('spooled.csv.gz');
  writeFileSync(file, bytes);
  // A trial on a store that is not there has one in the temporary folder.
  await (await openStore(shop.store, 'write')).close();
  const done = await shop.runWith(
    { TMPDIR: temporary.folder },
    'import',
    'bars',
    file,
    ...named,
    '--dry-run',
  );
  assert.deepEqual(readdirSync(temporary.folder), [], 'nothing is left in the temporary folder');
  return { ...done, folder: temporary.folder };
}

test('a compressed file whose text the temporary folder cannot hold is refused by what its trailer says', {
  skip,
}, async () => {
  const { header, rows } = rowsIn(shop.path('base.csv'));
  const text = `${[header, ...rows].join('\n')}\n`;
  const done = await importSpooled(gzipSync(text), 2 * MEGABYTE);
  const { freeBytes, neededBytes } = roomIn(done, done.folder);
  assert.equal(neededBytes, text.length);
  assert.ok(freeBytes > MEGABYTE && freeBytes <= 2 * MEGABYTE);
  assert.equal((await importSpooled(gzipSync(text), 1.1 * text.length)).status, 0);
});

test('a compressed file whose trailer says too little fills the temporary folder and is refused as clearly', {
  skip,
}, async () => {
  const { header, rows } = rowsIn(shop.path('base.csv'));
  const text = `${[header, ...rows].join('\n')}\n`;
  // Of a text that repeats itself the guess of a fifth is far too small.
  const repeated = gzipSync(`${header}\n${`${rows[0]}\n`.repeat(100_000)}`);
  for (const members of [
    Buffer.concat([repeated, gzipSync('')]),
    Buffer.concat([gzipSync(text), gzipSync('\n')]),
  ]) {
    const done = await importSpooled(members, 2 * MEGABYTE);
    roomIn(done, done.folder);
  }
});

test('refused rows that the disk of their file cannot hold end the import, and nothing is stored', {
  skip,
}, async () => {
  const small = diskOf(2 * MEGABYTE);
  const { header, rows } = rowsIn(shop.path('base.csv'));
  const bad = rows.slice(0, 20_000).map((row) => row.replace(/,[^,]*,/, ',never,'));
  const file = fileOf(small.path('bad.csv'), header, [...bad, rows[20_000]!]);
  roomIn(await shop.pipe('', 'import', 'bars', file, ...named), small.folder);
  assert.deepEqual(readdirSync(small.folder), ['bad.csv']);
});
