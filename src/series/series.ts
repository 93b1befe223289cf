// The stored series of an instrument, its calendar, and how far imports completed each series.
import { type Calendar, findMarket } from '../calendar/calendar.ts';
import type { Market } from '../calendar/market.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import {
  INTERVAL_MINUTES_MAX,
  type Interval,
  intervalMinutes,
  namedIntervals,
} from '../contract/interval.ts';
import { barCoverage, series } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { importRuns } from '../datasets/internal.ts';
import type { Instrument } from '../datasets/reference.ts';
import { everyBucket } from '../store/all-blocks.ts';
import { rowWith } from '../store/all-rows.ts';
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

/** The columns of `bar_coverage` that select the imports into an instrument's market. Several venues never mix. */
export function coverageOwner(
  { asset_schema, country_iso_code }: Pick<Instrument, 'asset_schema' | 'country_iso_code'>,
  market: Market | null,
) {
  const isDefault = findMarket(asset_schema as AssetSchema, country_iso_code) === market;
  return { asset_schema: isDefault ? asset_schema : `${asset_schema}/${market!.key}`, country_iso_code };
}

/** When the newest import into an instrument's market finished, by interval. */
async function readCoverage(
  reader: Reader,
  instrument: Instrument,
  market: Market | null,
): Promise<ReadonlyMap<string, number>> {
  const where = coverageOwner(instrument, market);
  const rows = await reader.rows(barCoverage, { where, order: [['interval', 'asc']], limit: SERIES_MAX });
  return new Map(rows.map(({ interval, finished_ms }) => [interval, finished_ms]));
}

/** When the run that wrote a series' last block finished: its key may have changed since, and with it the market of its imports. */
async function lastRunMs(reader: Reader, seriesId: number): Promise<number> {
  const [last] = await reader.blocks({ seriesId, ...everyBucket, direction: 'desc', limit: 1 });
  const run = last === undefined ? null : await rowWith(reader, importRuns, { run_id: last.runId });
  return run === null || run.undone_ms !== null ? Number.NEGATIVE_INFINITY : run.finished_ms;
}

/** Reads the series of an instrument. */
export async function readStored(
  reader: Reader,
  calendars: Calendars,
  instrument: Instrument,
): Promise<StoredInstrument> {
  const rows = await reader.rows(series, {
    where: { instrument_id: instrument.instrument_id },
    order: [['interval', 'asc']],
    limit: SERIES_MAX,
  });
  const { calendar, market } = await calendars.read(reader, instrument);
  const finished = await readCoverage(reader, instrument, market);
  const stored: Series[] = [];
  for (const row of rows) {
    if (row.bar_count === 0) continue;
    const ofMarket = finished.get(row.interval) ?? Number.NEGATIVE_INFINITY;
    const hasKey = instrument.calendar_key !== null;
    const coveredMs = hasKey ? Math.max(ofMarket, await lastRunMs(reader, row.series_id)) : ofMarket;
    stored.push({ ...row, interval: row.interval as Interval, coveredMs });
  }
  return { instrument, calendar, series: stored };
}
