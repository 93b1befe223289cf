// What an instrument is needed for: its bars, and the rows of other datasets that name it.
import { series } from '../datasets/bars.ts';
import type { Naming, RowOf } from '../datasets/dataset.ts';
import { type FileDataset, fileDatasets } from '../datasets/index.ts';
import type { Instrument, InstrumentName } from '../datasets/reference.ts';
import { selectedRows } from '../store/selected-rows.ts';
import type { RowReader } from '../store/store.ts';

/** Rows of a dataset that name an instrument, found along an index. */
type Use = {
  readonly dataset: FileDataset;
  readonly where: Readonly<Record<string, string>>;
  /** What chooses them for `bourse delete`. */
  readonly flags: string;
};

/** No instrument has more series. */
const SERIES_MAX = 1500;

/** The series of an instrument that have bars. */
export async function seriesWithBars(
  reader: RowReader,
  { instrument_id }: Pick<Instrument, 'instrument_id'>,
): Promise<RowOf<typeof series>[]> {
  const found = await reader.rows(series, {
    where: { instrument_id },
    order: [['interval', 'asc']],
    limit: SERIES_MAX,
  });
  return found.filter((row) => row.bar_count > 0);
}

/** The flag by which `bourse delete` chooses rows of a column. */
function flagOf({ file: { fields, deletion } }: FileDataset, column: string): string | undefined {
  const selector = Object.entries(deletion?.selectors ?? {}).find(
    ([, { isAlone, column: of }]) => isAlone && of === column,
  );
  return selector?.[0] ?? fields[column]!.flag;
}

function useBy(dataset: FileDataset, naming: Naming, name: InstrumentName): Use | null {
  const { assetSchema, symbol } = naming;
  if (typeof assetSchema === 'string' && assetSchema !== name.asset_schema) return null;
  const typed = typeof assetSchema === 'string' ? {} : { [assetSchema.column]: name.asset_schema };
  const where = { ...typed, country_iso_code: name.country_iso_code, [symbol]: name.symbol };
  const flags = Object.entries(where).map(([column, value]) => `${flagOf(dataset, column)} ${value}`);
  return { dataset, where, flags: flags.join(' ') };
}

/** Rows that name an instrument, of the first dataset that has some; null where none has. */
export async function useOf(reader: RowReader, name: InstrumentName): Promise<Use | null> {
  for (const dataset of fileDatasets)
    for (const naming of dataset.file.names ?? []) {
      const use = useBy(dataset, naming, name);
      if (use !== null && (await hasRow(reader, dataset, use.where))) return use;
    }
  return null;
}

async function hasRow(reader: RowReader, dataset: FileDataset, where: Use['where']): Promise<boolean> {
  for await (const _ of selectedRows(reader, dataset, { where, limit: 1 })) return true;
  return false;
}
