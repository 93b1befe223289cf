// The bounded folder of Parquet files (contract 9.11): what makes place for another. How files are made: test/bulk-parquet.test.ts.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../contract/errors.ts';
import { type MakeFile, ParquetSpool } from './parquet-spool.ts';

const spool = new ParquetSpool(1_000);
after(() => spool.close());

const stays = (): boolean => false;

/** Makes a file of so many bytes. */
const making =
  (bytes: number, goodUntilMs = Number.POSITIVE_INFINITY): MakeFile =>
  async (path) => {
    writeFileSync(path, Buffer.alloc(bytes));
    return { hash: String(bytes), dataVersion: 1, headers: {}, goodUntilMs };
  };

const get = (name: string, make: MakeFile) => spool.get(name, 'key', stays, make);

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
