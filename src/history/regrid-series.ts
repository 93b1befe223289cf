// Which series of an instrument are off the session grid, after a change of its calendar (contract 3.10).
import type { Instrument } from '../datasets/reference.ts';
import { Calendars } from '../series/calendars.ts';
import type { Writer } from '../store/store.ts';
import { seriesWithBars } from './instrument-uses.ts';
import { StoredSeries } from './stored-series.ts';

/** The columns that choose an instrument's calendar. */
const calendarColumns = ['time_zone', 'calendar_key', 'parent_schema_instrument_id'] as const;

/** Finds anew which series of a stored instrument are off the grid, where the columns that choose its calendar differ. */
export async function regridSeries(writer: Writer, before: Instrument, after: Instrument): Promise<void> {
  if (calendarColumns.every((column) => before[column] === after[column])) return;
  await regridAll(writer, after);
}

/** Finds anew which series of a stored instrument are off the grid. */
export async function regridAll(writer: Writer, instrument: Instrument): Promise<void> {
  const calendar = await new Calendars().of(writer, instrument);
  for (const row of await seriesWithBars(writer, instrument))
    await new StoredSeries(writer, row, calendar).regrid();
}
