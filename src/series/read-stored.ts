// Reads the stored series of an instrument with its calendar, and what was known of them at a moment: only
// bars that had closed (contract 9.8).

import { firstWhere } from '../base/ascending.ts';
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { bucketOf } from '../market/bars/block.ts';
import { type Bars, sliceBars } from '../market/bars/columns.ts';
import { countOffGrid } from '../market/bars/grid.ts';
import { closesAfter } from '../market/calendar/bar-end.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { soundBlocks } from '../store/all-blocks.ts';
import { series } from '../store/schema/bars.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import type { Instrument } from '../store/schema/reference.ts';
import type { Reader } from '../store/store.ts';
import type { Calendars } from './calendars.ts';
import { coveredTimes, type Traded } from './covered-times.ts';
import { mapped, servedBars } from './cursor.ts';
import { seriesLimits } from './limits.ts';
import { type BegunRun, begunRuns, lateFrom, ownRuns, runsOf } from './run-spans.ts';
import { asStored, endOf, marketName, type Series, type StoredInstrument, tradedUntil } from './series.ts';
import { finishedSeries } from './unfinished.ts';

/** True if bars, of which there is at least one, are off the session grid. */
function areOffGrid(calendar: Calendar, bars: Bars, minutes: number): boolean {
  // The last bar may reach into a session that opens late.
  const endMs = bars.keyMs[bars.count - 1]! + minutes * MINUTE_MS;
  return countOffGrid(bars, calendar.segments(bars.keyMs[0]!, endMs, 'all'), minutes) > 0;
}

/**
 * The key of the first bar of a series off the session grid; infinite where it has none. A minute is never
 * off it. Damaged blocks are left out.
 */
async function firstOffGrid(
  reader: Reader,
  calendar: Calendar,
  { series_id, interval, first_ms, last_ms }: SeriesKeys,
): Promise<number> {
  const minutes = intervalMinutes(interval);
  if (minutes === null || minutes === 1) return Number.POSITIVE_INFINITY;
  const buckets = { fromBucket: bucketOf(interval, first_ms), toBucket: bucketOf(interval, last_ms) };
  for await (const { bars } of soundBlocks(reader, { seriesId: series_id, ...buckets })) {
    if (bars.count === 0 || !areOffGrid(calendar, bars, minutes)) continue;
    return bars.keyMs[
      firstWhere(bars.count, (at) => areOffGrid(calendar, sliceBars(bars, 0, at + 1), minutes))
    ]!;
  }
  return Number.POSITIVE_INFINITY;
}

/** A stored series by the keys of its first and its last bar. */
type SeriesKeys = {
  readonly series_id: number;
  readonly interval: Interval;
  readonly first_ms: number;
  readonly last_ms: number;
};

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

/** Keys of DAY and above are label dates: a session that is over may be labelled by a later UTC date. */
const LABEL_SLACK_MS = 2 * DAY_MS;

/** The calendar of an instrument, and what was known of it at a moment. */
type Known = { readonly calendar: Calendar; readonly known: Calendar };

/**
 * The part of a series that was known at a moment, by the calendar of then; null where no bar had closed.
 */
async function knownPart(
  reader: Reader,
  { calendar, known }: Known,
  series: Series,
  ms: number,
): Promise<Series | null> {
  const { interval, isOffGrid: isOff, first_ms: fromMs, last_ms: lastMs } = series;
  if (!closesAfter(known, { interval, isOffGrid: isOff }, lastMs, ms))
    return known === calendar ? series : { ...series, isPart: true };
  const offGridMs = isOff ? await firstOffGrid(reader, calendar, series) : Number.POSITIVE_INFINITY;
  const range = { fromMs, toMs: Math.min(lastMs + 1, ms + LABEL_SLACK_MS), descending: true };
  const lastKnown = ({ count, keyMs }: Bars): Series | null => {
    for (let at = count - 1; at >= 0; at--) {
      const last_ms = keyMs[at]!;
      const isOffGrid = offGridMs <= last_ms;
      if (!closesAfter(known, { interval, isOffGrid }, last_ms, ms))
        return { ...series, last_ms, isOffGrid, isPart: true };
    }
    return null;
  };
  return mapped(servedBars(reader, series, range), lastKnown, seriesLimits.skippedBarsPerStep).next(1);
}

/**
 * The series of an instrument as they were known: those with a bar that had closed, and of each the bars up
 * to its last one.
 */
export async function knownSeries(
  reader: Reader,
  calendars: Known,
  all: readonly Series[],
  ms: number,
): Promise<Series[]> {
  const found: Series[] = [];
  for (const one of all) {
    const part = await knownPart(reader, calendars, one, ms);
    if (part !== null) found.push(part);
  }
  return found;
}
