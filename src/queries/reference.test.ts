// What of a reference record changes with the moment: the store is the same, and the record is at hand
// (contract 8.1).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { TestFolder } from '../../test/stores.ts';
import { importFile } from '../imports/load/importers.ts';
import { type MappedFile, ownNames } from '../imports/map/column-mapping.ts';
import { openSources } from '../imports/read/source.ts';
import { openStore } from '../store/engines.ts';
import { QueryRunner } from './index.ts';

const temporary = new TestFolder();
const { folder } = temporary;
let stores = 0;
after(() => temporary.close());

/**
 * The record of US:B at a moment, from a store with this file; the store stays open, as that of a server
 * does.
 */
async function recordsOf(csv: string) {
  const path = join(folder, 'in.csv');
  writeFileSync(path, csv);
  const url = temporary.storeUrl(String(++stores));
  const writer = await openStore(url, 'write');
  const file = (await openSources(path, process.stdin, ownNames).next()).value as MappedFile;
  const request = { file, flags: new Map(), source: null, dryRun: false, nowMs: Date.now };
  await importFile(writer, 'instruments', request);
  await file.close();
  await writer.close();
  const store = await openStore(url, 'read');
  const runner = new QueryRunner(store, new Uint8Array(32));
  const at = async (instant: string): Promise<{ support_dst: boolean; status: string }> => {
    const answer = await runner.run({
      endpoint: 'instrumentReference',
      parameters: { schema_asset: 'stock', country_symbol: { country: 'US', symbol: 'B' } },
      nowMs: Date.parse(instant),
      wrapCsv: false,
    });
    assert.ok(answer.kind === 'answer');
    return (JSON.parse(Buffer.from(answer.body).toString()) as { result: Awaited<ReturnType<typeof at>> })
      .result;
  };
  return { at, close: () => store.close() };
}

test('daylight saving is that of the year in UTC, also for a record at hand while its market is in the old year', async () => {
  // Brazil had its last summer time in 2019.
  const record = await recordsOf(
    'asset_schema,country_iso_code,symbol,time_zone\nstock,US,B,America/Sao_Paulo\n',
  );
  const moments = ['2019-12-31T23:59:59Z', '2019-12-31T23:59:59Z', '2020-01-01T00:00:00Z'];
  const found: boolean[] = [];
  for (const moment of moments) found.push((await record.at(moment)).support_dst);
  assert.deepEqual(found, [true, true, false]);
  await record.close();
});

test('without a status an instrument is inactive from the day after its delisting in its market (contract 3.9)', async () => {
  const record = await recordsOf(
    'asset_schema,country_iso_code,symbol,delisting_date\nstock,US,B,2018-06-15\n',
  );
  const moments = ['2018-06-15T12:00:00Z', '2018-06-16T03:59:59Z', '2018-06-16T04:00:00Z'];
  const found: string[] = [];
  for (const moment of moments) found.push((await record.at(moment)).status);
  assert.deepEqual(found, ['active', 'active', 'inactive']);
  await record.close();
});
