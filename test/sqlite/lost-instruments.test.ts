// An instrument whose row or index entry is lost is named by deletions, undos and exports: it is not taken
// for one that the store never had (house rules, docs/decisions/0027).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { everything, exportTable } from '../../src/export/tables.ts';
import { deleteBars, deleteInstrument } from '../../src/history/delete-bars.ts';
import { newestRuns, undoRun } from '../../src/history/undo-run.ts';
import { QueryRunner } from '../../src/queries/index.ts';
import { damageWords } from '../../src/store/damage.ts';
import type { Store } from '../../src/store/store.ts';
import { ASKED_MS } from '../reliability/flips-data.ts';
import { contentOfFile, storeFile } from './files.ts';
import { asking, LosingStores } from './losing.ts';

const stores = new LosingStores();
before(() => stores.make());
after(() => stores.close());

const isLost = /instruments, row asset_schema "stock", country_iso_code "US", symbol "AB05": the row is lost/;
const choice = { assetSchema: null, country: 'US', symbol: 'AB05' } as const;
const about = { words: 'US:AB05', dryRun: false, nowMs: () => ASKED_MS };

test('a deletion names an instrument whose row is lost, and deletes nothing (contract 10)', async () => {
  const url = stores.losing('instruments', "symbol = 'AB05'");
  const content = contentOfFile(storeFile(url));
  await asking(url, 'write', async (store) => {
    const bars = { interval: null, from: null, to: null };
    await assert.rejects(deleteBars(store, { ...choice, ...bars, ...about }), isLost);
    await assert.rejects(deleteInstrument(store, { ...choice, ...about }), isLost);
  });
  assert.deepEqual(contentOfFile(storeFile(url)), content);
});

test('a search that finds an instrument whose row is lost names it, also as of a moment (contract 9.8, house rules)', async () => {
  const url = stores.losing('instruments', "symbol = 'AB05'");
  await asking(url, 'read', async (store) => {
    const runner = new QueryRunner(store, new Uint8Array(32));
    for (const as_of of [undefined, ASKED_MS])
      await assert.rejects(
        runner.run({
          endpoint: 'instrumentSearch',
          parameters: { schema_asset: 'stock', query: 'AB05', limit: 10, as_of },
          nowMs: ASKED_MS,
          wrapCsv: false,
        }),
        isLost,
      );
  });
});

test('an export of an instrument whose row is lost names it (contract 10)', async () => {
  const url = stores.losing('instruments', "symbol = 'AB05'");
  await asking(url, 'read', (store) =>
    store.snapshot((reader) =>
      assert.rejects(exportTable(reader, 'bars', { ...everything, ...choice }), isLost),
    ),
  );
});

/** What the undo of the oldest run of a dataset leaves undone. */
async function leftOf(store: Store, dataset: string): Promise<string> {
  const runs = await store.snapshot((reader) => newestRuns(reader, 1_000));
  const { run_id: runId } = runs.findLast((run) => run.dataset === dataset)!;
  const { left } = await undoRun(store, { runId, dryRun: true, nowMs: () => ASKED_MS });
  return left.map(damageWords).join('\n');
}

test('an undo of the run that made an instrument names its lost row, and leaves it to the repair (contract 10)', async () => {
  const url = stores.losing('instruments', "symbol = 'AB05'");
  await asking(url, 'write', async (store) => assert.match(await leftOf(store, 'instruments'), isLost));
});

test('an undo of rows that name an instrument whose row is lost names it (contract 10)', async () => {
  const url = stores.losing('instruments', "symbol = 'AB05'");
  await asking(url, 'write', async (store) =>
    assert.match(await leftOf(store, 'bars'), /instruments, the rows of instrument_id \d+: rows are missing/),
  );
});

test('an undo of bars names an instrument that the index of identifiers has lost (contract 10)', async () => {
  const url = stores.losingInIndex('instruments_by_instrument_id', "symbol = 'AB13'");
  await asking(url, 'write', async (store) =>
    assert.match(await leftOf(store, 'bars'), /instruments, the rows of instrument_id \d+: rows are missing/),
  );
});

test('an undo of the run that made an instrument names series of it that an index has lost (contract 10)', async () => {
  const series =
    "series_id = (select min(series_id) from series join instruments using (instrument_id) where symbol = 'AB13')";
  const url = stores.losing('series', series);
  await asking(url, 'write', async (store) =>
    assert.match(await leftOf(store, 'instruments'), /series, the rows of instrument_id \d+/),
  );
});
