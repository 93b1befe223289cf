// A store with everything in it, for tests that copy it, and what two stores of any engines have in common.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allBlocks, everyBucket } from '../../src/store/all-blocks.ts';
import { allRows } from '../../src/store/all-rows.ts';
import { openControl, openStore } from '../../src/store/engines.ts';
import { series } from '../../src/store/schema/bars.ts';
import type { Dataset } from '../../src/store/schema/dataset.ts';
import { dataDatasets } from '../../src/store/schema/index.ts';
import { changes, controlDatasets, counters, formerRows } from '../../src/store/schema/internal.ts';
import type { RowReader } from '../../src/store/store.ts';
import type { Workshop } from '../service.ts';

/** The folder of the examples. */
export const examples = fileURLToPath(new URL('../../examples/', import.meta.url));

/** Each dataset of the examples, with its file. */
export const exampleFiles = [
  'instruments',
  'corporate-actions',
  'news',
  'option-contracts',
  'holidays',
  'economic-events',
].map((dataset) => [dataset, join(examples, `${dataset}.csv`)] as const);

export const barFlags = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];

/** A file of minutes of some sessions of some symbols. */
export function writeMinutes(
  shop: Workshop,
  name: string,
  {
    symbols,
    days,
    price,
  }: { readonly symbols: readonly string[]; readonly days: number; readonly price: number },
): string {
  const rows = symbols.flatMap((symbol) =>
    Array.from({ length: days * 390 }, (_, index) => {
      const ms = Date.UTC(2025, 2, 3 + Math.floor(index / 390), 14, 30 + (index % 390));
      const open = (price + (index % 390) / 100).toFixed(2);
      return `${symbol},${new Date(ms).toISOString()},${open},${open},${open},${open},${index}`;
    }),
  );
  writeFileSync(shop.path(name), `symbol,datetime,open,high,low,close,volume\n${rows.join('\n')}\n`);
  return shop.path(name);
}

/**
 * Fills a store with rows of every dataset, corrected bars, a deletion, an undone run, and keys of all kinds.
 * Gives a key.
 */
export async function fill(shop: Workshop, url: string): Promise<string> {
  const on = ['--store', url];
  for (const [dataset, file] of exampleFiles) await shop.must('import', dataset, file, ...on);
  const minutes = { symbols: ['AAPL', 'MSFT', 'KO'], days: 4 };
  const first = writeMinutes(shop, 'first.csv', { ...minutes, price: 100 });
  const corrected = writeMinutes(shop, 'corrected.csv', { ...minutes, days: 2, price: 200 });
  const undone = writeMinutes(shop, 'undone.csv', { ...minutes, days: 1, price: 300 });
  for (const file of [first, corrected, undone]) await shop.must('import', 'bars', file, ...barFlags, ...on);
  await shop.must('undo', '9', ...on);
  await shop.must('delete', 'bars', ...barFlags, '--symbol', 'KO', '--from', '2025-03-04', ...on);
  // No server has them yet: nothing waits for it to read them again.
  const create = async (...words: readonly string[]) =>
    (await shop.run('keys', 'create', ...words, ...on)).stdout.trim();
  await create('limited', '--per-minute', '60', '--per-day', '1000');
  await create('ending', '--expires', '2099-12-31');
  return create('me');
}

const plain = (_: string, value: unknown): unknown =>
  value instanceof Uint8Array ? createHash('sha256').update(value).digest('hex') : value;

async function rowsIn(reader: RowReader, declared: readonly Dataset[]): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const dataset of declared) {
    const rows: unknown[] = [];
    for await (const row of allRows(reader, dataset))
      if (!isOfVersions(dataset, row)) rows.push(JSON.parse(JSON.stringify(row, plain)));
    found[dataset.name] = rows;
  }
  return found;
}

/** What a copy has of its own: its version, and what is kept about versions. */
function isOfVersions(dataset: Dataset, row: Readonly<Record<string, unknown>>): boolean {
  if (dataset === counters) return row.name === 'data_version' || row.name === 'former_rows';
  return dataset === changes || (dataset === formerRows && row.dataset === counters.name);
}

/**
 * Every row and block of a store but its version, keys and secrets included, of whatever engine: bytes as
 * hashes.
 */
export async function everythingIn(url: string): Promise<Record<string, unknown[]>> {
  const store = await openStore(url, 'read');
  const data = await store.snapshot(async (reader) => {
    const blocks: unknown[] = [];
    for await (const { series_id: seriesId } of allRows(reader, series))
      for await (const { bucket, runId, bytes } of allBlocks(reader, {
        seriesId,
        ...everyBucket,
        direction: 'asc',
      }))
        blocks.push([seriesId, bucket, runId, plain('', bytes)]);
    return { ...(await rowsIn(reader, dataDatasets)), blocks };
  });
  await store.close();
  const control = await openControl(url, 'read');
  const keys = await control.snapshot((reader) => rowsIn(reader, controlDatasets));
  await control.close();
  return { ...data, ...keys };
}
