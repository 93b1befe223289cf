// The bounded folder of Parquet files (contract 9.11): what makes place for another. How files are made:
// test/ci/bulk-parquet.test.ts.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../test/until.ts';
import { Refusal } from '../../contract/errors.ts';
import { httpLimits } from '../limits.ts';
import { type MakeFile, ParquetSpool, type SpooledFile } from './parquet-spool.ts';

type Made = Promise<SpooledFile>;

// A temporary folder of the test, which it may empty.
const own = mkdtempSync(join(tmpdir(), 'bourse-spool-test-'));
process.env.TMPDIR = join(own, 'temporary');

const spool = new ParquetSpool(1_000);
after(() => {
  spool.close();
  rmSync(own, { recursive: true });
});

const stays = (): boolean => false;

/** Makes a file of so many bytes. */
const making =
  (bytes: number, goodUntilMs = Number.POSITIVE_INFINITY): MakeFile =>
  async (path) => {
    writeFileSync(path, Buffer.alloc(bytes));
    return { hash: String(bytes), dataVersion: 1, headers: {}, goodUntilMs };
  };

const get = (name: string, make: MakeFile, keyId = 'key') => spool.get(name, keyId, stays, make);

/** Whether a file is kept; it is made again, with a byte, where it is not. */
async function isKept(name: string): Promise<boolean> {
  const { bytes, release } = await get(name, making(1));
  release();
  return bytes > 1;
}

test('the files that were not asked for the longest make place; those that are read stay (contract 9.11)', async () => {
  const [first, second, third] = [
    await get('first', making(400)),
    await get('second', making(300)),
    await get('third', making(200)),
  ];
  for (const { release } of [second, third]) release();
  (await get('second', making(1))).release();
  (await get('fourth', making(200))).release();
  assert.deepEqual([await isKept('second'), await isKept('third')], [true, false]);
  await assert.rejects(
    get('fifth', making(700)),
    (error) => error instanceof Refusal && error.word === 'unavailable',
  );
  assert.deepEqual(await first.handle.readFile(), Buffer.alloc(400));
  first.release();
  (await get('sixth', making(900))).release();
  assert.deepEqual([await isKept('sixth'), await isKept('first')], [true, false]);
});

test('a file that nobody has read for a while is no more kept (contract 9.11)', async (t) => {
  const read = await get('read', making(10));
  (await get('unread', making(10))).release();
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + httpLimits.spoolKeptMs);
  (await get('later', making(10))).release();
  read.release();
  assert.deepEqual(
    [await isKept('read'), await isKept('unread'), await isKept('later')],
    [true, false, true],
  );
});

test('no more files are kept than may be open (contract 9.11)', async () => {
  const names = Array.from({ length: httpLimits.spoolFilesMax }, (_, index) => `one of many ${index}`);
  for (const name of names) (await get(name, making(2))).release();
  assert.ok(await isKept(names[0]!));
  (await get('one more', making(2))).release();
  assert.deepEqual([await isKept(names[0]!), await isKept(names[1]!)], [true, false]);
});

test('a file that is larger than all may be is refused, while it is made (contract 6.3, 9.11)', async () => {
  const endless: MakeFile = async (path, signal) => {
    writeFileSync(path, Buffer.alloc(1_001));
    while (!signal.aborted) await sleep(10);
    throw signal.reason;
  };
  await assert.rejects(get('large', endless), /^Refusal: The Parquet file would have more than 1,000 bytes/);
});

test('a file that time has made old is made anew, and stays for those who read it (contract 3.9, 9.11)', async () => {
  const old = await get('old', making(10, 5));
  spool.forgetOld('old', 4);
  (await get('old', making(20))).release();
  spool.forgetOld('old', 5);
  const anew = await get('old', making(20));
  assert.deepEqual([old.bytes, anew.bytes], [10, 20]);
  assert.deepEqual(await old.handle.readFile(), Buffer.alloc(10));
  old.release();
  anew.release();
  assert.ok(await isKept('old'));
});

test('a file that is kept no more is closed once nobody reads it (contract 9.11)', async () => {
  const [read, unread] = [await get('left while read', making(10, 5)), await get('left', making(10, 5))];
  unread.release();
  for (const name of ['left while read', 'left']) spool.forgetOld(name, 5);
  // A closed handle has no descriptor.
  const isClosed = ({ handle }: SpooledFile): boolean => handle.fd === -1;
  assert.deepEqual([isClosed(read), isClosed(unread)], [false, true]);
  read.release();
  assert.ok(isClosed(read));
});

test('whatever becomes of temporary files, a whole one stays (contract 9.11)', async () => {
  const read = await get('whole', making(10));
  assert.deepEqual(readdirSync(tmpdir()), []);
  rmSync(tmpdir(), { recursive: true });
  (await get('next', making(10))).release();
  assert.deepEqual(await read.handle.readFile(), Buffer.alloc(10));
  read.release();
  assert.ok(await isKept('whole'));
});

test('a file that is removed while it is made is begun again; one that is removed each time is a refusal, and is no more held (contract 6.3, 9.11)', async () => {
  let begun = 0;
  const removed =
    (times: number): MakeFile =>
    async (path, signal) => {
      if (++begun > times) return making(10)(path, signal);
      rmSync(dirname(path), { recursive: true });
      throw new Error('the file is gone');
    };
  (await get('removed once', removed(1))).release();
  assert.equal(begun, 2);
  begun = 0;
  await assert.rejects(
    get('removed always', removed(Number.POSITIVE_INFINITY)),
    (error) => error instanceof Refusal && error.word === 'unavailable' && error.cause !== undefined,
  );
  // Its place is free again.
  (await get('removed always', making(1_000))).release();
});

test('a file that cannot be looked at while it is made ends no service (contract 9.11)', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const looping: MakeFile = async (path, signal) => {
    symlinkSync(path, path);
    t.mock.timers.tick(httpLimits.spoolCheckMs);
    rmSync(path);
    return making(10)(path, signal);
  };
  (await get('looping', looping)).release();
});

test('where no folder can be made for temporary files, that is a refusal, until one can (contract 6.3, 9.11)', async () => {
  rmSync(tmpdir(), { recursive: true, force: true });
  writeFileSync(tmpdir(), 'a file');
  await assert.rejects(
    get('nowhere', making(10)),
    (error) => error instanceof Refusal && error.word === 'unavailable',
  );
  rmSync(tmpdir());
  (await get('nowhere', making(10))).release();
});

test('files of a key are made one after the other, keys in turn, and nobody who waits is refused (contract 6.3, 9.11)', async () => {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const slow =
    (name: string): MakeFile =>
    async (path) => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return making(10)(path, new AbortController().signal);
    };
  const ask = (name: string, keyId: string) => get(name, slow(name), keyId);
  const end = async (name: string, file: Promise<SpooledFile>): Promise<void> => {
    await until(`${name} is begun`, () => ends.has(name));
    ends.get(name)!();
    (await file).release();
  };
  const [a1, a2, a3] = ['a1', 'a2', 'a3'].map((name) => ask(name, 'a')) as [Made, Made, Made];
  const b1 = ask('b1', 'b');
  const [c1, c2] = [ask('c1', 'c'), ask('a3', 'c')];
  await until('two are begun', () => begun.length === 2);
  await end('b1', b1);
  await end('c1', c1);
  // Whoever has a turn first makes the file for all.
  await end('a3', a3);
  (await c2).release();
  await end('a1', a1);
  await end('a2', a2);
  assert.deepEqual(begun, ['a1', 'b1', 'c1', 'a3', 'a2']);
});

test('a second key that waits for a file takes no place from a third key (contract 9.11)', async () => {
  const shared = Promise.withResolvers<void>();
  const slow: MakeFile = async (path, signal) => {
    await shared.promise;
    return making(10)(path, signal);
  };
  const both = ['a', 'b'].map((keyId) => get('shared', slow, keyId));
  (await get('own', making(10), 'c')).release();
  shared.resolve();
  for (const file of both) (await file).release();
});

test('what a caller asked for who has gone is not made in its turn (contract 9.11)', async () => {
  let isGone = false;
  const first = Promise.withResolvers<void>();
  const held = get('held', async (path, signal) => {
    await first.promise;
    return making(10)(path, signal);
  });
  const unwanted = spool.get(
    'unwanted',
    'key',
    () => isGone,
    () => assert.fail('it is made'),
  );
  const refused = assert.rejects(unwanted, /every caller has gone/);
  isGone = true;
  first.resolve();
  (await held).release();
  await refused;
});
