// Bars files of very many series, one row each: what an import keeps in memory, and the identifiers that it
// gives out.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { importFile } from '../src/imports/load/importers.ts';
import type { ImportReport } from '../src/imports/load/run.ts';
import { openStore } from '../src/store/engines.ts';
import { collectGarbage } from './garbage.ts';
import { opened } from './importing.ts';
import { rowsOf, TestFolder } from './stores.ts';

const temporary = new TestFolder();
after(() => temporary.close());

/** A DAY row of each symbol. */
const barsFile = (symbols: readonly string[], day: string): string =>
  ['symbol,datetime,open,high,low,close', ...symbols.map((symbol) => `${symbol},${day},10,12,9,11`), ''].join(
    '\n',
  );

const flags = new Map(Object.entries({ asset_schema: 'stock', country_iso_code: 'US', interval: 'DAY' }));

/** Imports one file; `onRows` is called when its rows are read and before they are written. */
async function load(
  url: string,
  dataset: string,
  text: string,
  { dryRun = false, onRows }: { readonly dryRun?: boolean; readonly onRows?: () => void } = {},
): Promise<ImportReport> {
  const path = temporary.path('file.csv');
  writeFileSync(path, text);
  const store = await openStore(url, 'write');
  const file = await opened(path);
  try {
    return await importFile(store, dataset, {
      file,
      flags: dataset === 'bars' ? flags : new Map(),
      source: null,
      dryRun,
      nowMs: Date.now,
      ...(onRows === undefined ? {} : { onRows }),
    });
  } finally {
    await file.close();
    await store.close();
  }
}

test('a file of series that the store has keeps no more in memory than the file that made them', async () => {
  const symbols = Array.from({ length: 2_000 }, (_, at) => `S${String(at).padStart(4, '0')}`);
  const url = temporary.storeUrl('memory');
  const keptOf = async (day: string): Promise<number> => {
    const used = (): number => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = used();
    let kept = 0;
    const onRows = (): void => {
      kept = used() - before;
    };
    const report = await load(url, 'bars', barsFile(symbols, day), { onRows });
    assert.equal(report.rowsNew, symbols.length);
    return kept;
  };
  const first = await keptOf('2026-03-02');
  const second = await keptOf('2026-03-03');
  const perSeries = Math.round((second - first) / symbols.length);
  // A stored block alone, unpacked, takes 7 kB.
  assert.ok(perSeries < 2_000, `the second file keeps ${perSeries} bytes more for each series`);
});

test('no identifier is given out twice: not after a dry run, nor by another dataset (contract 1.5)', async () => {
  const url = temporary.storeUrl('identifiers');
  const names = 'asset_schema,country_iso_code,symbol\n';
  await load(url, 'bars', barsFile(['A', 'B'], '2026-03-02'));
  await load(url, 'bars', barsFile(['C', 'D', 'E'], '2026-03-02'), { dryRun: true });
  await load(url, 'instruments', `${names}stock,US,F\nstock,US,G\n`);
  await load(url, 'bars', barsFile(['A', 'F', 'H'], '2026-03-03'));
  await load(url, 'instruments', `${names}stock,US,I\n`);
  const ids = (sql: string): unknown[] => rowsOf(url, sql).flatMap((row) => Object.values(row));
  const instruments = ids('select instrument_id from instruments order by symbol');
  assert.deepEqual(instruments, [100_001, 100_002, 100_003, 100_004, 100_005, 100_006]);
  const series = ids('select series_id from series order by series_id');
  assert.deepEqual(series, [1, 2, 3, 4]);
});
