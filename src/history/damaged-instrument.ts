// An instrument whose row is damaged: its identifier is kept, because its series and contracts have it.
import { type Instrument, type InstrumentName, instruments } from '../datasets/reference.ts';
import { soundRowWith } from '../store/all-rows.ts';
import { rowDamage } from '../store/checked-rows.ts';
import { DamagedData } from '../store/damage.ts';
import type { Writer } from '../store/store.ts';
import { changeRow, putRow } from './journal.ts';

/**
 * The identifier in a damaged row of an instrument; null without such a row.
 * @throws DamagedData where the index of identifiers has another one
 */
export async function damagedId(writer: Writer, name: InstrumentName): Promise<number | null> {
  const { asset_schema, country_iso_code, symbol } = name;
  const where = { asset_schema, country_iso_code, symbol };
  const { remains } = await soundRowWith(writer, instruments, where);
  if (remains === null) return null;
  const instrument_id = remains.instrument_id as number;
  const byId = await soundRowWith(writer, instruments, { instrument_id });
  if (byId.remains !== null) return instrument_id;
  throw new DamagedData(rowDamage(instruments, remains, 'its identifier is damaged: restore a backup'));
}

/**
 * Puts the row of an instrument in place of a damaged one, with its search terms. Undoing the run leaves the
 * row as it is: its series need it.
 */
export async function repairInstrument(writer: Writer, runId: number, row: Instrument): Promise<void> {
  await changeRow(writer, runId, instruments, row, row);
  await putRow(writer, instruments, null, row);
}
