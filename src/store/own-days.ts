// The days of an operator's own as stored, market by market.
import type { RowOf } from '../datasets/dataset.ts';
import { holidays } from '../datasets/holidays.ts';
import type { RowReader } from './store.ts';

const ROWS_PER_READ = 1_000;

/** Every stored day of a market, those of single instruments included, by symbol, date and priority. */
export async function readOwnDays(
  reader: RowReader,
  assetSchema: string,
  country: string,
): Promise<RowOf<typeof holidays>[]> {
  const found: RowOf<typeof holidays>[] = [];
  for (;;) {
    const last = found.at(-1);
    const rows = await reader.rows(holidays, {
      where: { country_iso_code: country, asset_name: assetSchema },
      order: [
        ['symbol', 'asc'],
        ['calendar_date', 'asc'],
        ['priority', 'asc'],
      ],
      ...(last === undefined ? {} : { after: [last.symbol, last.calendar_date, last.priority] }),
      limit: ROWS_PER_READ,
    });
    found.push(...rows);
    if (rows.length < ROWS_PER_READ) return found;
  }
}
