// Bytes that are not those that were written: reads refuse them, an overview reads the rows beside them, and
// a scrub finds them.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { TestFolder } from '../../../test/stores.ts';
import { DamagedBlock } from '../../market/bars/block.ts';
import { encodeBlock } from '../../market/bars/block-writer.ts';
import { emptyBars } from '../../market/bars/columns.ts';
import { soundBlocks } from '../all-blocks.ts';
import { soundRows } from '../all-rows.ts';
import { type Damage, DamagedData } from '../damage.ts';
import { engineAt, openStore } from '../engines.ts';
import { counters, failedFiles } from '../schema/internal.ts';
import type { Reader, StoredBlock } from '../store.ts';

const folder = new TestFolder();
after(() => folder.close());
let made = 0;

const problems = ['aa', 'bb', 'cc', 'dd', 'ee'].map((path, index) => ({
  dataset: 'bars',
  path,
  problem: `problem ${path}`,
  failed_ms: 1_700_000_000_000 + index,
}));

const bytesOf = (close: number): Uint8Array => {
  const bars = emptyBars(1);
  bars.count = 1;
  bars.keyMs[0] = 60_000;
  for (const column of ['open', 'high', 'low', 'close'] as const) bars[column][0] = close;
  bars.volume[0] = 1;
  bars.vwap[0] = Number.NaN;
  return encodeBlock(bars);
};

/** A store with rows and with two series of three blocks, changed by a statement past the service. */
async function damaged(statement: string): Promise<string> {
  const path = folder.path(`${made++}.db`);
  const store = await openStore(`sqlite:${path}`, 'write');
  await store.write(async (writer) => {
    await writer.upsert(counters, [{ name: 'n', value: 7 }]);
    await writer.upsert(failedFiles, problems);
    for (const seriesId of [1, 2])
      for (const bucket of [1, 2, 3])
        await writer.putBlock(seriesId, { bucket, runId: 5, bytes: bytesOf(seriesId * 100 + bucket) });
  });
  await store.close();
  const database = new DatabaseSync(path);
  database.exec(statement);
  database.close();
  return `sqlite:${path}`;
}

async function reading<T>(url: string, work: (reader: Reader) => Promise<T>): Promise<T> {
  const store = await openStore(url, 'read');
  try {
    return await store.snapshot(work);
  } finally {
    await store.close();
  }
}

async function scrubbed(url: string): Promise<Damage[]> {
  const found: Damage[] = [];
  for await (const { damage } of engineAt(url).scrub()) found.push(...damage);
  return found;
}

const inOrder = { where: { dataset: 'bars' }, order: [['path', 'asc']], limit: 2 } as const;

test('a sound store has no damage', async () => {
  assert.deepEqual(await scrubbed(await damaged('select 1')), []);
});

const changes = [
  "update failed_files set problem = 'problem bc' where path = 'bb'",
  "update failed_files set failed_ms = failed_ms + 1 where path = 'bb'",
  "update failed_files set path = 'bc' where path = 'bb'",
  "update failed_files set row_check = null where path = 'bb'",
];
for (const change of changes)
  test(`a changed row is refused with its key, passed over by an overview, and found: ${change}`, async () => {
    const url = await damaged(change);
    await reading(url, async (reader) => {
      await assert.rejects(reader.rows(failedFiles, inOrder), (error) => {
        assert.ok(error instanceof DamagedData);
        assert.match(
          error.message,
          /failed_files, row dataset "bars", path "b[bc]": its checksum does not match/,
        );
        return true;
      });
      const told: Damage[] = [];
      const rows = await soundRows(reader, failedFiles, inOrder, (damage) => told.push(damage));
      assert.deepEqual(rows, [problems[0], problems[2]]);
      assert.ok(told.length > 0 && told.every(({ dataset }) => dataset === 'failed_files'));
    });
    const found = await scrubbed(url);
    assert.ok(found.some(({ dataset, place }) => dataset === 'failed_files' && place.includes('path "b')));
  });

test('lost rows of a table without an index are found by what its rows add up to', async () => {
  const url = await damaged(
    "update row_sums set rows = rows + 1 where name = 'failed_files'; delete from failed_files where path = 'cc'",
  );
  const found = await scrubbed(url);
  assert.deepEqual(
    found.filter(({ dataset }) => dataset === 'failed_files').map(({ problem }) => problem),
    ['rows are lost: 1'],
  );
});

const blockChanges = [
  // What an index with a flipped bit does: a block of one series is found under the other.
  'update bar_blocks set series_id = 2 + series_id * 10 where bucket = 2; update bar_blocks set series_id = 1 where series_id = 22 and bucket = 2',
  'update bar_blocks set bytes = (select bytes from bar_blocks where series_id = 1 and bucket = 3) where series_id = 1 and bucket = 2',
  'update bar_blocks set run_id = 6 where series_id = 1 and bucket = 2',
];
for (const change of blockChanges)
  test(`a block of another place is refused where it is used, and only there: ${change}`, async () => {
    const url = await damaged(change);
    await reading(url, async (reader) => {
      const read = { seriesId: 1, fromBucket: 0, toBucket: 9, direction: 'asc', limit: 3 } as const;
      const [first, second, third] = await reader.blocks(read);
      assert.deepEqual(Buffer.from(first!.bytes), Buffer.from(bytesOf(101)));
      assert.throws(() => second!.bytes, DamagedBlock);
      assert.deepEqual(Buffer.from(third!.bytes), Buffer.from(bytesOf(103)));
      const damaged: StoredBlock[] = [];
      const sound: number[] = [];
      for await (const { bucket } of soundBlocks(reader, read, (block) => damaged.push(block)))
        sound.push(bucket);
      assert.deepEqual([sound, damaged.map(({ bucket }) => bucket)], [[1, 3], [2]]);
    });
    assert.ok((await scrubbed(url)).some(({ dataset }) => dataset === 'bars'));
  });
