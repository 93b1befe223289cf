// The series of an instrument as they were known at a moment: only bars that had closed (contract 9.8).

import { DAY_MS } from '../base/instant.ts';
import type { Bars } from '../market/bars/columns.ts';
import { closesAfter } from '../market/calendar/bar-end.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import type { Reader } from '../store/store.ts';
import { servedBars, servedBlocks } from './cursor.ts';
import { seriesLimits } from './limits.ts';
import { firstOffGrid } from './off-grid-bars.ts';
import type { Series } from './series.ts';
import { mapped } from './steps.ts';

/** Keys of DAY and above are label dates: a session that is over may be labelled by a later UTC date. */
const LABEL_SLACK_MS = 2 * DAY_MS;

const BLOCKS_PER_READ = 64;

/** The calendar of an instrument, and what was known of it at a moment. */
type Known = { readonly calendar: Calendar; readonly known: Calendar };

/**
 * What was known of a series at a moment, by the calendar that was known then; null where no bar had closed.
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

/** Counts the bars of a series up to its known part's last one. `onBars` is told how many are read. */
export async function countKnown(
  reader: Reader,
  whole: Series,
  part: Series,
  onBars: (count: number) => void,
): Promise<number> {
  const { first_ms: firstMs, last_ms: lastMs, bar_count: all } = whole;
  if (part.last_ms === lastMs) return all;
  const isLate = lastMs - part.last_ms < part.last_ms - firstMs;
  const [fromMs, toMs] = isLate ? [part.last_ms + 1, lastMs + 1] : [firstMs, part.last_ms + 1];
  const blocks = servedBlocks(reader, whole, { fromMs, toMs, descending: false });
  let count = 0;
  for (;;) {
    const bars = await blocks.next(BLOCKS_PER_READ);
    if (bars === null) return isLate ? all - count : count;
    count += bars.count;
    onBars(bars.count);
  }
}
