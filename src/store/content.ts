// One hash of what a store holds, whatever the order of its imports and its engine: what copies and repairs are checked by.
import { createHash, type Hash } from 'node:crypto';
import { blockCount } from '../bars/block-reader.ts';
import { series as seriesDataset } from '../datasets/bars.ts';
import type { Dataset, RowOf } from '../datasets/dataset.ts';
import { holidays } from '../datasets/holidays.ts';
import { fileDatasets } from '../datasets/index.ts';
import { type Instrument, instruments } from '../datasets/reference.ts';
import { allBlocks, everyBucket } from './all-blocks.ts';
import { allRows } from './all-rows.ts';
import { FIRST_RELEASE_LAYOUT, storeSteps } from './migrations/index.ts';
import { columnsAdded } from './migrations/step.ts';
import type { Reader } from './store.ts';

type Series = RowOf<typeof seriesDataset>;

/** No instrument has more series. */
const SERIES_MAX = 2_000;

/**
 * SHA-256, in hexadecimal, of every instrument, every bar and every row of the other datasets of files. Identifiers are not in it, nor what imports say of themselves:
 * they depend on the order in which files came.
 */
export async function contentHash(reader: Reader): Promise<string> {
  const hash = createHash('sha256');
  for await (const instrument of allRows(reader, instruments)) await addInstrument(reader, hash, instrument);
  for (const dataset of rowDatasets)
    for await (const row of allRows(reader, dataset))
      addText(hash, JSON.stringify(withoutIdentifiers(hashed(dataset, row))));
  return hash.digest('hex');
}

/** What files bring beside instruments and bars. Hashes have always had holidays first. */
const rowDatasets = [holidays, ...fileDatasets.filter((one) => one !== instruments && one !== holidays)];

/** What a row says: the numbers of instruments are left out, that of an underlying too. */
function withoutIdentifiers(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { instrument_id: _, asset_id: __, parent_schema_instrument_id: ___, ...said } = row;
  return said;
}

const addedLater = columnsAdded(storeSteps.slice(FIRST_RELEASE_LAYOUT));

/** A row without the columns that were added after the first release and are null: a new column changes no store's hash. */
export function hashed(
  { name }: Dataset,
  row: Readonly<Record<string, unknown>>,
  added = addedLater,
): Readonly<Record<string, unknown>> {
  const later = added.get(name);
  if (later === undefined) return row;
  const entries = Object.entries(row);
  return Object.fromEntries(entries.filter(([column, value]) => value !== null || !later.has(column)));
}

async function addInstrument(reader: Reader, hash: Hash, instrument: Instrument): Promise<void> {
  const { instrument_id } = instrument;
  addText(hash, JSON.stringify(withoutIdentifiers(hashed(instruments, instrument))));
  const found = await reader.rows(seriesDataset, {
    where: { instrument_id },
    order: [['interval', 'asc']],
    limit: SERIES_MAX,
  });
  for (const series of found) if (series.bar_count > 0) await addSeries(reader, hash, series);
}

async function addSeries(reader: Reader, hash: Hash, series: Series): Promise<void> {
  const { instrument_id: _, series_id: __, ...said } = hashed(seriesDataset, series);
  addText(hash, JSON.stringify(said));
  // The same bars are the same bytes (`bars/block-writer.ts`).
  const blocks = allBlocks(reader, { seriesId: series.series_id, ...everyBucket, direction: 'asc' });
  for await (const { bucket, bytes } of blocks) {
    if (blockCount(bytes) === 0) continue;
    addText(hash, `${bucket} ${bytes.length}`);
    hash.update(bytes);
  }
}

/** Length first, so that no two sequences of texts are the same bytes. */
function addText(hash: Hash, text: string): void {
  hash.update(`${text.length}:${text}`);
}
