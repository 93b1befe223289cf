// The bounded folder of Parquet files (contract 9.11): what makes place for another. How files are made:
// test/ci/bulk-parquet.test.ts.
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../test/until.ts';
import { Refusal } from '../../contract/errors.ts';
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

test('the files that were not asked for the longest make place; those that are read stay (contract 9.11)', async () => {
  const [first, second, third] = [
    await get('first', making(400)),
    await get('second', making(300)),
    await get('third', making(200)),
  ];
  for (const { release } of [second, third]) release();
  (await get('second', making(1))).release();
  (await get('fourth', making(200))).release();
  assert.deepEqual(
    [first, second, third].map(({ path }) => existsSync(path)),
    [true, true, false],
  );
  await assert.rejects(
    get('fifth', making(700)),
    (error) => error instanceof Refusal && error.word === 'unavailable',
  );
  assert.ok(existsSync(first.path));
  first.release();
  (await get('sixth', making(900))).release();
  assert.ok(!existsSync(first.path));
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
  assert.ok(existsSync(old.path));
  old.release();
  assert.ok(!existsSync(old.path));
  anew.release();
  assert.ok(existsSync(anew.path));
});

/** What somebody may do to a file that is kept, or to its folder. */
const losses: Readonly<Record<string, (path: string) => void>> = {
  'its file is removed': (path) => rmSync(path),
  'its folder is removed': (path) => rmSync(dirname(path), { recursive: true }),
  'all temporary files are removed': () => rmSync(tmpdir(), { recursive: true }),
  'its folder is a file': (path) => {
    rmSync(dirname(path), { recursive: true });
    writeFileSync(dirname(path), 'a file');
  },
  'its folder is a link to another': (path) => {
    rmSync(dirname(path), { recursive: true });
    mkdirSync(join(own, 'other'), { recursive: true });
    writeFileSync(join(own, 'other', 'bars.parquet'), Buffer.alloc(10, 'x'));
    symlinkSync(join(own, 'other'), dirname(path));
  },
  'its file is a folder': (path) => {
    rmSync(path);
    mkdirSync(path);
  },
  'its file is another of the same size': (path) => {
    writeFileSync(`${path}.new`, Buffer.alloc(10, 'x'));
    renameSync(`${path}.new`, path);
  },
  'its file is cut': (path) => writeFileSync(path, 'x'),
  // Root may read everything.
  ...(process.getuid?.() === 0 ? {} : { 'its folder is closed': (path) => chmodSync(dirname(path), 0) }),
};

for (const [loss, cause] of Object.entries(losses))
  test(`where ${loss}, the file is made again, and who reads it reads on (contract 9.11)`, async () => {
    const read = await get(loss, making(10));
    cause(read.path);
    const again = await get(loss, making(10));
    assert.deepEqual(await again.handle.readFile(), Buffer.alloc(10));
    again.release();
    if (loss !== 'its file is cut') assert.deepEqual(await read.handle.readFile(), Buffer.alloc(10));
    read.release();
    const kept = await get(loss, () => assert.fail('it is kept'));
    assert.deepEqual(readFileSync(kept.path), Buffer.alloc(10));
    kept.release();
    const other = join(own, 'other', 'bars.parquet');
    assert.ok(!existsSync(other) || readFileSync(other, 'utf8') === 'x'.repeat(10), "it is nobody else's");
  });

test('a file that is removed while it is made is begun again; one that is removed each time is a refusal, and is no more held (contract 6.3, 9.11)', async () => {
  let begun = 0;
  const removed =
    (times: number): MakeFile =>
    async (path, signal) => {
      if (++begun > times) return making(10)(path, signal);
      rmSync(dirname(path), { recursive: true });
      while (!signal.aborted) await sleep(10);
      throw signal.reason;
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
