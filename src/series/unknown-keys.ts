// Instruments with an unknown calendar key. They follow the default market, and `bourse doctor` reports them.
import { marketOfKey } from '../market/calendar/calendar.ts';
import { instruments } from '../store/schema/reference.ts';
import type { Reader } from '../store/store.ts';

const ROWS_PER_READ = 5_000;

/** An instrument's name and its unknown key. */
type UnknownKey = { readonly name: string; readonly key: string };

/** The first `limit` instruments with an unknown calendar key, in order of asset type, country and symbol. */
export async function unknownCalendarKeys(reader: Reader, limit: number): Promise<UnknownKey[]> {
  const columns = ['asset_schema', 'country_iso_code', 'symbol'] as const;
  const read = { order: columns.map((column) => [column, 'asc'] as const), limit: ROWS_PER_READ };
  const found: UnknownKey[] = [];
  for (let after: string[] | undefined; found.length < limit; ) {
    const rows = await reader.rows(instruments, {
      ...read,
      ...(after && { after }),
    });
    for (const { calendar_key: key, ...row } of rows)
      if (key !== null && marketOfKey(key) === null)
        found.push({ name: columns.map((column) => row[column]).join(':'), key });
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_PER_READ) break;
    after = columns.map((column) => last[column]);
  }
  return found.slice(0, limit);
}
