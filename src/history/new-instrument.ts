// Instruments that the store does not know yet, and the identifiers that it gives out.
import { counters, rowChanges } from '../datasets/internal.ts';
import { type Instrument, type InstrumentName, instruments } from '../datasets/reference.ts';
import { ignoreDamage } from '../store/damage.ts';
import type { Writer } from '../store/store.ts';
import { damagedId } from './damaged-instrument.ts';
import { rowKeyOf } from './journal.ts';

/** The first identifier given out. */
const FIRST_INSTRUMENT_ID = 100_001;

/** Changes of an instrument in which its former identifiers are looked up: the newest ones have them. */
const CHANGES_OF_NAME_MAX = 100;

/** The next value of a counter. No value is given out twice. */
export async function nextValue(writer: Writer, name: string, first: number): Promise<number> {
  const [counter] = await writer.group(counters, { name });
  const value = counter === undefined ? first : counter.value + 1;
  await writer.upsert(counters, [{ name, value }]);
  return value;
}

/** A new instrument with nothing but its name. One that was deleted, or whose row is damaged, gets its former identifiers again. */
export async function newInstrument(writer: Writer, name: InstrumentName): Promise<Instrument> {
  const blank = Object.fromEntries(Object.keys(instruments.columns).map((column) => [column, null]));
  const found = await writer.sound(ignoreDamage).rows(rowChanges, {
    where: { dataset: instruments.name, row_key: rowKeyOf(instruments, name) },
    order: [['run_id', 'desc']],
    limit: CHANGES_OF_NAME_MAX,
  });
  const deleted = found.find(({ before }) => before !== null)?.before as Instrument | undefined;
  const instrument_id =
    (await damagedId(writer, name)) ??
    deleted?.instrument_id ??
    (await nextValue(writer, 'instrument_id', FIRST_INSTRUMENT_ID));
  const asset_id = deleted?.asset_id ?? instrument_id;
  return { ...blank, ...name, instrument_id, asset_id } as Instrument;
}
