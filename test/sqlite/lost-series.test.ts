// A series whose row is lost: deletions, exports and changes of its calendar name it. They do not act as if
// it had never been there (house rules, docs/decisions/0027).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ndjson } from '../../src/queries/export/export-table.ts';
import { everything, exportTable } from '../../src/queries/export/tables.ts';
import { deleteBars, deleteInstrument } from '../../src/runs/delete-bars.ts';
import type { Reader } from '../../src/store/store.ts';
import { ASKED_MS } from '../reliability/flips-data.ts';
import { contentOfFile, storeFile } from './files.ts';
import { asking, LosingStores } from './losing.ts';

const stores = new LosingStores();
before(() => stores.make());
after(() => stores.close());

const ofOne =
  "series_id = (select min(series_id) from series join instruments using (instrument_id) where symbol = 'AB01')";
const ofBlocks =
  "series_id in (select series_id from series join instruments using (instrument_id) where symbol = 'AB01')";
const ofAll = "instrument_id = (select instrument_id from instruments where symbol = 'AB01')";
const isLost = /series, the rows of instrument_id \d+: rows are missing: an index or page lost them/;
const choice = { assetSchema: null, country: 'US', symbol: 'AB01' } as const;
const about = { words: 'US:AB01', dryRun: false, nowMs: () => ASKED_MS };
const bars = { interval: null, from: null, to: null };

test('a deletion of bars names a series whose row is lost, and deletes nothing (contract 10)', async () => {
  const url = stores.losing('series', ofOne);
  const content = contentOfFile(storeFile(url));
  await asking(url, 'write', (store) =>
    assert.rejects(deleteBars(store, { ...choice, ...bars, ...about }), isLost),
  );
  assert.deepEqual(contentOfFile(storeFile(url)), content);
});

test('a deletion of bars names a series whose blocks are lost: nothing to delete would be wrong (contract 10)', async () => {
  const url = stores.losing('bar_blocks', ofBlocks);
  await asking(url, 'write', (store) =>
    assert.rejects(deleteBars(store, { ...choice, ...bars, ...about }), /AB01.*blocks? .*(lost|missing)/),
  );
});

test('an instrument with bars is not deleted where the rows of its series are lost (contract 10)', async () => {
  const url = stores.losing('series', ofAll);
  const content = contentOfFile(storeFile(url));
  await asking(url, 'write', (store) =>
    assert.rejects(deleteInstrument(store, { ...choice, ...about }), isLost),
  );
  assert.deepEqual(contentOfFile(storeFile(url)), content);
});

/** The lines that an export of all bars writes. */
async function linesOf(reader: Reader): Promise<number> {
  const table = await exportTable(reader, 'bars', everything);
  let lines = 0;
  for await (const { rows } of table.lines(ndjson)) lines += rows;
  return lines;
}

test('an export of bars names a series whose row is lost, and is refused (contract 10)', async () => {
  const url = stores.losing('series', ofOne);
  await asking(url, 'read', (store) => store.snapshot((reader) => assert.rejects(linesOf(reader), isLost)));
});
