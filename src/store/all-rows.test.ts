// Reading any number of rows in bounded reads.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { TestFolder } from '../../test/stores.ts';
import { rowsInOrder } from './all-rows.ts';
import { openStore } from './engines.ts';
import { runSpans } from './schema/bars.ts';
import type { Read, RowReader } from './store.ts';

const temporary = new TestFolder();
after(() => temporary.close());

/** A hundred runs of one market, reaching a millisecond further each. */
const runs = Array.from({ length: 100 }, (_, at) => ({
  run_id: at + 1,
  market: 'stock/US_STOCK',
  interval: 'DAY',
  reach_ms: 1000 + at,
  series_count: 1,
  series: Uint8Array.of(1),
  ...{ kind: 'import', started_ms: 0, sha256: '', command: 1, zone: null },
  ...{ first_ms: null, last_keys: [], from_ms: null, through_ms: null },
}));

test('a read in steps has each row once, and no step begins at the bound where the first one did', async () => {
  const store = await openStore(temporary.storeUrl(), 'write');
  await store.write((writer) => writer.upsert(runSpans, runs));
  for (const direction of ['asc', 'desc'] as const) {
    const reads: Read<typeof runSpans>[] = [];
    const found = await store.snapshot(async (reader) => {
      const rows = (dataset: typeof runSpans, read: Read<typeof runSpans>) => {
        reads.push(read);
        return reader.rows(dataset, read);
      };
      const read = {
        where: { market: 'stock/US_STOCK', interval: 'DAY' },
        range: { from: 1010, to: 1050 },
        order: [['reach_ms', direction] as const, ['run_id', direction] as const],
        limit: 7,
      };
      const ids: number[] = [];
      for await (const { run_id } of rowsInOrder({ rows } as unknown as RowReader, runSpans, read))
        ids.push(run_id);
      return ids;
    });
    const wanted = runs.filter(({ reach_ms: ms }) => ms >= 1010 && ms < 1050).map(({ run_id }) => run_id);
    assert.deepEqual(found, direction === 'asc' ? wanted : wanted.toReversed());
    const [first, ...others] = reads.map(({ range }) => range);
    assert.deepEqual(first, { from: 1010, to: 1050 });
    for (const range of others) assert.deepEqual(range, direction === 'asc' ? { to: 1050 } : { from: 1010 });
  }
  await store.close();
});
