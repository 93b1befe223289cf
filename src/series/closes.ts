// The raw closes of an instrument's sessions, as stored in DAY bars or derived from finer ones (contract
// 8.2), and its latest price (contract 8.4).
import { DAY_MS, END_DAY, FIRST_DAY, FIRST_MS } from '../base/instant.ts';
import type { TimedBars } from '../market/bars/grid.ts';
import { keysInSession } from '../market/calendar/bar-end.ts';
import { isPeriod } from '../market/calendar/period.ts';
import type { Reader } from '../store/store.ts';
import { barStream } from './bar-stream.ts';
import { partsOf } from './best-series.ts';
import { mapped, type StreamRange } from './cursor.ts';
import { seriesLimits } from './limits.ts';
import { candidates, DAY } from './plan.ts';
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

type Close = { readonly day: number; readonly price: number };

/** Closes known at one moment; series of adjusted prices are left out. */
export class RawCloses {
  readonly #stored: StoredInstrument;
  readonly #context: StreamContext;
  readonly #nowMs: () => number;
  #newest: Close | null | undefined;

  constructor(reader: Reader, stored: StoredInstrument, nowMs: () => number) {
    this.#stored = { ...stored, series: stored.series.filter(({ prices }) => prices === 'raw') };
    const { calendar } = stored;
    this.#context = { reader, calendar, interval: DAY, extended: false, rawOnly: false, onUse: null };
    this.#nowMs = nowMs;
  }

  /**
   * The close before a day. Null before the first bar; where a later session has stored bars of which none is
   * served, because they are not all of it; and after the last bar if sessions in between have no stored
   * bars.
   */
  async before(day: number): Promise<Close | null> {
    if (this.#stored.series.length === 0) return null;
    const last = await this.#lastOf(FIRST_DAY, day);
    if (last === null) return null;
    const sessionDay = this.#stored.calendar.sessionOnOrBefore(day - 1)?.day ?? day;
    // The last bar may be that of a closed date, after the last session.
    if (last.day >= sessionDay) return last;
    if (await this.#isHidden(last.day + 1, day)) return null;
    this.#newest ??= await this.#lastOf(FIRST_DAY, END_DAY);
    return this.#newest !== null && this.#newest.day >= day ? last : null;
  }

  /** The last close from one day up to another. */
  async #lastOf(fromDay: number, day: number): Promise<Close | null> {
    const step = await barStream(this.#context, this.#stored, rangeOf(fromDay, day), this.#nowMs()).next(1);
    if (step === null) return null;
    const at = step.bars.count - 1;
    return { day: step.day[at]!, price: step.bars.close[at]! };
  }

  /** Whether a session from one day up to another has stored bars. The days have none that is served. */
  async #isHidden(fromDay: number, day: number): Promise<boolean> {
    for (const series of candidates(this.#stored, DAY)) {
      if ((await partsOf(this.#context, series, rangeOf(fromDay, day)).next(1)) !== null) return true;
      if (this.#hasUnfinished(series, fromDay, day)) return true;
    }
    return false;
  }

  /** Whether bars of the sessions from one day up to another are stored that are not finished. */
  #hasUnfinished({ interval, unfinished }: Series, fromDay: number, day: number): boolean {
    if (unfinished.length === 0) return false;
    const { calendar } = this.#context;
    return calendar.sessions(fromDay, day).some((session) => {
      const { fromMs, toMs } = keysInSession(calendar, interval, session);
      return unfinished.some(({ first_ms, last_ms }) => first_ms < toMs && last_ms >= fromMs);
    });
  }
}

const rangeOf = (fromDay: number, toDay: number): StreamRange => ({
  ...{ fromMs: fromDay * DAY_MS, toMs: toDay * DAY_MS, descending: true },
});
