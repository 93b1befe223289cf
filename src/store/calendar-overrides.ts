// The calendar overrides that an operator has imported, read market by market.
import type { RowOf } from './schema/dataset.ts';
import { holidays } from './schema/holidays.ts';
import type { RowReader } from './store.ts';

/** All overrides of a market, those of single instruments included, by symbol, date and priority. */
export function readOverrides(
  reader: RowReader,
  assetSchema: string,
  country: string,
): Promise<RowOf<typeof holidays>[]> {
  return reader.group(holidays, { country_iso_code: country, asset_name: assetSchema });
}
