// Reads the stored series of an instrument, with its calendar.
import type { Calendar } from '../market/calendar/calendar.ts';
import { series } from '../store/schema/bars.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import type { Instrument } from '../store/schema/reference.ts';
import type { Reader } from '../store/store.ts';
import type { Calendars } from './calendars.ts';
import { coveredTimes, type Traded } from './covered-times.ts';
import { lateFrom } from './file-span.ts';
import { endOf, tradedUntil } from './instrument-end.ts';
import { firstOffGrid } from './off-grid-bars.ts';
import { type BegunRun, begunRuns, ownRuns, runsOf } from './run-spans.ts';
import { asStored, marketName, type Series, type StoredInstrument } from './series.ts';
import { finishedSeries } from './unfinished.ts';

/**
 * A series that has bars, without those that are not finished; null where no other is left. `files` are those
 * that hold it. Its bars are read only where a file began before one may have closed.
 */
export async function readFinished(
  reader: Reader,
  calendar: Calendar,
  row: RowOf<typeof series>,
  files: readonly BegunRun[],
): Promise<Series | null> {
  const stored = asStored(row);
  if (!files.some((file) => lateFrom(file, calendar, true) !== null)) return stored;
  const isOffGrid = (await firstOffGrid(reader, calendar, stored)) < Number.POSITIVE_INFINITY;
  return finishedSeries(reader, calendar, { ...stored, isOffGrid }, files);
}

/** A series that has bars, with what follows from its facts; null where none of its bars is finished. */
async function readSeries(
  reader: Reader,
  calendar: Calendar,
  traded: Traded,
  row: RowOf<typeof series>,
): Promise<Series | null> {
  const stored = asStored(row);
  const isOffGrid = (await firstOffGrid(reader, calendar, stored)) < Number.POSITIVE_INFINITY;
  const runs = await runsOf(reader, row);
  const files = begunRuns(runs);
  const served = await finishedSeries(reader, calendar, { ...stored, isOffGrid }, files);
  return served && { ...served, covered: coveredTimes(calendar, stored, traded, { runs, files }) };
}

/** A series with the times that are covered of an instrument which is traded otherwise. */
export async function tradedOtherwise(
  reader: Reader,
  calendar: Calendar,
  one: Series,
  traded: Traded,
): Promise<Series> {
  const { runs, files } = await ownRuns(reader, one);
  return { ...one, covered: coveredTimes(calendar, one, traded, { runs, files }) };
}

/** Reads the series of an instrument. */
export async function readStored(
  reader: Reader,
  calendars: Calendars,
  instrument: Instrument,
): Promise<StoredInstrument> {
  const rows = await reader.group(series, { instrument_id: instrument.instrument_id });
  const { calendar, market } = await calendars.read(reader, instrument);
  const traded = { ...instrument, endMs: await tradedUntil(reader, instrument, calendar) };
  const found: Series[] = [];
  for (const row of rows) {
    const one = row.bar_count === 0 ? null : await readSeries(reader, calendar, traded, row);
    if (one !== null) found.push(one);
  }
  return {
    instrument,
    calendar,
    series: found,
    market: marketName(instrument, market),
    endedMs: await endOf(reader, instrument, calendar),
  };
}
