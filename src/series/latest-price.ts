// The latest price of an instrument: the close of its newest finished bar at any stored interval (contract
// 8.4).
import { DAY_MS, FIRST_MS } from '../base/instant.ts';
import type { TimedBars } from '../market/bars/grid.ts';
import { isPeriod } from '../market/calendar/period.ts';
import type { Reader } from '../store/store.ts';
import { mapped } from './cursor.ts';
import { seriesLimits } from './limits.ts';
import { coarseness, type Series, type StoredInstrument } from './series.ts';
import { finished, type StreamContext, storedStream } from './stream.ts';

/** Keys of DAY and above are label dates: a session that is over may be labelled by the day after. */
const LABEL_SLACK_MS = 2 * DAY_MS;

type Telling = Pick<StreamContext, 'onUse' | 'onSkipped'>;

type Newest = { readonly closeMs: number; readonly price: number; readonly series: Series };

/** The newest bar of a series that was finished at a moment; null where there is none. */
async function newestOf(
  reader: Reader,
  { calendar }: StoredInstrument,
  series: Series,
  nowMs: number,
  telling: Telling,
): Promise<Newest | null> {
  const { interval } = series;
  const context = { ...telling, reader, calendar, interval, extended: !isPeriod(interval), rawOnly: false };
  const range = { fromMs: FIRST_MS, toMs: nowMs + LABEL_SLACK_MS, descending: true };
  const closed = (bars: TimedBars): TimedBars | null => {
    const timed = finished(bars, nowMs);
    return timed.bars.count === 0 ? null : timed;
  };
  const step = await mapped(
    storedStream(context, series, range),
    closed,
    seriesLimits.skippedBarsPerStep,
  ).next(1);
  if (step === null) return null;
  const last = step.bars.count - 1;
  return { closeMs: step.closeMs[last]!, price: step.bars.close[last]!, series };
}

/**
 * The close of the bar with the newest close, extended hours included; of bars that close at once the finest.
 * Null without any. `telling.onUse` is called for its series.
 */
export async function latestPrice(
  reader: Reader,
  stored: StoredInstrument,
  nowMs: number,
  telling: Telling = { onUse: null },
): Promise<number | null> {
  let newest: Newest | null = null;
  for (const series of stored.series.toSorted((a, b) => coarseness(a) - coarseness(b))) {
    const one = await newestOf(reader, stored, series, nowMs, telling);
    if (one !== null && (newest === null || one.closeMs > newest.closeMs)) newest = one;
  }
  if (newest !== null) telling.onUse?.(newest.series);
  return newest?.price ?? null;
}
