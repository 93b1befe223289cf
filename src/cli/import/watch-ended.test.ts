// `bourse import --watch` that is ended while it imports: the file that ended it is set aside at the next
// start, and the others are imported.
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Workshop } from '../../../test/service.ts';
import { openToWrite, rowsOf } from '../../../test/stores.ts';
import { endWatches, Watch } from '../../../test/watching.ts';
import { recordFailure, UNFINISHED } from './watch.ts';

const shops: Workshop[] = [];
after(() => {
  endWatches();
  for (const shop of shops) shop.close();
});

/** A workshop with a folder to watch. */
function newShop(): Workshop & { readonly place: (name: string) => string } {
  const shop = new Workshop();
  shops.push(shop);
  mkdirSync(shop.path('incoming'));
  return Object.assign(shop, { place: (name: string) => join(shop.path('incoming'), name) });
}

/** Puts a whole file of minute bars into the folder. */
function put(shop: ReturnType<typeof newShop>, name: string, rows = 1): void {
  const startMs = Date.parse('2000-01-03T15:00:00Z');
  const lines = Array.from(
    { length: rows },
    (_, at) => `${new Date(startMs + at * 60_000).toISOString()},1,1,1,1`,
  );
  writeFileSync(shop.path('new'), ['datetime,open,high,low,close', ...lines, ''].join('\n'));
  renameSync(shop.path('new'), shop.place(name));
}

const failedOf = (shop: Workshop): string[] =>
  rowsOf(shop.store, 'select path, problem from failed_files order by path').map(
    ({ path, problem }) => `${String(path).replace(/.*\//, '')}: ${String(problem)}`,
  );

/**
 * Kills a watch while it imports a file, a longer one where an import was done too soon; the name of that
 * file.
 */
async function killWhileImporting(shop: ReturnType<typeof newShop>): Promise<string> {
  for (let rows = 100_000; ; rows *= 4) {
    const name = `killed-${rows}.csv`;
    const watch = new Watch(shop, 'incoming');
    await watch.until(/watching/);
    put(shop, name, rows);
    while (!watch.said.includes(name) && !failedOf(shop).some((one) => one.startsWith(name))) await sleep(5);
    await watch.end('SIGKILL');
    if (failedOf(shop).includes(`${name}: ${UNFINISHED}`)) return name;
  }
}

const SET_ASIDE = 'the watch ended while it imported this file';

test('a file that a watch was importing when it was killed is set aside and named, and the one beside it is imported (contract 10)', async () => {
  const shop = newShop();
  put(shop, 'first.csv');
  const first = new Watch(shop, 'incoming');
  await first.until(/first\.csv: 1 row read/);
  await first.end('SIGTERM');
  assert.deepEqual(failedOf(shop), []);
  const killed = await killWhileImporting(shop);
  put(shop, 'good.csv', 2);
  const second = new Watch(shop, 'incoming');
  await second.until(new RegExp(`${killed}: not imported: ${SET_ASIDE}`));
  await second.until(/good\.csv: 2 rows read/);
  await second.end('SIGTERM');
  assert.equal(failedOf(shop).length, 1);
  assert.ok(failedOf(shop)[0]!.startsWith(`${killed}: ${SET_ASIDE}`));
  // The next start tries it again: the watch may have been ended for another reason.
  const third = new Watch(shop, 'incoming');
  await third.until(new RegExp(`${killed}: [\\d,]+ rows read`));
  await third.end('SIGTERM');
  assert.deepEqual(failedOf(shop), []);
});

test('a file that was set aside is tried again as soon as it changes; of several each is tried by itself (contract 10)', async () => {
  const shop = newShop();
  const begin = async (...names: readonly string[]): Promise<void> => {
    const store = await openToWrite(shop.store);
    await recordFailure(store, 'bars', UNFINISHED, names.map(shop.place));
    await store.close();
  };
  put(shop, 'a.csv');
  await begin('a.csv');
  const first = new Watch(shop, 'incoming');
  await first.until(/a\.csv: not imported: the watch ended/);
  utimesSync(shop.place('a.csv'), new Date(), new Date());
  await first.until(/a\.csv: 1 row read/);
  await first.end('SIGTERM');
  assert.deepEqual(failedOf(shop), []);
  for (const name of ['b.csv', 'c.csv', 'd.csv']) put(shop, name, 2);
  await begin('b.csv', 'c.csv');
  const second = new Watch(shop, 'incoming');
  await second.until(/c\.csv: 2 rows read/);
  await second.end('SIGTERM');
  assert.match(second.said, /d\.csv: 2 rows read[\s\S]*b\.csv: 2 rows read[\s\S]*c\.csv: 2 rows read/);
  assert.doesNotMatch(second.said, /not imported/);
  assert.deepEqual(failedOf(shop), []);
});
