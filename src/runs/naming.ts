// The instruments that rows name, by the declaration of their dataset, and what an instrument is needed
// for: its bars, and the rows that name it; and what goes with a row that is removed.
import { parseDay } from '../base/instant.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { calendarOf } from '../market/calendar/calendar.ts';
import { rowWith } from '../store/all-rows.ts';
import type { FormerBearer } from '../store/instrument-terms.ts';
import { rowKeyOf, valuesOfKey } from '../store/journal-entries.ts';
import { series } from '../store/schema/bars.ts';
import type { Dataset, Naming, RowOf, Values } from '../store/schema/dataset.ts';
import { type FileDataset, fileDatasets } from '../store/schema/index.ts';
import { type Instrument, type InstrumentName, instruments } from '../store/schema/reference.ts';
import { selectedRows } from '../store/selected-rows.ts';
import type { RowReader, Writer } from '../store/store.ts';
import { changeRows, removeInstrument } from './journal.ts';
import { damagedRow, removeDamagedRow } from './remove-damaged.ts';

const textIn = (row: Values, column: string): string | null => (row[column] ?? null) as string | null;

/** The instrument that a row names in one way; null where it names none. */
export function nameIn(row: Values, { assetSchema, symbol: column }: Naming): InstrumentName | null {
  const asset_schema = typeof assetSchema === 'string' ? assetSchema : textIn(row, assetSchema.column);
  const country_iso_code = textIn(row, 'country_iso_code');
  const symbol = textIn(row, column);
  if (asset_schema === null || country_iso_code === null || symbol === null || symbol === '*') return null;
  return { asset_schema, country_iso_code, symbol };
}

/**
 * The instruments that a row names. A new one gets the `exchange`, where the row has it; with `isOwn` the row
 * is the instrument.
 */
export function namedBy(
  { file }: Dataset,
  row: Values,
): { readonly name: InstrumentName; readonly exchange: string | null; readonly isOwn: boolean }[] {
  return (file?.names ?? []).flatMap((naming) => {
    const name = nameIn(row, naming);
    if (name === null) return [];
    const exchange = naming.exchange === undefined ? null : textIn(row, naming.exchange);
    return [{ name, exchange, isOwn: naming.isOwn === true }];
  });
}

/** True if rows of a dataset name an instrument by its symbol on a day (contract 9.6). */
export const namesByDay = (dataset: Dataset | undefined): boolean =>
  dataset?.file?.names?.some(({ on }) => on !== undefined) === true;

/**
 * The instrument that a row is about, the column of its symbol, and the day number on which it had that; null
 * where the row names none.
 */
export function namedOnDay(
  { file, columns }: Dataset,
  row: Values,
): { readonly column: string; readonly name: InstrumentName; readonly day: number } | null {
  const naming = file?.names?.find(({ on }) => on !== undefined);
  if (naming === undefined) return null;
  const name = nameIn(row, naming);
  const time = naming.on!.find((column) => (row[column] ?? null) !== null);
  if (name === null || time === undefined) return null;
  const { kind } = columns[time]!;
  const day =
    kind === 'instant'
      ? dayOf(name, row[time] as number)
      : kind === 'text'
        ? parseDay(row[time] as string)!
        : (row[time] as number);
  return { column: naming.symbol, name, day };
}

/** The day number of an instant in the zone of an instrument's market. */
export const dayOf = ({ asset_schema, country_iso_code }: InstrumentName, ms: number): number =>
  calendarOf(asset_schema as AssetSchema, country_iso_code).zone.dayAt(ms);

/** Which former bearer of a symbol had it on a day; undefined: the instrument that has it now. */
export const bearerOn = (bearers: readonly FormerBearer[], day: number): FormerBearer | undefined =>
  bearers.find(({ fromDay, toDay }) => fromDay <= day && day <= toDay);

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
  await removeInstrument(writer, runId, own);
  return true;
}

/** Removes in a run the row beside one that it removes, and a damaged one too: true where it was damaged. */
export async function removeBeside(
  writer: Writer,
  runId: number,
  { file }: Dataset,
  row: Values,
): Promise<boolean> {
  const beside = file?.beside?.dataset;
  if (beside === undefined) return false;
  try {
    const stored = await rowWith(writer, beside, valuesOfKey(beside, rowKeyOf(beside, row)));
    if (stored !== null) await changeRows(writer, runId, beside, [{ before: stored, after: null }]);
    return false;
  } catch (error) {
    const damaged = damagedRow(beside, error);
    if (damaged === null) throw error;
    await removeDamagedRow(writer, beside, damaged);
    return true;
  }
}
