// What undos and deletions tell of their progress, which the command line shows on a terminal (contract
// 10.4).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { deleteBars } from '../src/runs/delete-bars.ts';
import { deleteRows } from '../src/runs/delete-rows.ts';
import { undoRun } from '../src/runs/undo-run.ts';
import { openStore } from '../src/store/engines.ts';
import { fileDatasetNamed } from '../src/store/schema/index.ts';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const DAYS = 40;
const HOURS = 6;

test('an undo and a deletion tell how many bars and rows are done, ascending, up to all (contract 10.4)', async () => {
  const bars = Array.from({ length: DAYS * HOURS }, (_, at) => {
    const open = Date.UTC(2025, 0, 2, 1) + Math.floor(at / HOURS) * 86_400_000 + (at % HOURS) * 3_600_000;
    return `${new Date(open).toISOString()},1,1,1,1`;
  });
  writeFileSync(shop.path('bars.csv'), `datetime,open,high,low,close\n${bars.join('\n')}\n`);
  const news = Array.from({ length: 30 }, (_, at) => `2025-01-02T10:00:00Z,n${at},https://example.com/${at}`);
  writeFileSync(shop.path('news.csv'), `published_date,title,publisher_url\n${news.join('\n')}\n`);
  const flags = ['--schema', 'crypto', '--country', 'GLOBAL', '--symbol', 'BTCUSD', '--interval', '60M'];
  await shop.must('import', 'bars', 'bars.csv', ...flags);
  await shop.must('import', 'news', 'news.csv');
  const store = await openStore(shop.store, 'write');
  try {
    const told = async (work: (onRows: (rows: number) => void) => Promise<unknown>): Promise<number> => {
      const counts: number[] = [];
      await work((rows) => counts.push(rows));
      assert.deepEqual(
        counts,
        counts.toSorted((a, b) => a - b),
      );
      return counts.at(-1)!;
    };
    const trial = { dryRun: true, nowMs: Date.now, words: 'all' };
    const choice = {
      assetSchema: null,
      country: 'GLOBAL',
      symbol: 'BTCUSD',
      interval: null,
      from: null,
      to: null,
    };
    assert.equal(await told((onRows) => deleteBars(store, { ...choice, ...trial, onRows })), bars.length);
    const dataset = fileDatasetNamed('news')!;
    assert.equal(
      await told((onRows) => deleteRows(store, { ...trial, dataset, flags: {}, all: true, onRows })),
      news.length,
    );
    // The run also made the instrument and the series' state.
    assert.ok((await told((onRows) => undoRun(store, { ...trial, runId: 1, onRows }))) >= bars.length);
    assert.equal(await told((onRows) => undoRun(store, { ...trial, runId: 2, onRows })), news.length);
  } finally {
    await store.close();
  }
});
