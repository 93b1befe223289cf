// What of a reference record changes with the moment: the store is the same, and the record is at hand (contract 8.1).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { TestFolder } from '../../test/stores.ts';
import { openSources } from '../files/source.ts';
import { importFile } from '../loading/importers.ts';
import type { MappedFile } from '../mapping/column-mapping.ts';
import { ownNames } from '../mapping/column-mapping.ts';
import { openStore } from '../store/engines.ts';
import { QueryRunner } from './index.ts';

const temporary = new TestFolder();
const { folder } = temporary;
const url = temporary.storeUrl();
after(() => temporary.close());

test('daylight saving is that of the year in UTC, also for a record at hand while its market is in the old year', async () => {
  const path = join(folder, 'in.csv');
  // Brazil had its last summer time in 2019.
  writeFileSync(path, 'asset_schema,country_iso_code,symbol,time_zone\nstock,US,B,America/Sao_Paulo\n');
  const writer = await openStore(url, 'write');
  const file = (await openSources(path, process.stdin, ownNames).next()).value as MappedFile;
  const request = { file, flags: new Map(), source: null, dryRun: false, nowMs: Date.now };
  await importFile(writer, 'instruments', request);
  await file.close();
  await writer.close();
  const store = await openStore(url, 'read');
  const runner = new QueryRunner(store, new Uint8Array(32));
  const hasSummerTime = async (at: string): Promise<unknown> => {
    const answer = await runner.run({
      endpoint: 'instrumentReference',
      parameters: { schema_asset: 'stock', country_symbol: { country: 'US', symbol: 'B' } },
      nowMs: Date.parse(at),
      wrapCsv: false,
    });
    assert.ok(answer.kind === 'answer');
    return (JSON.parse(Buffer.from(answer.body).toString()) as { result: { support_dst: boolean } }).result
      .support_dst;
  };
  const [old, young] = ['2019-12-31T23:59:59Z', '2020-01-01T00:00:00Z'];
  assert.deepEqual(
    [await hasSummerTime(old), await hasSummerTime(old), await hasSummerTime(young)],
    [true, true, false],
  );
  await store.close();
});
