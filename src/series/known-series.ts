// The series of an instrument as they were known at a moment: only bars that had closed (contract 9.8).
import { sliceBars } from '../bars/columns.ts';
import { countOffGrid } from '../bars/grid.ts';
import { DAY_MS, FIRST_MS, MINUTE_MS } from '../base/instant.ts';
import { firstWhere } from '../base/search.ts';
import { closesAfter } from '../calendar/bar-end.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { intervalMinutes } from '../contract/interval.ts';
import type { Reader } from '../store/store.ts';
import { servedBars } from './cursor.ts';
import type { Series, StoredInstrument } from './series.ts';

/** Keys of DAY and above are label dates: a session that is over may be labelled by a later UTC date. */
const LABEL_SLACK_MS = 2 * DAY_MS;

const BARS_PER_READ = 4_096;

/** The key of the first bar off the session grid of each series that was asked for; infinite where it has none. */
const firstOffGrid = new WeakMap<Series, Promise<number>>();

async function findOffGrid(reader: Reader, calendar: Calendar, series: Series): Promise<number> {
  const { interval, first_ms: fromMs, last_ms: lastMs } = series;
  const minutes = intervalMinutes(interval)!;
  const source = servedBars(reader, series, { fromMs, toMs: lastMs + 1, descending: false });
  for (;;) {
    const bars = await source.next(BARS_PER_READ);
    if (bars === null) return Number.POSITIVE_INFINITY;
    const endMs = bars.keyMs[bars.count - 1]! + minutes * MINUTE_MS;
    const segments = calendar.segments(bars.keyMs[0]!, endMs, 'all');
    const isOff = (at: number): boolean => countOffGrid(sliceBars(bars, 0, at + 1), segments, minutes) > 0;
    const first = firstWhere(bars.count, isOff);
    if (first < bars.count) return bars.keyMs[first]!;
  }
}

/** From which key on a series has bars off the session grid; infinite where it has none. It is read once for a series as it is stored. */
function offGridFrom(reader: Reader, calendar: Calendar, series: Series): Promise<number> {
  if (!series.off_grid) return Promise.resolve(Number.POSITIVE_INFINITY);
  const known = firstOffGrid.get(series);
  if (known !== undefined) return known;
  const found = findOffGrid(reader, calendar, series);
  firstOffGrid.set(series, found);
  found.catch(() => firstOffGrid.delete(series));
  return found;
}

/** What was known of a series at a moment, by the calendar that was known then; null where no bar had closed. */
async function knownPart(
  reader: Reader,
  { calendar, known }: { readonly calendar: Calendar; readonly known: Calendar },
  series: Series,
  ms: number,
): Promise<Series | null> {
  const { interval, off_grid, first_ms: fromMs, last_ms: lastMs } = series;
  if (!closesAfter(known, { interval, isOffGrid: off_grid }, lastMs, ms))
    return known === calendar ? series : { ...series, isPart: true };
  const offGridMs = await offGridFrom(reader, calendar, series);
  const range = { fromMs, toMs: Math.min(lastMs + 1, ms + LABEL_SLACK_MS), descending: true };
  const source = servedBars(reader, series, range);
  for (;;) {
    const step = await source.next(1);
    if (step === null) return null;
    for (let at = step.count - 1; at >= 0; at--) {
      const keyMs = step.keyMs[at]!;
      const isOffGrid = offGridMs <= keyMs;
      if (!closesAfter(known, { interval, isOffGrid }, keyMs, ms))
        return { ...series, last_ms: keyMs, off_grid: isOffGrid, isPart: true };
    }
  }
}

/**
 * An instrument with its calendar and its series as they were known at a moment. What is complete is judged by all runs: bars are imported long after
 * they closed. So an instrument that has ended by `clockMs` had complete series at any moment (contract 3.9).
 */
export async function knownStored(
  reader: Reader,
  stored: StoredInstrument,
  ms: number,
  clockMs: number,
): Promise<StoredInstrument> {
  const calendar = stored.calendar.knownAt(ms);
  const series: Series[] = [];
  for (const one of stored.series) {
    const part = await knownPart(reader, { calendar: stored.calendar, known: calendar }, one, ms);
    if (part !== null) series.push(part);
  }
  const hasEnded = stored.endedMs !== null && stored.endedMs <= clockMs;
  return { ...stored, calendar, series, endedMs: hasEnded ? FIRST_MS : stored.endedMs };
}
