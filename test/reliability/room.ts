// What an import really takes of a disk, held against what is asked for before it.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { storeNeedBytes } from '../../src/imports/load/import-group.ts';
import { openStore } from '../../src/store/engines.ts';
import { Workshop } from '../service.ts';
import { fileStore, storeFile } from '../sqlite/files.ts';
import { type Figure, fileOf, megabytes, minutesFile, named, rowsIn } from './minutes.ts';

/** Bytes that even a small import is asked for. */
const LEAST_BYTES = storeNeedBytes(0);

/** Bytes that importing a file takes, the log at its longest included, and the store's growth. */
async function takenBy(shop: Workshop, path: string, url: string): Promise<number> {
  const file = storeFile(url);
  const sizeOf = (name: string): number => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  const keeper = await openStore(url, 'write');
  const beforeBytes = sizeOf(file);
  // A reader holds the log, so that it is there to be measured; without it the next write moves it into the
  // store.
  const logBytes = await keeper.snapshot(async (reader) => {
    await reader.version();
    await reader.blocks({ seriesId: 1, fromBucket: 0, toBucket: 0, direction: 'asc', limit: 1 });
    await shop.must('import', 'bars', path, ...named, '--store', url);
    return sizeOf(`${file}-wal`);
  });
  await keeper.write(async () => undefined);
  await keeper.close();
  return logBytes + sizeOf(file) - beforeBytes;
}

/**
 * Holds the rule for several kinds of file of so many rows, a multiple of 10,000, to be enough, and not
 * absurd.
 */
export async function checkRoom(rows: number): Promise<Figure[]> {
  const shop = new Workshop();
  const figures: Figure[] = [];
  const measure = async (what: string, path: string, store: string): Promise<void> => {
    const taken = await takenBy(shop, path, fileStore(shop.path(`${store}.db`)));
    const asked = storeNeedBytes(statSync(path).size);
    figures.push([what, `${megabytes(taken)} taken, ${megabytes(asked)} asked for`]);
    assert.ok(taken <= asked, `${what}: ${taken} bytes taken, only ${asked} asked for`);
    assert.ok(asked - LEAST_BYTES <= 4 * taken, `${what}: ${asked} bytes asked for, only ${taken} taken`);
  };
  try {
    const symbols = Math.min(10_000, rows / 10);
    const many = minutesFile(shop.path('many.csv'), symbols, rows / symbols);
    await measure(`by time, ${symbols} symbols`, many, 'many');
    const few = minutesFile(shop.path('few.csv'), 10, rows / 10);
    await measure('10 symbols', few, 'few');
    const { header, rows: lines } = rowsIn(few);
    const moved = lines.map((row) => row.replace(/[^,]*,[^,]*$/, '7,'));
    await measure('10 symbols, corrected', fileOf(shop.path('moved.csv'), header, moved), 'few');
    // Numbers without a short decimal are kept as they are.
    const long = lines.map((row) => {
      const [symbol, datetime, open] = row.split(',');
      const price = String(Number(open) * Math.PI);
      return [symbol, datetime, price, price, price, price, Number(open) * Math.E, price].join();
    });
    await measure('10 symbols, long numbers', fileOf(shop.path('long.csv'), header, long), 'long');
    await measure('one row', fileOf(shop.path('one.csv'), header, lines.slice(0, 1)), 'one');
    return figures;
  } finally {
    shop.close();
  }
}
