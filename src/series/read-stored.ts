// Reads the stored series of an instrument, with its calendar.
import type { Interval } from '../contract/interval.ts';
import { series, unfinishedBars } from '../datasets/bars.ts';
import type { Instrument } from '../datasets/reference.ts';
import type { Reader } from '../store/store.ts';
import type { Calendars } from './calendars.ts';
import { servedBars } from './cursor.ts';
import { endOf } from './instrument-end.ts';
import { marketName, type Series, type StoredInstrument } from './series.ts';

/** A series without its unfinished bars; null where no other is left. */
async function withoutUnfinished(reader: Reader, row: Series): Promise<Series | null> {
  if (row.unfinished.length === 0) return row;
  const range = { fromMs: row.first_ms, toMs: row.last_ms + 1 };
  const first = await servedBars(reader, row, { ...range, descending: false }).next(1);
  const last = await servedBars(reader, row, { ...range, descending: true }).next(1);
  if (first === null || last === null) return null;
  return { ...row, first_ms: first.keyMs[0]!, last_ms: last.keyMs[last.count - 1]! };
}

/** Reads the series of an instrument. */
export async function readStored(
  reader: Reader,
  calendars: Calendars,
  instrument: Instrument,
): Promise<StoredInstrument> {
  const rows = await reader.group(series, { instrument_id: instrument.instrument_id });
  const { calendar, market } = await calendars.read(reader, instrument);
  const stored: Series[] = [];
  for (const row of rows) {
    if (row.bar_count === 0) continue;
    const unfinished = await reader.group(unfinishedBars, { series_id: row.series_id });
    unfinished.sort((a, b) => a.first_ms - b.first_ms);
    const served = await withoutUnfinished(reader, {
      ...row,
      interval: row.interval as Interval,
      unfinished,
    });
    if (served !== null) stored.push(served);
  }
  return {
    instrument,
    calendar,
    series: stored,
    market: marketName(instrument, market),
    endedMs: await endOf(reader, instrument, calendar),
  };
}
