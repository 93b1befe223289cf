// The order of rows and of files does not matter for what a store holds.
import assert from 'node:assert/strict';
import { SESSION_MINUTES } from '../../bench/minutes.ts';
import { Workshop } from '../service.ts';
import { type Figure, fileOf, hashOf, minutesFile, named, rowsIn, seconds, shuffled } from './minutes.ts';

type OrderCheck = { readonly symbols: number; readonly minutes: number; readonly seed: number };

const timeOf = (row: string): string => row.slice(row.indexOf(','), row.indexOf(',', row.indexOf(',') + 1));
const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Imports the same rows in several orders, in one file and in four, once and again: the content is one. */
export async function checkOrder({ symbols, minutes, seed }: OrderCheck): Promise<Figure[]> {
  const shop = new Workshop();
  const figures: Figure[] = [['rows', `${symbols * minutes} of ${symbols} symbols`]];
  const hashes = new Map<string, string>();
  const load = async (name: string, files: readonly string[], store = name): Promise<void> => {
    const url = shop.storeUrl(store);
    const startedMs = performance.now();
    await shop.must('import', 'bars', ...files, ...named, '--store', url);
    figures.push([`imported ${name}`, seconds(performance.now() - startedMs)]);
    hashes.set(name, await hashOf(url));
  };
  try {
    // Half of the minutes lie in the next session, so that every series has two buckets.
    const first = SESSION_MINUTES - Math.ceil(minutes / 2);
    const { header, rows } = rowsIn(minutesFile(shop.path('time.csv'), symbols, minutes, first));
    const mixed = shuffled(rows, seed);
    const orders = {
      'by time': rows,
      'by symbol': rows.toSorted(compareText),
      'by time, backwards': rows.toSorted((a, b) => compareText(timeOf(b), timeOf(a))),
      'at random': mixed,
    };
    for (const [name, ordered] of Object.entries(orders)) {
      await load(name, [fileOf(shop.path(`${name}.csv`), header, ordered)]);
    }
    const parts = [0, 1, 2, 3].map((part) =>
      fileOf(
        shop.path(`part-${part}.csv`),
        header,
        mixed.filter((_, at) => at % 4 === part),
      ),
    );
    for (const turn of [
      [0, 1, 2, 3],
      [3, 1, 0, 2],
    ]) {
      await load(
        `in files ${turn.join(' ')}`,
        turn.map((part) => parts[part]!),
      );
    }
    await load('at random, again', [shop.path('at random.csv')], 'by symbol');
    assert.equal(new Set(hashes.values()).size, 1, `seed ${seed}: ${JSON.stringify([...hashes])}`);
    return figures;
  } finally {
    shop.close();
  }
}
