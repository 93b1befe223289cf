// One hash of a store's content, whatever its engine and the order of its imports: copies and repairs are
// checked by it.
import { createHash } from 'node:crypto';
import { blockCount } from '../market/bars/block-reader.ts';
import { allBlocks, everyBucket, ofBytes } from './all-blocks.ts';
import { allRows } from './all-rows.ts';
import { storeHistory } from './migrations/index.ts';
import { columnsAdded } from './migrations/step.ts';
import { series as allSeries } from './schema/bars.ts';
import type { Dataset } from './schema/dataset.ts';
import { holidays } from './schema/holidays.ts';
import { fileDatasets } from './schema/index.ts';
import { instruments } from './schema/reference.ts';
import type { Reader } from './store.ts';

/**
 * SHA-256, in hexadecimal, of every instrument, every bar and every row of the other datasets of files.
 * Identifiers and the records of imports are left out: they depend on the order of the files. `onRead` gets
 * the number of rows and bars that were read.
 */
export async function contentHash(
  reader: Reader,
  onRead: (rows: number) => void = () => undefined,
): Promise<string> {
  const hash = createHash('sha256');
  // Length first, so that no two sequences of texts are the same bytes.
  const addText = (text: string) => hash.update(`${text.length}:${text}`);
  const addRow = (dataset: Dataset, row: Row) => {
    addText(JSON.stringify(withoutIdentifiers(hashed(dataset, row))));
    onRead(1);
  };
  for await (const instrument of allRows(reader, instruments)) {
    addRow(instruments, instrument);
    const { instrument_id } = instrument;
    for await (const series of allRows(reader, allSeries, { instrument_id })) {
      if (series.bar_count === 0) continue;
      addRow(allSeries, series);
      const { series_id: seriesId } = series;
      await reader.checkBlocks(seriesId);
      // The same bars are the same bytes (`market/bars/block-writer.ts`).
      const blocks = allBlocks(reader, { seriesId, ...everyBucket, direction: 'asc' });
      for await (const block of blocks) {
        const bars = ofBytes(seriesId, block, blockCount);
        const { bucket, bytes } = block;
        if (bars > 0) addText(`${bucket} ${bytes.length}`).update(bytes);
        onRead(bars);
      }
    }
  }
  for (const dataset of rowDatasets) for await (const row of allRows(reader, dataset)) addRow(dataset, row);
  return hash.digest('hex');
}

/** What files bring beside instruments and bars. Hashes have always had holidays first. */
const rowDatasets = [holidays, ...fileDatasets.filter((one) => one !== instruments && one !== holidays)];

/** Numbers that the store gives to instruments, underlyings and series, and what depends on the runs. */
const leftOut: ReadonlySet<string> = new Set([
  'instrument_id',
  'asset_id',
  'parent_schema_instrument_id',
  'series_id',
  'runs',
]);

const withoutIdentifiers = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([column]) => !leftOut.has(column)));

type Row = Readonly<Record<string, unknown>>;

const addedLater = columnsAdded(storeHistory.steps.slice(1));

/**
 * A row without the columns that were added after the first layout and are null: a new column changes no
 * store's hash.
 */
export function hashed({ name }: Dataset, row: Row, added = addedLater): Row {
  const later = added.get(name);
  if (later === undefined) return row;
  const entries = Object.entries(row);
  return Object.fromEntries(entries.filter(([column, value]) => value !== null || !later.has(column)));
}
