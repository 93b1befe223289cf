// An instrument whose row or index entry is lost is named by deletions, undos and exports: it is not taken
// for one that the store never had (house rules, docs/decisions/0027).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { everything, exportTable } from '../../src/queries/export/tables.ts';
import { QueryRunner } from '../../src/queries/index.ts';
import { deleteBars, deleteInstrument } from '../../src/runs/delete-bars.ts';
import { newestRuns, undoRun } from '../../src/runs/undo-run.ts';
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

/** Why the oldest run of a dataset is not undone. */
async function refusalOf(store: Store, dataset: string): Promise<string> {
  const runs = await store.snapshot((reader) => newestRuns(reader, 1_000));
  const { run_id: runId } = runs.findLast((run) => run.dataset === dataset)!;
  const undone = undoRun(store, { runId, dryRun: true, nowMs: () => ASKED_MS });
  return undone.then(
    () => 'undone',
    (error: unknown) => String(error),
  );
}

const ofOne = "symbol = 'AB05'";
const seriesOfOne =
  "series_id = (select min(series_id) from series join instruments using (instrument_id) where symbol = 'AB05')";

for (const [dataset, what, lost, named] of [
  ['instruments', 'the row of its instrument', () => stores.losing('instruments', ofOne), 'instruments'],
  ['bars', 'the row of its instrument', () => stores.losing('instruments', ofOne), 'instruments'],
  [
    'bars',
    'an entry in the index of identifiers',
    () => stores.losingInIndex('instruments_by_instrument_id', ofOne),
    'instruments',
  ],
  ['instruments', 'a series of its instrument', () => stores.losing('series', seriesOfOne), 'series'],
] as const)
  test(`an undo of a run of ${dataset} is refused where ${what} is lost, and names it (contract 10)`, async () => {
    const url = lost();
    const content = contentOfFile(storeFile(url));
    await asking(url, 'write', async (store) =>
      assert.match(
        await refusalOf(store, dataset),
        new RegExp(`damaged: ${named}, .* run \\d+ is not undone`),
      ),
    );
    assert.deepEqual(contentOfFile(storeFile(url)), content);
  });
