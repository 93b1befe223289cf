// What the store holds of an instrument's bars: its series, its calendar, and how far imports completed each series.
import type { Calendar } from '../calendar/calendar.ts';
import {
  INTERVAL_MINUTES_MAX,
  type Interval,
  intervalMinutes,
  namedIntervals,
} from '../contract/interval.ts';
import { barCoverage, series } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import type { Instrument } from '../datasets/reference.ts';
import type { Reader } from '../store/store.ts';
import type { Calendars } from './calendars.ts';

/** One stored series of an instrument, and when the newest import of its kind was finished (contract 3.9). */
export type Series = Omit<RowOf<typeof series>, 'interval'> & {
  readonly interval: Interval;
  readonly coveredMs: number;
};

/** An instrument with its calendar and those of its series that have bars. */
export type StoredInstrument = {
  readonly instrument: Instrument;
  readonly calendar: Calendar;
  readonly series: readonly Series[];
};

/** More series than an instrument can have: each minute interval, DAY, WEEK and MON. */
const SERIES_MAX = 1500;

/** Minutes, for comparing how coarse series are; DAY, WEEK and MON come after all of them. */
export const coarseness = ({ interval }: Series): number =>
  intervalMinutes(interval) ?? INTERVAL_MINUTES_MAX + namedIntervals.indexOf(interval);

/** Reads the series of an instrument. */
export async function readStored(
  reader: Reader,
  calendars: Calendars,
  instrument: Instrument,
): Promise<StoredInstrument> {
  const { asset_schema, country_iso_code, instrument_id } = instrument;
  const rows = await reader.rows(series, {
    where: { instrument_id },
    order: [['interval', 'asc']],
    limit: SERIES_MAX,
  });
  const coverage = await reader.rows(barCoverage, {
    where: { asset_schema, country_iso_code },
    order: [['interval', 'asc']],
    limit: SERIES_MAX,
  });
  const finished = new Map(coverage.map((row) => [row.interval, row.finished_ms]));
  return {
    instrument,
    calendar: await calendars.of(reader, instrument),
    series: rows
      .filter((row) => row.bar_count > 0)
      .map((row) => ({
        ...row,
        interval: row.interval as Interval,
        coveredMs: finished.get(row.interval) ?? Number.NEGATIVE_INFINITY,
      })),
  };
}
