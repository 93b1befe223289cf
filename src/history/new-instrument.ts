// Instruments that the store does not know yet, and the identifiers that it gives out.
import type { RowOf } from '../datasets/dataset.ts';
import { counters, rowChanges } from '../datasets/internal.ts';
import { instruments } from '../datasets/reference.ts';
import type { Writer } from '../store/store.ts';
import { rowKeyOf } from './journal.ts';

/** The first identifier given out. */
const FIRST_INSTRUMENT_ID = 100_001;

/** Changes of an instrument that are looked through for the identifiers that it had: the newest ones have them. */
const CHANGES_OF_NAME_MAX = 100;

/** What an instrument is known by. */
export type InstrumentName = Pick<RowOf<typeof instruments>, 'asset_schema' | 'country_iso_code' | 'symbol'>;

/** The next value of a counter, which is never given out again. */
export async function nextValue(writer: Writer, name: string, first: number): Promise<number> {
  const [counter] = await writer.rows(counters, { where: { name }, order: [['name', 'asc']], limit: 1 });
  const value = counter === undefined ? first : counter.value + 1;
  await writer.upsert(counters, [{ name, value }]);
  return value;
}

/** A new instrument of which nothing but its name is known. One that was deleted comes back under the identifiers it had. */
export async function newInstrument(
  writer: Writer,
  name: InstrumentName,
): Promise<RowOf<typeof instruments>> {
  const blank = Object.fromEntries(Object.keys(instruments.columns).map((column) => [column, null]));
  return { ...blank, ...name, ...(await identifiersOf(writer, name)) } as RowOf<typeof instruments>;
}

async function identifiersOf(
  writer: Writer,
  name: InstrumentName,
): Promise<Pick<RowOf<typeof instruments>, 'instrument_id' | 'asset_id'>> {
  const found = await writer.rows(rowChanges, {
    where: { dataset: instruments.name, row_key: rowKeyOf(instruments, name) },
    order: [['run_id', 'desc']],
    limit: CHANGES_OF_NAME_MAX,
  });
  const deleted = (found.find(({ before }) => before !== null)?.before ?? null) as RowOf<
    typeof instruments
  > | null;
  if (deleted !== null) return { instrument_id: deleted.instrument_id, asset_id: deleted.asset_id };
  const id = await nextValue(writer, 'instrument_id', FIRST_INSTRUMENT_ID);
  return { instrument_id: id, asset_id: id };
}
