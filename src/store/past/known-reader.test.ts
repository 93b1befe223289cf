// The number of reads of a list as of a moment of which most rows were not known then.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fillStore } from '../../../test/importing.ts';
import { TestFolder } from '../../../test/stores.ts';
import { openStore } from '../engines.ts';
import { events } from '../schema/economic.ts';
import type { RowReader } from '../store.ts';
import { rowsKnown } from './known-reader.ts';

const folder = new TestFolder();
after(() => folder.close());

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const momentMs = Date.parse('2025-01-01T00:00:00Z');

test('a read that passes over thousands of rows asks the store some ten times (contract 9.8)', async () => {
  const url = folder.storeUrl();
  const event = (at: number) => ({
    ...{ country_iso_code: 'US', event_code: 'OWN', event_name: 'Own', event_driven_type: 'data_driven' },
    event_timestamp: new Date(momentMs + at * 60_000).toISOString(),
  });
  const rows = [-5, ...Array.from({ length: 5_000 }, (_, index) => index + 1)].map(event);
  await fillStore(url, folder.folder, NOW_MS, [['economic-events', rows]]);
  const store = await openStore(url, 'read');
  let reads = 0;
  let passed = 0;
  const found = await store.snapshot((reader) => {
    const counting = {
      rows: (...read: Parameters<typeof reader.rows>) => {
        reads++;
        return reader.rows(...read);
      },
    } as unknown as RowReader;
    const read = {
      where: { country_iso_code: 'US', event_code: 'OWN' },
      order: [
        ['event_timestamp', 'desc'],
        ['rank', 'desc'],
        ['source_id', 'desc'],
      ] as const,
      limit: 1,
    };
    const moment = { ms: momentMs, dayIn: () => Math.floor(momentMs / 86_400_000) };
    return rowsKnown(counting, events, read, moment, (count) => {
      passed += count;
    });
  });
  await store.close();
  assert.deepEqual(
    found.map(({ event_timestamp }) => event_timestamp),
    [momentMs - 5 * 60_000],
  );
  assert.equal(passed, 5_000);
  assert.ok(reads < 20, `${reads} reads`);
});
