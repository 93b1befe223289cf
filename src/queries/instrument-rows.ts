// The rows of instruments that a search has found.

import { rowsAmong } from '../store/all-rows.ts';
import { lostInstrument } from '../store/instrument-terms.ts';
import { type Instrument, instruments } from '../store/schema/reference.ts';
import type { Reader } from '../store/store.ts';
import type { FoundName } from '../store/term-search.ts';

const nameOf = ({ country_iso_code, symbol }: FoundName): string => `${country_iso_code}:${symbol}`;

/**
 * The rows of instruments, in the given order. One read for each country is many times as fast as one for
 * each row.
 * @throws DamagedData for one whose row is lost
 */
export async function instrumentRows(
  reader: Reader,
  assetSchema: string,
  found: readonly FoundName[],
): Promise<Instrument[]> {
  const rows = new Map<string, Instrument>();
  for (const [country, members] of Map.groupBy(found, ({ country_iso_code }) => country_iso_code)) {
    const where = { asset_schema: assetSchema, country_iso_code: country };
    const symbols = [...new Set(members.map(({ symbol }) => symbol))];
    for (const row of await rowsAmong(reader, instruments, where, 'symbol', symbols))
      rows.set(nameOf(row), row);
  }
  return found.map((one) => {
    const row = rows.get(nameOf(one));
    if (row === undefined) throw lostInstrument({ asset_schema: assetSchema, ...one });
    return row;
  });
}
