// Which stored series of an instrument are off the session grid, after a change of its calendar (contract 3.10).
import { optionContracts } from '../datasets/options.ts';
import { type Instrument, instruments } from '../datasets/reference.ts';
import { Calendars } from '../series/calendars.ts';
import { rowWith } from '../store/all-rows.ts';
import { ignoreDamage } from '../store/damage.ts';
import { selectedRows } from '../store/selected-rows.ts';
import type { Reader, Writer } from '../store/store.ts';
import { seriesWithBars } from './instrument-uses.ts';
import { StoredSeries } from './stored-series.ts';

/** The columns that choose an instrument's calendar. */
const calendarColumns = ['time_zone', 'calendar_key', 'parent_schema_instrument_id'] as const;

/** Whether an instrument may follow another calendar than before. */
export const changesCalendar = (before: Instrument, after: Instrument): boolean =>
  calendarColumns.some((column) => before[column] !== after[column]);

/** Finds anew which series of a stored instrument, and of its options, are off the grid, where it may follow another calendar. */
export async function regridSeries(writer: Writer, before: Instrument, after: Instrument): Promise<void> {
  if (changesCalendar(before, after)) await regridAll(writer, after);
}

/** Finds anew which series of a stored instrument, and of its options, are off the grid. */
export async function regridAll(writer: Writer, instrument: Instrument): Promise<void> {
  const calendars = new Calendars();
  await regridOwn(writer, instrument, calendars);
  for await (const instrument_id of optionsOf(writer, instrument)) {
    const option = await rowWith(writer.sound(ignoreDamage), instruments, { instrument_id });
    if (option !== null) await regridOwn(writer, option, calendars);
  }
}

/** The numbers of an instrument's options, which follow its calendar. */
export async function* optionsOf(reader: Reader, instrument: Instrument): AsyncGenerator<number> {
  if (instrument.asset_schema === 'option') return;
  const { asset_schema, country_iso_code, symbol } = instrument;
  const where = { country_iso_code, parent_asset_schema: asset_schema, underlying_name: symbol };
  for await (const { instrument_id } of selectedRows(reader.sound(ignoreDamage), optionContracts, { where }))
    yield instrument_id;
}

async function regridOwn(writer: Writer, instrument: Instrument, calendars: Calendars): Promise<void> {
  const rows = await seriesWithBars(writer, instrument);
  if (rows.length === 0) return;
  const calendar = await calendars.of(writer, instrument);
  for (const row of rows) await new StoredSeries(writer, row, calendar).regrid();
}
