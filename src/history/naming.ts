// The instruments that a row names, by its dataset's declaration.
import { parseDay } from '../base/instant.ts';
import { calendarOf } from '../calendar/calendar.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import type { Dataset, Naming } from '../datasets/dataset.ts';
import type { Values } from '../datasets/field.ts';
import type { InstrumentName } from '../datasets/reference.ts';

/** An instrument as a row names it. */
export type Named = {
  readonly name: InstrumentName;
  /** The exchange that it gets where it is made; null where the row says nothing of it. */
  readonly exchange: string | null;
  /** Whether the row is the instrument. */
  readonly isOwn: boolean;
};

/** An instrument that a row names by the symbol that it had on a day. */
export type NamedOnDay = {
  /** The column of the symbol. */
  readonly column: string;
  readonly name: InstrumentName;
  /** Day number. */
  readonly day: number;
};

const textIn = (row: Values, column: string): string | null => (row[column] ?? null) as string | null;

/** The asset type of the instruments that a naming is about, in a row. */
const assetSchemaIn = (row: Values, { assetSchema }: Naming): string | null =>
  typeof assetSchema === 'string' ? assetSchema : textIn(row, assetSchema.column);

function nameIn(row: Values, naming: Naming): InstrumentName | null {
  const asset_schema = assetSchemaIn(row, naming);
  const country_iso_code = textIn(row, 'country_iso_code');
  const symbol = textIn(row, naming.symbol);
  if (asset_schema === null || country_iso_code === null || symbol === null || symbol === '*') return null;
  return { asset_schema, country_iso_code, symbol };
}

/** The instruments that a row names. */
export function namedBy({ file }: Dataset, row: Values): Named[] {
  return (file?.names ?? []).flatMap((naming) => {
    const name = nameIn(row, naming);
    if (name === null) return [];
    const exchange = naming.exchange === undefined ? null : textIn(row, naming.exchange);
    return [{ name, exchange, isOwn: naming.isOwn === true }];
  });
}

/** The instrument that a row is about and the day on which it had the symbol; null where it names none. */
export function namedOnDay({ file, columns }: Dataset, row: Values): NamedOnDay | null {
  const naming = file?.names?.find(({ on }) => on !== undefined);
  if (naming === undefined) return null;
  const name = nameIn(row, naming);
  const time = naming.on!.find((column) => (row[column] ?? null) !== null);
  if (name === null || time === undefined) return null;
  const { kind } = columns[time]!;
  if (kind === 'instant') {
    const { zone } = calendarOf(name.asset_schema as AssetSchema, name.country_iso_code);
    return { column: naming.symbol, name, day: zone.dayAt(row[time] as number) };
  }
  const day = kind === 'text' ? parseDay(row[time] as string)! : (row[time] as number);
  return { column: naming.symbol, name, day };
}
