// The calendar overrides that an operator has imported, read market by market.
import type { RowOf } from '../datasets/dataset.ts';
import { holidays } from '../datasets/holidays.ts';
import { allRows } from './all-rows.ts';
import type { RowReader } from './store.ts';

/** All overrides of a market, those of single instruments included, by symbol, date and priority. */
export async function readOverrides(
  reader: RowReader,
  assetSchema: string,
  country: string,
): Promise<RowOf<typeof holidays>[]> {
  const found: RowOf<typeof holidays>[] = [];
  const market = { country_iso_code: country, asset_name: assetSchema };
  for await (const row of allRows(reader, holidays, market)) found.push(row);
  return found;
}
