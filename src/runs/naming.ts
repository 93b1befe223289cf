// The instruments that a row names, by its dataset's declaration.
import { parseDay } from '../base/instant.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { calendarOf } from '../market/calendar/calendar.ts';
import type { FormerBearer } from '../store/instrument-terms.ts';
import type { Dataset, Naming, Values } from '../store/schema/dataset.ts';
import type { InstrumentName } from '../store/schema/reference.ts';

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
