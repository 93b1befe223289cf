// What an instrument is needed for: its bars, and the rows of other datasets that name it.

import { rowWith } from '../store/all-rows.ts';
import { series } from '../store/schema/bars.ts';
import type { Dataset, RowOf } from '../store/schema/dataset.ts';
import { type FileDataset, fileDatasets } from '../store/schema/index.ts';
import { type Instrument, type InstrumentName, instruments } from '../store/schema/reference.ts';
import { selectedRows } from '../store/selected-rows.ts';
import type { RowReader, Writer } from '../store/store.ts';
import { changeRow } from './journal.ts';
import { namedBy } from './naming.ts';

/**
 * The series of an instrument that have bars, in the order of their intervals' names. @throws DamagedData
 * where one is lost
 */
export async function seriesWithBars(
  reader: RowReader,
  { instrument_id }: Pick<Instrument, 'instrument_id'>,
): Promise<RowOf<typeof series>[]> {
  const rows = await reader.group(series, { instrument_id });
  return rows.filter((row) => row.bar_count > 0);
}

/** The flag by which `bourse delete` chooses rows of a column. */
function flagOf({ file: { fields, deletion } }: FileDataset, column: string): string | undefined {
  const selector = Object.entries(deletion?.selectors ?? {}).find(
    ([, { isAlone, column: of }]) => isAlone && of === column,
  );
  return selector?.[0] ?? fields[column]!.flag;
}

/**
 * The first dataset with rows that name an instrument, and the flags that choose them for `bourse delete`;
 * null where none has any.
 */
export async function useOf(
  reader: RowReader,
  name: InstrumentName,
): Promise<{ readonly dataset: FileDataset; readonly flags: string } | null> {
  const { asset_schema, country_iso_code } = name;
  for (const dataset of fileDatasets)
    for (const { assetSchema, symbol } of dataset.file.names ?? []) {
      const isText = typeof assetSchema === 'string';
      if (isText && assetSchema !== asset_schema) continue;
      const typed = isText ? {} : { [assetSchema.column]: asset_schema };
      const where = { ...typed, country_iso_code, [symbol]: name.symbol };
      for await (const _ of selectedRows(reader, dataset, { where, limit: 1 })) {
        const flags = Object.entries(where).map(([column, value]) => `${flagOf(dataset, column)} ${value}`);
        return { dataset, flags: flags.join(' ') };
      }
    }
  return null;
}

/** Deletes the instrument that a row is, unless something else needs it. */
export async function deleteOwn(
  writer: Writer,
  runId: number,
  dataset: Dataset,
  row: RowOf<Dataset>,
): Promise<boolean> {
  const named = namedBy(dataset, row).find(({ isOwn }) => isOwn);
  const own = named === undefined ? null : await rowWith(writer, instruments, named.name);
  if (own === null || (await useOf(writer, own)) !== null) return false;
  if ((await seriesWithBars(writer, own)).length > 0) return false;
  await changeRow(writer, runId, instruments, own, null);
  return true;
}
